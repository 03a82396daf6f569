import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  callsAround,
  keptCallDays,
  keptSpendingDays,
  ledgerChanges,
  type CallWindow,
  type LedgerCall,
  type LedgerCounts,
  type LedgerQuestion,
} from '../call-ledger.ts'
import type { Authorship, JournalFact } from '../journal.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A commit is not to take long for what nobody waits for. */
const mostForgotten = 500

/** What the runs of a store did and spent, counted by index, inside a transaction of the caller. */
export class SqliteLedger {
  readonly #database: DatabaseSync
  readonly #veil: (text: string) => string
  readonly #windows = new Map<string, StatementSync>()
  readonly #take: StatementSync
  readonly #made: StatementSync
  readonly #isMade: StatementSync
  readonly #unmade: StatementSync
  readonly #giveBack: StatementSync
  readonly #ended: StatementSync
  readonly #spend: StatementSync
  readonly #forgetCalls: StatementSync
  readonly #forgetSpendings: StatementSync
  /** By tenant, when to look again for what can be forgotten. */
  readonly #pruneAt = new Map<string, number>()
  readonly #dayCalls: StatementSync
  readonly #daySpent: StatementSync

  /** `veil` makes of what a call acts on something that can be compared and not read. */
  constructor(database: DatabaseSync, veil: (text: string) => string) {
    this.#database = database
    this.#veil = veil
    const insert =
      'INSERT INTO made_calls (run, call, tenant, principal, tool, target, at, written) VALUES (?, ?, ?, ?, ?, ?, ?, '
    this.#take = database.prepare(
      `${insert}0) ON CONFLICT (run, call) DO UPDATE SET at = excluded.at, tool = excluded.tool, target = excluded.target, principal = excluded.principal WHERE written = 0`,
    )
    this.#made = database.prepare(`${insert}1) ON CONFLICT (run, call) DO UPDATE SET written = 1`)
    this.#isMade = database.prepare('SELECT 1 FROM made_calls WHERE run = ? AND call = ?')
    this.#unmade = database.prepare('DELETE FROM made_calls WHERE run = ? AND call = ?')
    this.#giveBack = database.prepare('DELETE FROM made_calls WHERE run = ? AND call = ? AND written = 0')
    this.#ended = database.prepare('DELETE FROM made_calls WHERE run = ? AND written = 0')
    this.#spend = database.prepare('INSERT INTO spendings (tenant, at, tokens, cost) VALUES (?, ?, ?, ?)')
    this.#forgetCalls = database.prepare(
      'DELETE FROM made_calls WHERE (run, call) IN (SELECT run, call FROM made_calls WHERE tenant = ? AND at < ? LIMIT ?)',
    )
    this.#forgetSpendings = database.prepare(
      'DELETE FROM spendings WHERE rowid IN (SELECT rowid FROM spendings WHERE tenant = ? AND at < ? LIMIT ?)',
    )
    this.#dayCalls = database.prepare(
      'SELECT COUNT(*) AS calls FROM made_calls WHERE tenant = ? AND at >= ? AND NOT (run = ? AND call = ?)',
    )
    this.#daySpent = database.prepare(
      'SELECT TOTAL(tokens) AS tokens, TOTAL(cost) AS cost, COUNT(*) - COUNT(cost) AS unpriced FROM spendings WHERE tenant = ? AND at >= ?',
    )
  }

  /** What counts, without the call itself. */
  count({ tenant, principal, call, windows, dayBegan }: LedgerQuestion): LedgerCounts {
    const { run, callId } = call
    const counted = windows.map((window) => [window.key, this.#window(window, tenant, principal, call)])
    const calls = this.#dayCalls.get(tenant, dayBegan, run, callId)!
    const spent = this.#daySpent.get(tenant, dayBegan)!
    return {
      windows: Object.fromEntries(counted),
      day: {
        calls: Number(calls['calls']),
        tokens: Number(spent['tokens']),
        cost: Number(spent['unpriced']) === 0 ? Number(spent['cost']) : null,
      },
    }
  }

  /** Takes a place, and says what counted before. */
  take(question: LedgerQuestion): LedgerCounts {
    const { tenant, principal, call } = question
    const counts = this.count(question)
    const { run, callId, tool, target, at } = call
    this.#take.run(run, callId, tenant, principal, tool, this.#veiled(target), at)
    return counts
  }

  giveBack({ run, callId }: Pick<LedgerCall, 'run' | 'callId'>): void {
    this.#giveBack.run(run, callId)
  }

  /** Counts what facts say that were appended. */
  note(run: string, facts: readonly JournalFact[], { tenant, principal }: Authorship): void {
    for (const change of ledgerChanges(facts)) {
      switch (change.kind) {
        case 'made': {
          const { callId, tool, target, at } = change
          if (callsAround(callId).some((around) => this.#isMade.get(run, around) !== undefined)) continue
          const by = change.principal ?? principal
          this.#made.run(run, callId, tenant, by, tool, this.#veiled(target), at)
          break
        }
        case 'unmade':
          this.#unmade.run(run, change.callId)
          break
        case 'spent':
          this.#spend.run(tenant, change.at, change.tokens, change.cost)
          break
        case 'ended':
          this.#ended.run(run)
          this.#prune(tenant, change.at)
      }
    }
  }

  /** Forgets what no window can see any more, a part at a time, in a commit that happens anyway. */
  #prune(tenant: string, now: number): void {
    if (now < (this.#pruneAt.get(tenant) ?? -Infinity)) return
    const calls = this.#forgetCalls.run(tenant, now - keptCallDays * dayMs, mostForgotten)
    const spendings = this.#forgetSpendings.run(tenant, now - keptSpendingDays * dayMs, mostForgotten)
    const isDone = Math.max(Number(calls.changes), Number(spendings.changes)) < mostForgotten
    this.#pruneAt.set(tenant, isDone ? now + hourMs : now)
  }

  #window({ scope, tools, since }: CallWindow, tenant: string, principal: string, call: LedgerCall) {
    const own = scope === 'principal'
    const target = this.#veiled(call.target)
    const given: SQLInputValue[] = [target, tenant, since, call.run, call.callId]
    if (own) given.push(principal)
    const row = this.#statement(own, tools?.length ?? null).get(...given, ...(tools ?? []).map(globOf))!
    return { calls: Number(row['calls']), targets: Number(row['targets']), seen: row['seen'] === 1 }
  }

  #statement(own: boolean, tools: number | null): StatementSync {
    const name = `${own}${tools}`
    const known = this.#windows.get(name)
    if (known !== undefined) return known
    const fits = ['0', ...Array.from({ length: tools ?? 0 }, () => 'tool GLOB ?')].join(' OR ')
    // Calls that do not say what they act on count as one target, as they do inside a run.
    const statement = this.#database.prepare(
      `SELECT COUNT(*) AS calls, COUNT(DISTINCT IFNULL(target, '')) AS targets, MAX(target IS ?) AS seen
       FROM made_calls WHERE tenant = ? AND at >= ? AND NOT (run = ? AND call = ?)${own ? ' AND principal = ?' : ''}${tools === null ? '' : ` AND (${fits})`}`,
    )
    this.#windows.set(name, statement)
    return statement
  }

  #veiled(target: string | null): string | null {
    return target === null ? null : this.#veil(target)
  }
}

/** A pattern of tool names as SQLite reads it: only `*` means something. */
function globOf(pattern: string): string {
  return pattern.replaceAll(/[[?]/g, '[$&]')
}
