import type { Json, JsonObject } from '../shared/json.ts'
import type { Approval } from './approval.ts'
import type { DenialCode } from './denial-code.ts'

/** How a call that was let through can end, as far as anyone can say. */
export const outcomes = ['succeeded', 'failed', 'unknown', 'not_executed'] as const

export type Outcome = (typeof outcomes)[number]

/** Where an admitted call stands. `unknown` is still open: it may have had an effect. */
export type TicketState = 'held' | 'admitted' | 'executing' | Outcome

/** The permission for exactly one call, and the record of how it ended. */
export interface Ticket {
  /** Unique within the run. */
  readonly callId: string
  readonly tool: string
  readonly args: JsonObject | null
  /** What it acts on, as its tool says; null where it does not. */
  readonly target: string | null
  /** The position of the step it belongs to; null for an extra that belongs to none. */
  readonly step: number | null
  readonly visit: number
  /** It is a tool that no step names. */
  readonly extra: boolean
  /** What the playbook would have denied it for, where it only observes. */
  readonly observed: DenialCode | null
  /** When it was let through; of a call that is held, when it was asked for. */
  admittedAt: number
  /** The approval it waits for, or was made by; null where none was asked for. */
  readonly approval: Approval | null
  state: TicketState
  settledAt: number | null
  /** Its place among the settlements of the run; null while none is recorded. */
  settlement: number | null
  result: Json | undefined
  error: string | null
  /** The succeeded call that this one undoes. */
  readonly undoes?: string
  /** It is known to read only. */
  readonly reads?: true
  /** What undoes it, worked out when it succeeded (G17). */
  undo?: Undo
  /** It was only shown, in a dry run: nothing came of it. */
  shown?: true
  /** Of a check after a call: whether what was expected held. */
  confirms?: boolean
}

/** The call that undoes another, or why it cannot be worked out. */
export type Undo = { readonly tool: string; readonly args: JsonObject } | { readonly error: string }

/** Says whether the call may still have, or may have had, an effect that nobody has accounted for. */
export function isOpen(ticket: Ticket): boolean {
  return ticket.state !== 'succeeded' && ticket.state !== 'failed' && ticket.state !== 'not_executed'
}
