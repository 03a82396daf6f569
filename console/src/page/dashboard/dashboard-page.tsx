import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Card } from '../../component/card.tsx'
import { describeSpan } from '../../component/describe-age.ts'
import { Empty } from '../../component/empty.tsx'
import { formatCost, formatCount, formatShare } from '../../component/format-number.ts'
import { Time } from '../../component/time.tsx'
import { ask, type Answer } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { waitingQuery } from '../../shell/navigation.tsx'
import { Page } from '../../shell/page.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { RunBars } from './run-bars.tsx'

/** What needs somebody now, and how things went lately. */
export function DashboardPage() {
  const figures = useQuery({
    queryKey: ['analytics', '7d'],
    queryFn: ({ signal }) => ask('GET /analytics', { query: { range: '7d' }, signal }),
    refetchInterval: 15_000,
  })
  const latest = useQuery({
    queryKey: ['runs', 'latest'],
    queryFn: ({ signal }) => ask('GET /runs', { query: { limit: 8 }, signal }),
    refetchInterval: 5000,
  })
  return (
    <Page title="Dashboard">
      <div className="grid grid-cols-1 gap-4 xl:grid-cols-3">
        <NeedsMe />
        <Card title="Last seven days" className="xl:col-span-2">
          <Loaded query={figures} lines={5}>
            {(data) => <Figures data={data} />}
          </Loaded>
        </Card>
      </div>
      <h2 className="mt-6 mb-2 text-sm font-semibold">Latest runs</h2>
      <Loaded query={latest} lines={6}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="run" title="No runs yet">
              Choose a playbook and start it: a dry run changes nothing.
            </Empty>
          ) : (
            <RunTable runs={items} />
          )
        }
      </Loaded>
    </Page>
  )
}

function NeedsMe() {
  const waiting = useQuery(waitingQuery)
  const failed = useQuery({
    queryKey: ['runs', 'failed'],
    queryFn: ({ signal }) => ask('GET /runs', { query: { status: 'failed', limit: 5 }, signal }),
    refetchInterval: 15_000,
  })
  return (
    <Card title="Needs somebody now">
      <Loaded query={waiting} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-sm text-muted">Nothing waits for approval.</p>
          ) : (
            <ul className="flex flex-col gap-1">
              {items.slice(0, 5).map((each) => (
                <li key={each.id} className="flex items-baseline justify-between gap-3 text-sm">
                  <Link
                    to="/approvals/$id"
                    params={{ id: each.id }}
                    className="min-w-0 truncate font-medium hover:text-accent hover:underline"
                  >
                    {each.tool}
                    <span className="font-normal text-muted"> · {each.runbook}</span>
                  </Link>
                  <Time at={each.askedAt} className="text-xs text-muted" />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <h3 className="mt-4 mb-1 text-xs font-medium text-muted">Failed lately</h3>
      <Loaded query={failed} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-sm text-muted">No run failed.</p>
          ) : (
            <ul className="flex flex-col gap-1">
              {items.map((run) => (
                <li key={run.id} className="flex items-baseline justify-between gap-3 text-sm">
                  <Link
                    to="/runs/$id"
                    params={{ id: run.id }}
                    className="min-w-0 truncate font-medium hover:text-accent hover:underline"
                  >
                    {run.runbook.name}
                    <span className="font-normal text-muted"> · {run.reason ?? 'failed'}</span>
                  </Link>
                  <Time at={run.endedAt ?? run.lastAt} className="text-xs text-muted" />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

function Figures({ data }: { data: Answer<'GET /analytics'> }) {
  const { totals } = data
  const figures = [
    ['Runs', formatCount(totals.runs)],
    ['Succeeded', formatShare(totals.succeeded, totals.succeeded + totals.failed)],
    ['Median time', totals.p50Ms === null ? '–' : describeSpan(totals.p50Ms)],
    ['95 % within', totals.p95Ms === null ? '–' : describeSpan(totals.p95Ms)],
    ['Cost', formatCost(totals.cost)],
    ['Tokens', formatCount(totals.tokens)],
  ] as const
  return (
    <>
      <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="text-2xl font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      <RunBars series={data.series} bucket={data.bucket} />
    </>
  )
}
