import type { Json, JsonObject } from '../../src/shared/json.ts'

export type Status = 'pending' | 'in_progress' | 'completed' | 'skipped' | 'failed'
export type Phase = 'waiting' | 'open' | 'lingering' | 'closed' | 'undecided' | 'escalated'
export type Outcome = 'succeeded' | 'failed' | 'unknown' | 'not_executed'

/** Where a step stands. */
export interface Standing {
  status: Status
  phase: Phase
  visit: number
  result: string | null
  /** Its time counts. */
  active: boolean
  spent: number
  outOfOrder: boolean
  /** It was complete and took another call; until it is complete again, what comes after it is held back. */
  reopened: boolean
}

/** A permission for one call. */
export interface Call {
  readonly id: string
  readonly tool: string
  readonly args: JsonObject | null
  readonly step: number | null
  readonly visit: number
  readonly extra: boolean
  state: 'open' | Outcome
  settled: number
  result: Json | undefined
}

/** A proposed call; `args` is undefined where it carried none. */
export interface Proposal {
  readonly tool: string
  readonly callId?: string
  readonly args?: unknown
  /** Why something outside the playbook forbids it. */
  readonly veto?: string
}

/** Everything of a run that changes. */
export interface NaiveState {
  now: number
  ended: 'succeeded' | 'incomplete' | 'failed' | null
  iterations: number
  finishRefusals: number
  settlements: number
  steps: Standing[]
  calls: Call[]
  violations: { code: string; blocked: boolean }[]
}

/** A call that nobody has accounted for. */
export const isOpen = (call: Call) => call.state === 'open' || call.state === 'unknown'

/** Where a step stands when a visit of it begins. */
export function freshStanding(visit: number): Standing {
  return {
    status: 'pending',
    phase: 'waiting',
    visit,
    result: null,
    active: false,
    spent: 0,
    outOfOrder: false,
    reopened: false,
  }
}
