import type { RunEvent } from './event.ts'
import type { Facts, RunRequest } from './request.ts'
import type { RunState } from './state.ts'

type Request<Type extends RunRequest['type']> = Extract<RunRequest, { type: Type }>

/** Stops a run for good, on somebody's word: nothing more is begun, and what is in flight is waited for. A second time changes nothing. */
export function decideCancel(
  state: RunState,
  { by, reason }: Request<'cancel'>,
  facts: Facts,
): readonly RunEvent[] {
  if (state.ended !== null || state.cancellation !== null || state.compensation !== null) return []
  return [{ type: 'cancel.requested', at: Math.max(facts.now, state.clock), by, reason }]
}

/** Stops a run before its next effect, until somebody lets it go on; or lets it go on. */
export function decidePause(
  state: RunState,
  { type, by, reason }: Request<'pause' | 'unpause'>,
  facts: Facts,
): readonly RunEvent[] {
  const paused = state.suspension !== null
  if (state.ended !== null || paused === (type === 'pause')) return []
  const at = Math.max(facts.now, state.clock)
  return [{ type: type === 'pause' ? 'run.paused' : 'run.unpaused', at, by, reason }]
}
