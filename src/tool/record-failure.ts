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
  return refuse(tool, `'${tool}' is refused: ${recordFailure(cause).message}`)
}

/** The refusal of a call that could not even be read, or not at this time (G1). */
export function refuseUnjudged(tool: unknown, cause: unknown): EnforcementResult {
  const why = cause instanceof Error ? cause.message : String(cause)
  return refuse(
    typeof tool === 'string' ? tool : '',
    `The call could not be judged, so it is refused: ${why}.`,
  )
}

function refuse(toolName: string, message: string): EnforcementResult {
  const violation = new EnforcementViolation({
    violationType: 'gate_error',
    toolName,
    message,
    blocked: true,
  })
  return new EnforcementResult({ allowed: false, code: 'gate_error', message, violation })
}
