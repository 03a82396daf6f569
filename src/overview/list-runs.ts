import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CardStatus, RunCard } from './run-card.ts'
import { matchWords } from './search-words.ts'
import { approvalOf, cardOf, type ApprovalCard, type Row } from './view-rows.ts'

/** Whose things are asked for: those of a tenant, or only those in some of its projects. */
export interface ViewScope {
  readonly tenant: string
  /** Null for all of them, and for what is in none. */
  readonly projects: readonly string[] | null
}

/** A part of a list; `next` is where it goes on, null at its end. */
export interface ViewPage<Item> {
  readonly items: readonly Item[]
  readonly next: number | null
}

/** Where a list goes on, and how many are wanted. */
export interface PageOptions {
  readonly after?: number | null | undefined
  readonly limit: number
}

/** Which runs are asked for. Times are epoch milliseconds; `to` is the first moment that is too late. */
export interface RunFilter extends PageOptions {
  readonly status?: CardStatus | undefined
  readonly mode?: RunCard['mode'] | undefined
  /** The id of a published playbook, or the name of any. */
  readonly runbook?: string | undefined
  readonly startedBy?: string | undefined
  readonly search?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** The runs below this one; without it, those that are below none. */
  readonly parent?: string | undefined
}

/** Which approvals are asked for. */
export interface ApprovalFilter extends PageOptions {
  readonly state: 'waiting' | 'decided' | 'all'
  readonly run?: string | undefined
}

type Condition = readonly [sql: string, value: SQLInputValue]

/** The runs that a filter lets through, the newest first. What it costs depends on the page, not on how many runs there are. */
export function listRuns(database: DatabaseSync, scope: ViewScope, filter: RunFilter): ViewPage<RunCard> {
  return runsPage(database, scope, filter, 'runs.*', cardOf)
}

/** The same, each as it is sent, in JSON. */
export function listSentRuns(database: DatabaseSync, scope: ViewScope, filter: RunFilter): ViewPage<string> {
  return runsPage(database, scope, filter, 'runs.n AS n, sent', ({ sent }) => String(sent))
}

function runsPage<Item>(
  database: DatabaseSync,
  scope: ViewScope,
  filter: RunFilter,
  fields: string,
  read: (row: Row) => Item,
): ViewPage<Item> {
  const { status, mode, runbook, startedBy, search, from, to, parent = '' } = filter
  const sought = search?.trim() ?? ''
  const byName = /^(?:r|dry)_[\w-]{4,}$/i.test(sought)
  // What begins like the name of a run is few: then the names lead there, and no other index.
  const conditions: Condition[] = [
    [`${byName ? '+' : ''}runs.tenant = ?`, scope.tenant],
    [`${byName ? '+' : ''}parent = ?`, parent],
  ]
  if (status !== undefined) conditions.push(['status = ?', status])
  if (mode !== undefined) conditions.push(['mode = ?', mode])
  if (runbook !== undefined)
    conditions.push([`${runbook.startsWith('rb_') ? 'runbook' : 'name'} = ?`, runbook])
  if (startedBy !== undefined) conditions.push(['started_by = ?', startedBy])
  // The number of a run begins with its time.
  if (from !== undefined) conditions.push(['runs.n >= ?', Math.ceil(from) * 1000])
  if (to !== undefined) conditions.push(['runs.n < ?', Math.ceil(to) * 1000])
  let tables = 'runs'
  if (byName) conditions.push(['run >= ?', sought], ['run < ?', `${sought}\u{10ffff}`])
  else {
    const match = matchWords(scope.tenant, sought)
    // Signs alone are in no word.
    if (match === null && sought !== '') return { items: [], next: null }
    if (match !== null) {
      tables = 'run_words CROSS JOIN runs ON runs.n = run_words.rowid'
      conditions.push(['run_words MATCH ?', match])
      if (filter.after != null) conditions.push(['run_words.rowid < ?', filter.after])
    }
  }
  const order = tables === 'runs' ? 'runs.n' : 'run_words.rowid'
  return pageOf(database, { fields, tables, order, column: 'runs.n' }, scope, conditions, filter, read)
}

/** The approvals that a filter lets through, the newest first. */
export function listApprovals(
  database: DatabaseSync,
  scope: ViewScope,
  filter: ApprovalFilter,
): ViewPage<ApprovalCard> {
  const conditions: Condition[] = [['tenant = ?', scope.tenant]]
  if (filter.state !== 'all') conditions.push(['decided = ?', filter.state === 'decided' ? 1 : 0])
  if (filter.run !== undefined) conditions.push(['run = ?', filter.run])
  const from = { fields: '*', tables: 'approvals', order: 'n', column: 'n' }
  return pageOf(database, from, scope, conditions, filter, approvalOf)
}

/** A page of each project, merged: an index has the rows of one project in their order, not those of several. */
function pageOf<Item>(
  database: DatabaseSync,
  { fields, tables, order, column }: Readonly<Record<'fields' | 'tables' | 'order' | 'column', string>>,
  { projects }: ViewScope,
  conditions: readonly Condition[],
  { after, limit }: PageOptions,
  read: (row: Row) => Item,
): ViewPage<Item> {
  const rows: Row[] = []
  for (const project of projects ?? [null]) {
    const all: Condition[] = [...conditions]
    if (project !== null) all.push(['project = ?', project])
    if (after != null) all.push([`${column} < ?`, after])
    const where = all.map(([sql]) => sql).join(' AND ')
    const query = `SELECT ${fields} FROM ${tables} WHERE ${where} ORDER BY ${order} DESC LIMIT ?`
    rows.push(...prepared(database, query).all(...all.map(([, value]) => value), limit + 1))
  }
  if ((projects?.length ?? 1) > 1) rows.sort((one, other) => Number(other['n']) - Number(one['n']))
  const shown = rows.slice(0, limit)
  return {
    items: shown.map(read),
    next: rows.length > limit ? Number(shown.at(-1)!['n']) : null,
  }
}

const statements = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

/** Preparing a question takes about as long as answering it, and there are as many as combinations of filters. */
function prepared(database: DatabaseSync, query: string): StatementSync {
  const known = statements.get(database) ?? new Map<string, StatementSync>()
  statements.set(database, known)
  const statement = known.get(query) ?? database.prepare(query)
  known.set(query, statement)
  return statement
}
