import { LockstepError } from '../shared/lockstep-error.ts'

/**
 * Thrown by a tool to state that nothing was applied, so that the call counts as failed and may be tried again. Any other
 * error of a tool that writes leaves the outcome unknown.
 */
export class ToolFailure extends LockstepError {
  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super('tool_failed', message, { ...options, consequence: 'retry' })
    this.name = 'ToolFailure'
  }
}
