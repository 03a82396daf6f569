import type { PolicySetup } from './policy-guard.ts'
import type { RunEnd, RunEvent } from '../run/event.ts'
import type { Outcome } from '../run/ticket.ts'
import type { SecretResolver } from './secret-resolver.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { Tool } from './tool.ts'

/** How a playbook is enforced. */
export interface EnforcerOptions {
  /** False lets every call the playbook forbids through, and marks it: observing, not enforcing (G13). Default true. */
  readonly blockViolations?: boolean
  /** False keeps no list of violations. Default true. */
  readonly recordViolations?: boolean
  /** The run's name, unique everywhere; made up if it is not given. Idempotency keys are made of it. */
  readonly run?: string
  /** The values of the playbook's inputs. */
  readonly inputs?: Readonly<Record<string, unknown>>
  /** The tools there are; a call of any other is refused. Without it, every name counts as a tool. */
  readonly tools?: ToolRegistry | Iterable<Tool>
  /** The policies the run stands under, and who is behind it; without it no policy is asked. */
  readonly policy?: PolicySetup
  /** Finds the secrets that the playbook declares; needed where it declares any, except in a dry run. */
  readonly secrets?: SecretResolver
  /** In a dry run, what only a made call could tell stays unknown; it takes tools that make none. Default as the policy's mode says. */
  readonly mode?: 'execute' | 'dry-run'
  /** How many early final answers are sent back before the run ends incomplete. Default 2. */
  readonly finishAttempts?: number
  /** The time in epoch milliseconds. Default the system's. */
  readonly clock?: () => number
  /**
   * Receives what happened, in order, before any result of it is returned. If it throws, or the promise it returns fails,
   * nothing more is let through. `call` waits for the promise before it runs the tool; who runs tools otherwise waits for
   * `written()`.
   */
  readonly onEvents?: (events: readonly RunEvent[]) => unknown
}

/** How a run is taken up again; what its snapshot says cannot be given anew. */
export type RestoreOptions = Omit<
  EnforcerOptions,
  'run' | 'inputs' | 'blockViolations' | 'finishAttempts' | 'mode'
> & {
  /** Takes the run up although the playbook is not the version it was begun under. Default false. */
  readonly acceptOtherVersion?: boolean
}

/** A call to be judged. */
export interface ProposedCall {
  readonly tool: string
  readonly callId?: string
  readonly arguments?: unknown
  /** Why something outside the playbook forbids the call; it is then refused and recorded as `vetoed`. */
  readonly veto?: string
}

/** How a call ended. */
export interface RecordedOutcome {
  readonly callId?: string
  /** Default `succeeded`; needed where an error is given. */
  readonly outcome?: Outcome
  readonly result?: unknown
  readonly error?: string | undefined
}

/** What became of a final answer. */
export interface FinishResult {
  readonly accepted: boolean
  readonly status: RunEnd | null
  /** The required steps that are not done. */
  readonly remaining: readonly string[]
  /** The calls whose outcome nobody has recorded. */
  readonly unsettled: readonly string[]
}

/** Where a run stands, in numbers. */
export interface StepSummary {
  readonly totalSteps: number
  readonly currentStepIndex: number
  readonly completed: number
  readonly skipped: number
  readonly failed: number
  readonly inProgress: number
  readonly pending: number
  readonly progress: number
  readonly isComplete: boolean
  /** Violations beyond those that are kept. */
  readonly violationsDropped: number
  /** False: observed, not enforced. */
  readonly enforced: boolean
}
