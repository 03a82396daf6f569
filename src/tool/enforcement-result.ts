import type { PlaybookStep } from '../playbook/playbook-step.ts'
import type { DenialCode } from '../run/denial-code.ts'

/** What an EnforcementViolation is made of. */
export interface EnforcementViolationFields {
  violationType: DenialCode
  message: string
  stepId?: string | null
  toolName?: string | null
  timestamp?: Date
  blocked?: boolean
}

/** The record of a call that broke the playbook: which rule, when, and whether it was stopped. */
export class EnforcementViolation {
  readonly violationType: DenialCode
  readonly stepId: string | null
  readonly toolName: string | null
  readonly message: string
  readonly timestamp: Date
  readonly blocked: boolean

  constructor(fields: EnforcementViolationFields) {
    this.violationType = fields.violationType
    this.stepId = fields.stepId ?? null
    this.toolName = fields.toolName ?? null
    this.message = fields.message
    this.timestamp = fields.timestamp ?? new Date()
    this.blocked = fields.blocked ?? false
  }
}

/** What an EnforcementResult is made of. */
export interface EnforcementResultFields {
  allowed: boolean
  code?: DenialCode | null
  callId?: string | null
  message?: string | null
  violation?: EnforcementViolation | null
  hints?: readonly string[]
  currentStep?: PlaybookStep | null
}

const noHints: readonly string[] = Object.freeze([])

/** The gate's answer to one call. */
export class EnforcementResult {
  /** Whether the call may be made. */
  readonly allowed: boolean
  /** Why it was refused, or would have been where the playbook only observes; null if nothing speaks against it. */
  readonly code: DenialCode | null
  /** The same in a sentence. */
  readonly message: string | null
  /** By which the outcome is recorded; null if the call was refused. */
  readonly callId: string | null
  readonly violation: EnforcementViolation | null
  /** What helps the agent on. */
  readonly hints: readonly string[]
  /** The step the call belongs to; for a refused call, the step that is due. */
  readonly currentStep: PlaybookStep | null

  constructor(fields: EnforcementResultFields) {
    this.allowed = fields.allowed
    this.code = fields.code ?? null
    this.message = fields.message ?? null
    this.callId = fields.callId ?? null
    this.violation = fields.violation ?? null
    this.hints = fields.hints ?? noHints
    this.currentStep = fields.currentStep ?? null
  }
}
