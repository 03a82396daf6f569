import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Card } from '../../component/card.tsx'
import { describeSpan } from '../../component/describe-age.ts'
import { DownloadLink } from '../../component/download-link.tsx'
import { Empty } from '../../component/empty.tsx'
import { Select } from '../../component/field.tsx'
import { formatCost, formatCount, formatShare } from '../../component/format-number.ts'
import { Skeleton } from '../../component/skeleton.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { ask, type Answer } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { Page } from '../../shell/page.tsx'
import { measures, type Measure } from './measure.ts'

const Chart = lazy(async () => ({ default: (await import('./chart.tsx')).Chart }))

const route = getRouteApi('/shell/analytics')
const ranges = ['24h', '7d', '30d', '90d'] as const
type Range = (typeof ranges)[number]
type Figures = Answer<'GET /analytics'>

const rangeNames: Record<Range, string> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
}

/** How runs went over a time. */
export function AnalyticsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const range = ranges.find((each) => each === search.range) ?? '7d'
  const query = useQuery({
    queryKey: ['analytics', range],
    queryFn: ({ signal }) => ask('GET /analytics', { query: { range }, signal }),
    refetchInterval: 30_000,
  })
  return (
    <Page
      title="Analytics"
      actions={
        <>
          <Select
            label="Time"
            hideLabel
            value={range}
            onChange={(next) => void navigate({ search: { range: next }, replace: true })}
            options={ranges.map((value) => ({ value, label: rangeNames[value] }))}
          />
          <DownloadLink path={`/analytics.csv?range=${range}`}>CSV</DownloadLink>
        </>
      }
    >
      <Loaded query={query} lines={10}>
        {(figures) =>
          figures.totals.runs === 0 ? (
            <Empty icon="analytics" title="No runs in this time">
              Choose a longer time, or start a playbook.
            </Empty>
          ) : (
            <Shown figures={figures} />
          )
        }
      </Loaded>
    </Page>
  )
}

function Shown({ figures }: { figures: Figures }) {
  const { totals } = figures
  const [measure, setMeasure] = useState<Measure>('runs')
  const tiles = [
    ['Runs', formatCount(totals.runs)],
    ['Succeeded', formatShare(totals.succeeded, totals.succeeded + totals.failed)],
    ['Failed', formatCount(totals.failed)],
    ['Duration, median', totals.p50Ms === null ? '–' : describeSpan(totals.p50Ms)],
    ['Duration, 95 %', totals.p95Ms === null ? '–' : describeSpan(totals.p95Ms)],
    ['Cost', formatCost(totals.cost)],
    ['Tokens', formatCount(totals.tokens)],
  ] as const
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4 xl:grid-cols-7">
        {tiles.map(([name, value]) => (
          <div key={name} className="rounded-lg border border-line bg-surface px-3 py-2">
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="text-xl font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      <Card
        title={`${measures[measure].label} per ${figures.bucket}`}
        actions={
          <Select
            label="Figure"
            hideLabel
            value={measure}
            onChange={setMeasure}
            options={Object.entries(measures).map(([value, { label }]) => ({
              value: value as Measure,
              label,
            }))}
          />
        }
      >
        <Suspense fallback={<Skeleton lines={6} />}>
          <Chart figures={figures} measure={measure} />
        </Suspense>
      </Card>
      <h2 className="text-sm font-semibold">Playbooks</h2>
      <Table label="Playbooks" rows={figures.runbooks} columns={columns} keyOf={({ name }) => name} />
    </div>
  )
}

type Row = Figures['runbooks'][number]

const columns: readonly Column<Row>[] = [
  { id: 'name', label: 'Playbook', sortBy: ({ name }) => name, cell: ({ name }) => name },
  {
    id: 'runs',
    label: 'Runs',
    align: 'end',
    sortBy: ({ runs }) => runs,
    cell: ({ runs }) => formatCount(runs),
  },
  {
    id: 'success',
    label: 'Succeeded',
    align: 'end',
    sortBy: ({ succeeded, failed }) => succeeded / Math.max(1, succeeded + failed),
    cell: ({ succeeded, failed }) => formatShare(succeeded, succeeded + failed),
  },
  {
    id: 'failed',
    label: 'Failed',
    align: 'end',
    sortBy: ({ failed }) => failed,
    cell: ({ failed }) => formatCount(failed),
  },
  {
    id: 'p50',
    label: 'Median',
    align: 'end',
    wide: true,
    sortBy: ({ p50Ms }) => p50Ms ?? 0,
    cell: ({ p50Ms }) => (p50Ms === null ? '–' : describeSpan(p50Ms)),
  },
  {
    id: 'p95',
    label: '95 %',
    align: 'end',
    wide: true,
    sortBy: ({ p95Ms }) => p95Ms ?? 0,
    cell: ({ p95Ms }) => (p95Ms === null ? '–' : describeSpan(p95Ms)),
  },
  {
    id: 'cost',
    label: 'Cost',
    align: 'end',
    wide: true,
    sortBy: ({ cost }) => cost ?? 0,
    cell: ({ cost }) => formatCost(cost),
  },
]
