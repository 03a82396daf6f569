import type { SQLOutputValue } from 'node:sqlite'
import type { HeldState } from './held-call.ts'
import type { CardStatus, RunCard } from './run-card.ts'

/** A row as the database gives it. */
export type Row = Record<string, SQLOutputValue>

/** An approval as lists show it. Times are epoch milliseconds. */
export interface ApprovalCard {
  readonly id: string
  readonly run: string
  readonly call: string
  readonly tenant: string
  readonly project: string | null
  readonly playbook: string | null
  readonly tool: string
  readonly step: string | null
  readonly state: HeldState
  readonly askedAt: number
  readonly askedBy: string
  readonly expiresAt: number
  /** Why the rule asks for it, without secrets. */
  readonly reason: string
}

/** The card of a row. */
export function cardOf(row: Row): RunCard {
  const runbook = optional(row['runbook'])
  return {
    run: String(row['run']),
    tenant: String(row['tenant']),
    project: optional(row['project']),
    runbook:
      runbook === null
        ? null
        : { id: runbook, name: String(row['runbook_name']), version: Number(row['runbook_version']) },
    playbook: optional(row['playbook']),
    digest: optional(row['digest']),
    mode: row['mode'] === 'dry-run' ? 'dry-run' : 'execute',
    status: String(row['status']) as CardStatus,
    reason: optional(row['reason']),
    startedAt: Number(row['started_at']),
    endedAt: row['ended_at'] === null ? null : Number(row['ended_at']),
    lastAt: Number(row['last_at']),
    startedBy: String(row['started_by']),
    model: optional(row['model']),
    calls: Number(row['calls']),
    denied: Number(row['denied']),
    tokens: Number(row['tokens']),
    cost: row['cost'] === null ? null : Number(row['cost']),
    waiting: Number(row['waiting']),
    parent: optional(row['parent']),
    entries: Number(row['entries']),
  }
}

/** The approval of a row. */
export function approvalOf(row: Row): ApprovalCard {
  return {
    id: String(row['id']),
    run: String(row['run']),
    call: String(row['call']),
    tenant: String(row['tenant']),
    project: optional(row['project']),
    playbook: optional(row['playbook']),
    tool: String(row['tool']),
    step: optional(row['step']),
    state: String(row['state']) as HeldState,
    askedAt: Number(row['asked_at']),
    askedBy: String(row['asked_by']),
    expiresAt: Number(row['expires_at']),
    reason: String(row['reason']),
  }
}

/** In the tables that are filtered, nothing is an empty text, so that it has a place in an index. */
function optional(value: SQLOutputValue | undefined): string | null {
  return value === null || value === undefined || value === '' ? null : String(value)
}
