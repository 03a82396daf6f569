import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'
import type { Answer } from '../../server/ask.ts'
import { measures, type Measure } from './measure.ts'

type Figures = Answer<'GET /analytics'>

/** A figure over time as bars; the same as a table for whoever cannot see them. */
export function Chart({ figures, measure }: { figures: Figures; measure: Measure }) {
  const { label, of, write } = measures[measure]
  const told = (at: string) =>
    new Date(at).toLocaleString(undefined, {
      month: 'short',
      day: 'numeric',
      ...(figures.bucket === 'hour' ? { hour: '2-digit' } : {}),
    })
  const points = figures.series.map((point) => ({ at: told(point.at), value: of(point) }))
  return (
    <figure>
      <div aria-hidden="true" className="h-64">
        <ResponsiveContainer width="100%" height="100%">
          <BarChart
            data={points}
            margin={{ top: 8, right: 8, bottom: 0, left: 8 }}
            accessibilityLayer={false}
          >
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis
              dataKey="at"
              tick={{ fill: 'var(--muted)', fontSize: 11 }}
              stroke="var(--line)"
              minTickGap={24}
            />
            <YAxis
              tick={{ fill: 'var(--muted)', fontSize: 11 }}
              stroke="var(--line)"
              tickFormatter={(value: number) => write(value)}
              width={64}
              allowDecimals={measure === 'cost'}
            />
            <Tooltip
              cursor={{ fill: 'var(--hover)' }}
              formatter={(value) => [write(Number(value)), label]}
              contentStyle={{
                background: 'var(--surface)',
                border: '1px solid var(--line)',
                borderRadius: 5,
                color: 'var(--ink)',
                fontSize: 12,
              }}
              labelStyle={{ color: 'var(--muted)' }}
              itemStyle={{ color: 'var(--ink)' }}
            />
            <Bar
              dataKey="value"
              fill={measure === 'failed' ? 'var(--bad)' : 'var(--accent)'}
              isAnimationActive={false}
            />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <table className="sr-only">
        <caption>
          {label} per {figures.bucket}
        </caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">{label}</th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ at, value }, index) => (
            <tr key={`${index} ${at}`}>
              <th scope="row">{at}</th>
              <td>{value === null ? '–' : write(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
