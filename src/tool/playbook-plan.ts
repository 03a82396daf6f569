import type { Playbook } from '../playbook/playbook.ts'
import type { PlaybookStep } from '../playbook/playbook-step.ts'
import type { JsonObject } from '../shared/json.ts'
import { StepExecution } from './step-execution.ts'

/** What a PlaybookPlan is made of; everything but the playbook has a default. */
export interface PlaybookPlanFields {
  playbook: Playbook
  startedAt?: Date | null
  currentStepIndex?: number
  stepExecutions?: Readonly<Record<string, StepExecution>>
  completed?: boolean
  totalToolCalls?: number
  errors?: readonly string[]
  metadata?: JsonObject
}

/**
 * How far a run of a playbook is: the record that people and programs read. It is a record, not the gate: changing it
 * changes no verdict.
 */
export class PlaybookPlan {
  readonly playbook: Playbook
  startedAt: Date | null
  currentStepIndex: number
  /** The executions begun so far, by step id. */
  stepExecutions: Record<string, StepExecution>
  completed: boolean
  totalToolCalls: number
  errors: string[]
  metadata: JsonObject

  constructor(fields: PlaybookPlanFields) {
    this.playbook = fields.playbook
    this.startedAt = fields.startedAt ?? null
    this.currentStepIndex = fields.currentStepIndex ?? 0
    // Without a prototype: a step may be called `constructor`.
    this.stepExecutions = Object.assign(
      Object.create(null) as Record<string, StepExecution>,
      fields.stepExecutions,
    )
    this.completed = fields.completed ?? fields.playbook.steps.length === 0
    this.totalToolCalls = fields.totalToolCalls ?? 0
    this.errors = [...(fields.errors ?? [])]
    this.metadata = fields.metadata ?? {}
  }

  /** The step that is due, or null past the last one. */
  get currentStep(): PlaybookStep | null {
    return this.playbook.steps[this.currentStepIndex] ?? null
  }

  /** The share of steps that are done, skipped ones included: 0 to 1. */
  get progress(): number {
    const total = this.playbook.steps.length
    return total === 0 ? 1 : this.#idsWith('completed', 'skipped').length / total
  }

  /** The ids of the completed steps. */
  get completedSteps(): string[] {
    return this.#idsWith('completed')
  }

  /** The ids of the steps still to be done: neither completed nor skipped nor failed. */
  get pendingSteps(): string[] {
    return this.#idsWith('pending', 'in_progress')
  }

  /** One execution for every step, in the order of the steps; a step not begun has a pending one. */
  get executions(): StepExecution[] {
    return this.playbook.steps.map(
      (step) => this.stepExecutions[step.id] ?? new StepExecution({ stepId: step.id }),
    )
  }

  /** The execution of a step, or null if it has not begun. */
  getStepExecution(stepId: string): StepExecution | null {
    return this.stepExecutions[stepId] ?? null
  }

  /** Says whether a step is completed. */
  isStepComplete(stepId: string): boolean {
    return this.getStepExecution(stepId)?.status === 'completed'
  }

  #idsWith(...statuses: StepExecution['status'][]): string[] {
    return this.executions.filter(({ status }) => statuses.includes(status)).map(({ stepId }) => stepId)
  }
}
