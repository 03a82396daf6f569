/** The five states of a step; anything finer is its `phase`. */
export const StepStatus = {
  PENDING: 'pending',
  IN_PROGRESS: 'in_progress',
  COMPLETED: 'completed',
  SKIPPED: 'skipped',
  FAILED: 'failed',
} as const

export type StepStatus = (typeof StepStatus)[keyof typeof StepStatus]
