import type { Answer } from '../../server/ask.ts'

type Series = Answer<'GET /analytics'>['series']

/** Runs over time as small bars, failed ones at the foot. The table of figures is for whoever cannot see them. */
export function RunBars({ series, bucket }: { series: Series; bucket: 'hour' | 'day' }) {
  const most = Math.max(1, ...series.map(({ runs }) => runs))
  const step = series.length === 0 ? 0 : 100 / series.length
  const label = (at: string) =>
    new Date(at).toLocaleString(undefined, {
      month: 'short',
      day: 'numeric',
      ...(bucket === 'hour' ? { hour: '2-digit' } : {}),
    })
  return (
    <figure>
      <svg viewBox="0 0 100 24" preserveAspectRatio="none" className="h-24 w-full" aria-hidden="true">
        <line x1="0" x2="100" y1="24" y2="24" className="stroke-line" strokeWidth="0.4" />
        {series.map(({ at, runs, failed }, index) => (
          <g key={at}>
            <title>{`${label(at)}: ${runs} runs, ${failed} failed`}</title>
            <rect
              x={index * step + step * 0.12}
              width={step * 0.76}
              y={24 - (22 * runs) / most}
              height={(22 * runs) / most}
              className="fill-accent"
            />
            <rect
              x={index * step + step * 0.12}
              width={step * 0.76}
              y={24 - (22 * failed) / most}
              height={(22 * failed) / most}
              className="fill-bad"
            />
          </g>
        ))}
      </svg>
      <figcaption className="mt-1 flex justify-between text-xs text-muted">
        <span>{series[0] === undefined ? '' : label(series[0].at)}</span>
        <span>
          runs per {bucket}; <span className="text-bad">failed ones</span> at the foot
        </span>
        <span>{series.at(-1) === undefined ? '' : label(series.at(-1)!.at)}</span>
      </figcaption>
      <table className="sr-only">
        <caption>Runs per {bucket}</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Runs</th>
            <th scope="col">Failed</th>
          </tr>
        </thead>
        <tbody>
          {series
            .filter(({ runs }) => runs > 0)
            .map(({ at, runs, failed }) => (
              <tr key={at}>
                <th scope="row">{label(at)}</th>
                <td>{runs}</td>
                <td>{failed}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  )
}
