import type { Json } from '../shared/json.ts'
import type { CallWork } from './call-work.ts'
import type { StepStatus } from './step-status.ts'
import type { Ticket } from './ticket.ts'

/**
 * Where a step stands, finer than its status:
 * `waiting` for predecessors, `open` for calls, `lingering` (complete, its tools legal up to the cap),
 * `closed` for good, `undecided` (its `when` could not be judged), `escalated` (a limit asks for a person).
 */
export type StepPhase = 'waiting' | 'open' | 'lingering' | 'closed' | 'undecided' | 'escalated'

/** Who or what moved a step. */
export type Mover =
  | 'evidence'
  | 'model'
  | 'host'
  | 'limit'
  | 'condition'
  | 'passed_over'
  | 'finish'
  | 'program'
  /** The runtime, which makes the call of a call step. */
  | 'runtime'

/** One visit of a step: its evidence and its limits, so that a second visit never overwrites the first. */
export interface Activation {
  readonly step: number
  readonly visit: number
  status: StepStatus
  phase: StepPhase
  startedAt: number | null
  completedAt: number | null
  /** Active time spent before `activeSince`. */
  activeMs: number
  /** Since when time counts against `timeout_seconds`; null while it does not. */
  activeSince: number | null
  readonly tickets: Ticket[]
  /** Slots of the cap that are reserved or spent. */
  used: number
  /** Tickets nobody has accounted for yet: in flight or of unknown outcome. */
  open: number
  /** The named tools that succeeded, each once. */
  readonly succeededTools: string[]
  /** The results of all succeeded calls, in order of settlement. */
  readonly results: Json[]
  /** Which required keywords the results have not shown yet. */
  missingKeywords: readonly string[]
  by: Mover | null
  result: string | null
  error: string | null
  /** It was complete and has taken up another call (E4): what comes after it waits. */
  reopened: boolean
  /** Completed although its turn had not come, which only an observing playbook allows. */
  outOfOrder: boolean
  /** It awaits another look after something changed. */
  dirty: boolean
  /** Where its calls stand, if it is a call step. */
  work: CallWork | null
}

/** A fresh visit of a step. */
export function createActivation(step: number, visit: number, keywords: readonly string[]): Activation {
  return {
    step,
    visit,
    status: 'pending',
    phase: 'waiting',
    startedAt: null,
    completedAt: null,
    activeMs: 0,
    activeSince: null,
    tickets: [],
    used: 0,
    open: 0,
    succeededTools: [],
    results: [],
    missingKeywords: keywords,
    by: null,
    result: null,
    error: null,
    reopened: false,
    outOfOrder: false,
    dirty: false,
    work: null,
  }
}
