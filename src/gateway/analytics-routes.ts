import type { analyticsRoutes } from '../api/record-routes.ts'
import type { Analytics, AnalyticsQuery, RunFigures } from '../overview/analytics.ts'
import { sendTime } from '../overview/send-entry.ts'
import { writeCsv } from '../report/csv.ts'
import { Answer, type HandlersOf } from './handler.ts'
import { RequestError } from './problem.ts'
import type { RunSetup } from './run-setup.ts'
import { readTime, scopeOf } from './run-views.ts'
import { SparedWork } from './spared-work.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const ranges = { '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs, '90d': 90 * dayMs } as const
/** How many buckets a series has at most. */
const mostBuckets = 800
const top = 10

interface Range {
  readonly range: keyof typeof ranges
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly mode?: 'dry-run' | 'execute' | undefined
}

/** Answers with figures over runs. */
export function analyticsHandlers({
  platform,
}: Pick<RunSetup, 'platform'>): HandlersOf<keyof typeof analyticsRoutes> {
  const spared = new SparedWork<{ readonly query: AnalyticsQuery; readonly found: Analytics }>()
  const analyse = async (asked: Parameters<typeof scopeOf>[0] & { readonly query: Range }) => {
    const query = readRange(asked.query, platform.now())
    const scope = scopeOf(asked, 'analytics:read')
    return await spared.of(JSON.stringify([scope, asked.query]), async () => ({
      query,
      found: await platform.overview.analytics(scope, query),
    }))
  }
  return {
    getAnalytics: async (asked) => {
      const { query, found } = await analyse(asked)
      return {
        from: sendTime(query.from),
        to: sendTime(query.to),
        bucket: query.bucket,
        totals: found.totals,
        series: found.series.map(({ at, ...figures }) => ({ at: sendTime(at), ...figures })),
        runbooks: found.runbooks.map((each) => ({ ...each, name: each.name === '' ? 'unknown' : each.name })),
      }
    },
    exportAnalytics: async (asked) =>
      new Answer(writeTable((await analyse(asked)).found), {
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': 'attachment; filename="analytics.csv"',
        },
      }),
  }
}

/** Hours up to three days, else days. */
function readRange({ range, from, to, mode }: Range, now: number): AnalyticsQuery {
  const end = readTime(to) ?? now + 1
  const start = readTime(from) ?? end - ranges[range]
  if (start >= end) throw new RequestError('invalid_request', 'query.from: must be before the end.')
  const bucket = end - start <= 3 * dayMs ? 'hour' : 'day'
  if ((end - start) / (bucket === 'hour' ? hourMs : dayMs) > mostBuckets)
    throw new RequestError('invalid_request', `query.from: a range has at most ${mostBuckets} days.`)
  return { from: start, to: end, bucket, top, mode }
}

const names = [
  'runs',
  'succeeded',
  'failed',
  'cancelled',
  'open',
  'cost',
  'unpriced',
  'tokens',
  'p50Ms',
  'p95Ms',
] as const

function writeTable({ totals, series, runbooks }: Analytics): string {
  const row = (kind: string, of: string, figures: RunFigures) => [
    kind,
    of,
    ...names.map((name) => figures[name]),
  ]
  return writeCsv(
    ['kind', 'of', ...names],
    [
      row('total', '', totals),
      ...series.map(({ at, ...figures }) => row('time', sendTime(at), figures)),
      ...runbooks.map(({ name, ...figures }) => row('runbook', name, figures)),
    ],
  )
}
