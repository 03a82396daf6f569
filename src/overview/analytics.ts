import type { DatabaseSync } from 'node:sqlite'
import type { ViewScope } from './list-runs.ts'
import type { Row } from './view-rows.ts'

/** Figures over some runs. Dollars are those of the runs whose cost is known; of how many it is not, `unpriced` says. */
export interface RunFigures {
  readonly runs: number
  readonly succeeded: number
  /** Those that failed or ended incomplete. */
  readonly failed: number
  readonly cancelled: number
  /** Those that have not ended. */
  readonly open: number
  readonly cost: number
  readonly unpriced: number
  readonly tokens: number
  /** How long the runs took that have ended, in milliseconds; null where none has. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** What is asked for. `from` is the first moment, `to` the first that is too late. */
export interface AnalyticsQuery {
  readonly from: number
  readonly to: number
  readonly bucket: 'hour' | 'day'
  readonly mode?: 'execute' | 'dry-run' | undefined
  /** How many playbooks are told of, those with the most runs. */
  readonly top: number
}

/** Figures over the runs that began in a time: all of them, in each hour or day of UTC, and by playbook. */
export interface Analytics {
  readonly totals: RunFigures
  /** Every bucket of the time, also those without a run. */
  readonly series: readonly (RunFigures & { readonly at: number })[]
  readonly runbooks: readonly (RunFigures & { readonly name: string; readonly runbook: string | null })[]
}

const lengths = { hour: 3_600_000, day: 86_400_000 } as const
const nothing: RunFigures = {
  runs: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  open: 0,
  cost: 0,
  unpriced: 0,
  tokens: 0,
  p50Ms: null,
  p95Ms: null,
}

/** Works the figures out from the cards. */
export function analyse(database: DatabaseSync, scope: ViewScope, query: AnalyticsQuery): Analytics {
  const length = lengths[query.bucket]
  const group = (key: string, more = '') => figuresBy(database, scope, query, key, more)
  const [total] = group('0')
  const byBucket = new Map(
    group(`CAST(started_at / ${length} AS INTEGER) * ${length}`).map((row) => [Number(row['key']), row]),
  )
  const series = []
  for (let at = Math.floor(query.from / length) * length; at < query.to; at += length)
    series.push({ at, ...figuresOf(byBucket.get(at)) })
  const named = group(`runbook || char(10) || name`, `ORDER BY runs DESC, key LIMIT ${query.top}`)
  const runbooks = named.map((row) => {
    const [runbook, ...name] = String(row['key']).split('\n')
    return { name: name.join('\n'), runbook: runbook === '' ? null : runbook!, ...figuresOf(row) }
  })
  return { totals: figuresOf(total), series, runbooks }
}

/** One row for each value of an expression. A percentile is the smallest time that so many of the runs did not exceed. */
function figuresBy(
  database: DatabaseSync,
  { tenant, projects }: ViewScope,
  { from, to, mode }: AnalyticsQuery,
  key: string,
  more: string,
): Row[] {
  const inProjects = projects === null ? '' : `AND project IN (${projects.map(() => '?').join(', ')})`
  const inMode = mode === undefined ? '' : 'AND mode = ?'
  const query = `
    WITH chosen AS (
      SELECT ${key} AS key, status, cost, tokens, ended_at - started_at AS took
      FROM runs WHERE n >= ? AND n < ? AND tenant = ? AND parent = '' ${inProjects} ${inMode}
    ), placed AS (
      SELECT *, COUNT(took) OVER (PARTITION BY key) AS timed,
        CASE WHEN took IS NULL THEN NULL ELSE ROW_NUMBER() OVER (PARTITION BY key, took IS NULL ORDER BY took) END AS place
      FROM chosen
    )
    SELECT key, COUNT(*) AS runs,
      SUM(status = 'succeeded') AS succeeded, SUM(status IN ('failed', 'incomplete')) AS failed,
      SUM(status = 'cancelled') AS cancelled, SUM(status IN ('running', 'waiting', 'paused')) AS open,
      TOTAL(cost) AS cost, SUM(cost IS NULL) AS unpriced, SUM(tokens) AS tokens,
      ${percentile(0.5)} AS p50, ${percentile(0.95)} AS p95
    FROM placed GROUP BY key ${more}`
  const values = [Math.ceil(from) * 1000, Math.ceil(to) * 1000, tenant, ...(projects ?? [])]
  return database.prepare(query).all(...values, ...(mode === undefined ? [] : [mode]))
}

function percentile(part: number): string {
  return `MAX(CASE WHEN place = CAST(ceil(timed * ${part}) AS INTEGER) THEN took END)`
}

function figuresOf(row: Row | undefined): RunFigures {
  if (row === undefined || Number(row['runs']) === 0) return nothing
  const count = (name: string) => Number(row[name] ?? 0)
  const time = (name: string) => (row[name] === null ? null : Number(row[name]))
  return {
    runs: count('runs'),
    succeeded: count('succeeded'),
    failed: count('failed'),
    cancelled: count('cancelled'),
    open: count('open'),
    cost: count('cost'),
    unpriced: count('unpriced'),
    tokens: count('tokens'),
    p50Ms: time('p50'),
    p95Ms: time('p95'),
  }
}
