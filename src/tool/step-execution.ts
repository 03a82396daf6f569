import type { JsonObject, Json } from '../shared/json.ts'
import type { Mover, StepPhase } from '../run/activation.ts'
import type { DenialCode } from '../run/denial-code.ts'
import type { StepStatus } from '../run/step-status.ts'
import type { TicketState } from '../run/ticket.ts'

/** One call of a step, as it was let through and as it ended. */
export interface CallRecord {
  readonly id: string
  readonly tool: string
  readonly arguments: JsonObject | null
  readonly outcome: TicketState
  readonly admittedAt: Date
  readonly settledAt: Date | null
  readonly result: Json | undefined
  readonly error: string | null
  /** What an enforcing playbook would have denied it for; null if nothing. */
  readonly observed: DenialCode | null
}

/** What a StepExecution is made of; everything but the step's id has a default. */
export interface StepExecutionFields {
  stepId: string
  status?: StepStatus
  phase?: StepPhase
  visit?: number
  startedAt?: Date | null
  completedAt?: Date | null
  toolCalls?: readonly string[]
  toolCallCount?: number
  calls?: readonly CallRecord[]
  by?: Mover | null
  error?: string | null
  result?: string | null
  outOfOrder?: boolean
  earlierVisits?: readonly StepExecution[]
}

/** The record of one step: what was called, how it ended, and who or what ended it. */
export class StepExecution {
  readonly stepId: string
  status: StepStatus
  phase: StepPhase
  visit: number
  startedAt: Date | null
  completedAt: Date | null
  toolCalls: string[]
  toolCallCount: number
  calls: CallRecord[]
  by: Mover | null
  error: string | null
  result: string | null
  outOfOrder: boolean
  /** What became of it before it was retried, oldest first. */
  earlierVisits: StepExecution[]

  constructor(fields: StepExecutionFields) {
    this.stepId = fields.stepId
    this.status = fields.status ?? 'pending'
    this.phase = fields.phase ?? 'waiting'
    this.visit = fields.visit ?? 1
    this.startedAt = fields.startedAt ?? null
    this.completedAt = fields.completedAt ?? null
    this.toolCalls = [...(fields.toolCalls ?? [])]
    this.toolCallCount = fields.toolCallCount ?? this.toolCalls.length
    this.calls = [...(fields.calls ?? [])]
    this.by = fields.by ?? null
    this.error = fields.error ?? null
    this.result = fields.result ?? null
    this.outOfOrder = fields.outOfOrder ?? false
    this.earlierVisits = [...(fields.earlierVisits ?? [])]
  }
}
