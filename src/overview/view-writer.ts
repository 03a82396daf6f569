import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { redactText } from '../shared/redact.ts'
import type { HeldCall } from './held-call.ts'
import type { RunCard } from './run-card.ts'
import { sendCard } from './send-card.ts'
import { searchWords, tenantWord } from './search-words.ts'
import { cardOf, type Row } from './view-rows.ts'

const columns = [
  'run',
  'tenant',
  'project',
  'runbook',
  'runbook_name',
  'runbook_version',
  'name',
  'playbook',
  'digest',
  'mode',
  'status',
  'reason',
  'ended_at',
  'last_at',
  'started_at',
  'started_by',
  'model',
  'calls',
  'denied',
  'tokens',
  'cost',
  'waiting',
  'parent',
  'entries',
  'sent',
] as const

const approvalColumns = [
  'id',
  'run',
  'call',
  'tenant',
  'project',
  'playbook',
  'tool',
  'step',
  'state',
  'decided',
  'asked_at',
  'asked_by',
  'expires_at',
  'reason',
] as const

/** The last moment that has a place: its number is still a whole one. */
const lastMoment = 8_000_000_000_000
const perMoment = 1000

/** Writes cards and approvals into the views, inside a transaction of its caller. */
export class ViewWriter {
  readonly #find: StatementSync
  readonly #save: StatementSync
  readonly #dropWords: StatementSync
  readonly #saveWords: StatementSync
  readonly #findApproval: StatementSync
  readonly #saveApproval: StatementSync
  readonly #dropApprovals: StatementSync
  readonly #highest: Readonly<Record<'runs' | 'approvals', StatementSync>>

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('SELECT * FROM runs WHERE run = ?')
    this.#save = database.prepare(upsert('runs', columns, '(run)'))
    this.#dropWords = database.prepare('DELETE FROM run_words WHERE rowid = ?')
    this.#saveWords = database.prepare('INSERT INTO run_words (rowid, tenant, words) VALUES (?, ?, ?)')
    this.#findApproval = database.prepare('SELECT n FROM approvals WHERE run = ? AND call = ?')
    this.#saveApproval = database.prepare(upsert('approvals', approvalColumns, '(run, call)'))
    this.#dropApprovals = database.prepare('DELETE FROM approvals WHERE run = ?')
    const highest = (table: string) =>
      database.prepare(`SELECT MAX(n) AS n FROM ${table} WHERE n BETWEEN ? AND ?`)
    this.#highest = { runs: highest('runs'), approvals: highest('approvals') }
  }

  /** The card of a run as it was last written; null if it never was. */
  card(run: string): RunCard | null {
    const row = this.#find.get(run)
    return row === undefined ? null : cardOf(row)
  }

  /** Writes the card of a run, and where the calls stand that it held. */
  save(given: RunCard, held: readonly HeldCall[]): void {
    const card = this.#underParent(given)
    const before = this.#find.get(card.run)
    const n = before === undefined ? this.#place('runs', card.startedAt) : Number(before['n'])
    const name = card.runbook?.name ?? card.playbook ?? ''
    this.#save.run(
      n,
      card.run,
      card.tenant,
      card.project ?? '',
      card.runbook?.id ?? '',
      card.runbook?.name ?? null,
      card.runbook?.version ?? null,
      name,
      card.playbook,
      card.digest,
      card.mode,
      card.status,
      card.reason,
      card.endedAt,
      card.lastAt,
      card.startedAt,
      card.startedBy,
      card.model,
      card.calls,
      card.denied,
      Math.round(card.tokens),
      card.cost,
      card.waiting,
      card.parent ?? '',
      card.entries,
      JSON.stringify(sendCard(card)),
    )
    this.#index(n, before, card, name)
    // An erased run keeps nothing of what it held.
    if (card.status === 'unreadable') this.#dropApprovals.run(card.run)
    for (const call of held) this.#saveHeld(card, call)
  }

  /** A run below another one stands where that one does. */
  #underParent(card: RunCard): RunCard {
    if (card.parent === null || card.project !== null) return card
    const above = this.card(card.parent)
    return above === null ? card : { ...card, project: above.project }
  }

  #saveHeld(card: RunCard, call: HeldCall): void {
    const known = this.#findApproval.get(card.run, call.callId)
    const n = known === undefined ? this.#place('approvals', call.askedAt) : Number(known['n'])
    this.#saveApproval.run(
      n,
      call.id,
      card.run,
      call.callId,
      card.tenant,
      card.project ?? '',
      card.runbook?.name ?? card.playbook,
      call.tool,
      call.step,
      call.state,
      call.state === 'waiting' ? 0 : 1,
      call.askedAt,
      call.askedBy,
      call.expiresAt,
      redactText(call.decision.reason).slice(0, 500),
    )
  }

  /** Most of a run's changes leave its words alone, and those cost the most to write. */
  #index(n: number, before: Row | undefined, card: RunCard, name: string): void {
    const words = searchWords([name, card.playbook, card.startedBy, card.reason].join(' '))
    if (before !== undefined) {
      const old = [before['name'], before['playbook'], before['started_by'], before['reason']].join(' ')
      if (searchWords(old).join(' ') === words.join(' ')) return
      this.#dropWords.run(n)
    }
    this.#saveWords.run(n, tenantWord(card.tenant), words.join(' '))
  }

  /** The first number of a moment that is free; where a moment is full, one of the next. */
  #place(table: 'runs' | 'approvals', at: number): number {
    const moment = Number.isFinite(at) ? Math.min(Math.max(0, Math.floor(at)), lastMoment) : 0
    for (let from = moment * perMoment; ; from += perMoment) {
      const last = this.#highest[table].get(from, from + perMoment - 1)?.['n']
      if (last === null || last === undefined) return from
      if (Number(last) < from + perMoment - 1) return Number(last) + 1
    }
  }
}

function upsert(table: string, names: readonly string[], key: string): string {
  const places = ['n', ...names].map(() => '?').join(', ')
  const changes = names.map((name) => `${name} = excluded.${name}`).join(', ')
  return `INSERT INTO ${table} (n, ${names.join(', ')}) VALUES (${places}) ON CONFLICT ${key} DO UPDATE SET ${changes}`
}
