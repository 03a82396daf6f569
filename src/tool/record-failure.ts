import { LockstepError } from '../shared/lockstep-error.ts'
import { EnforcementResult, EnforcementViolation } from './enforcement-result.ts'

/** What is thrown once the record of a run cannot be written: its state may not be acted on any more. */
export function recordFailure(cause: unknown): LockstepError {
  return new LockstepError(
    'record_failed',
    'What happened could not be written down, so nothing more is let through.',
    {
      cause,
      consequence: 'pause',
      hint: 'Mend the record (see the cause), then restore the run from the last snapshot or its events.',
    },
  )
}

/** The refusal of a call whose admission could not be written down (G16). */
export function refuseUnrecorded(tool: string, cause: unknown): EnforcementResult {
  const message = `'${tool}' is refused: ${recordFailure(cause).message}`
  return new EnforcementResult({
    allowed: false,
    code: 'gate_error',
    violation: new EnforcementViolation({
      violationType: 'gate_error',
      toolName: tool,
      message,
      blocked: true,
    }),
  })
}
