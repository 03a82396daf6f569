/**
 * What wakes runs up. The journal holds all there is of a run; an engine provides wake-up, timers, leases and an order among runs, nothing else.
 *
 * Invariants every engine keeps
 * E1  A run is at work in one place at a time.
 * E2  Two runs never act on the same target at the same time. They wait in the order in which they came; a call of unknown outcome keeps its target.
 * E3  While a tenant is halted no call of its runs is admitted, whichever way it came; what is in flight is waited for.
 * E4  Whoever asks an engine to end it leaves every run such that it can be taken up: nothing new is begun, what is in flight is waited for up to a limit.
 * E5  What a run waits for follows from its record, so that another engine goes on where this one was killed.
 */
import type { RunControl, RunOrder } from '../agent/run-control.ts'
import type { Halt, JournalEntry } from '../journal/journal.ts'
import type { ApprovalVote } from '../run/approval.ts'
import type { RunEnd } from '../run/event.ts'

/** What an engine gives to whoever sits down to a run. */
export interface Seat {
  /** Aborts with an Interruption when the run is to be put down. */
  readonly signal: AbortSignal
  readonly control: RunControl
}

/** Somebody who knows how to work on one run: with its playbook, its tools, its policies. */
export interface RunWork {
  /** Begins the run, and works until it has ended or waits for somebody; the reason why it did not succeed, or null. */
  start(seat: Seat): Promise<{ readonly reason: string | null }>
  /** Takes the run up, and works on as above. */
  resume(seat: Seat): Promise<{ readonly reason: string | null }>
  /** Writes an order into the record of a run that nobody is at work on; false if it changes nothing. */
  order(order: RunOrder): Promise<boolean>
  /** Writes what a person says to a held call into that record. */
  vote(callId: string, vote: Omit<ApprovalVote, 'at'>): Promise<VoteAnswer>
  /** Lets go of what was opened for the run. */
  close?(): Promise<void>
}

/** What became of what a person said. */
export type VoteAnswer = { readonly comesTo: string } | { readonly refused: string }

/** Finds out how to work on a run that was begun some time ago. Throws what keeps it from being worked on. */
export type RunLoader = (run: string) => Promise<RunWork>

/** How a run stands: it has ended, or nobody is at work on it until somebody acts. */
export interface RunRest {
  readonly run: string
  /** How it ended; null if it can go on. */
  readonly ended: RunEnd | null
  /** Why it did not succeed, or what it waits for. */
  readonly reason: string | null
}

/** What keeps a run from its next effect: a halt (`by` says whose, and why), or a target that another run holds. */
export type HeldUp =
  | { readonly kind: 'halt'; readonly by: string }
  | { readonly kind: 'target'; readonly target: string; readonly run: string }

/** How a run in hand stands. */
export interface RunStanding {
  readonly atWork: boolean
  /** Why nobody is at work on it; null where it needs no reason. */
  readonly reason: string | null
}

/** What people and programs may ask of an engine, in its own process or over its socket. */
export interface EngineOrders {
  /** Takes a run up that is in the store; resolves when it rests. */
  resume(run: string): Promise<RunRest>
  /** Cancels, pauses or goes on with a run, or says what became of a call of it; false if that changes nothing. */
  order(run: string, order: RunOrder): Promise<boolean>
  /** Says something to a held call. The run goes on by itself. */
  vote(run: string, callId: string, vote: Omit<ApprovalVote, 'at'>): Promise<VoteAnswer>
  halt(by: string, reason: string): Promise<boolean>
  unhalt(by: string, reason: string): Promise<boolean>
  halted(): Promise<Halt | null>
  /** The runs that the engine has in hand. */
  runs(): Promise<readonly string[]>
  /** The entries of a run from a number on, as they are written, until it has ended or the signal aborts. */
  tail(run: string, fromSeq: number, signal: AbortSignal): AsyncIterable<JournalEntry>
}

/** An engine in this process. */
export interface Engine extends EngineOrders {
  /** Begins a run; resolves when it rests. Throws `run_in_progress` if it is in hand already. */
  start(run: string, work: RunWork): Promise<RunRest>
  /** What keeps a run from its next effect, other than runs of this engine. */
  heldUp(run: string): Promise<HeldUp | null>
  /** Whether somebody is at work on a run in hand, and if not, why; null for a run that is not in hand. */
  standing(run: string): RunStanding | null
  /** Takes up every run that has not ended and that no other process is at work on; says how many. */
  recover(): Promise<number>
  /** Puts everything down (E4). */
  close(options?: { readonly graceMs?: number }): Promise<void>
}
