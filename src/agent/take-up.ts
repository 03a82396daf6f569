import { LockstepError } from '../shared/lockstep-error.ts'
import type { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import type { ResumeOptions } from './agent-options.ts'
import type { RecordedRun } from './read-record.ts'

/**
 * Settles what was in flight when a run was interrupted: as the host says, else as failed if it only reads, else as of unknown
 * outcome. Begins steps anew that the host wants retried. Returns what the model has to be told of it; null for nothing. Throws
 * `usage` for a call that is not open.
 */
export function takeUp(
  enforcer: PlaybookEnforcer,
  recorded: RecordedRun,
  options: Pick<ResumeOptions, 'settle' | 'retry'>,
): string | null {
  const { state, tools } = enforcer.gate
  const settle = new Map(Object.entries(options.settle ?? {}))
  const open = [...state.openTickets]
  for (const callId of settle.keys()) {
    if (open.some((ticket) => ticket.callId === callId)) continue
    throw new LockstepError('usage', `There is no open call '${callId}' to be settled.`, {
      hint:
        open.length === 0 ? 'No call is open.' : `Open are ${open.map(({ callId: id }) => id).join(', ')}.`,
    })
  }
  const news: string[] = []
  for (const { callId, tool, state: before } of open) {
    const settled = settle.get(callId)
    if (settled === undefined && before === 'unknown') continue
    const read = tools?.get(tool)?.risk === 'read'
    const interrupted = { outcome: read ? 'failed' : 'unknown', error: 'the run was interrupted' } as const
    enforcer.recordToolCall(tool, { ...(settled ?? interrupted), callId })
    if (settled !== undefined && isShown(recorded, callId)) {
      news.push(`It was found out what became of ${tool} (${callId}): ${settled.outcome ?? 'succeeded'}.`)
    }
  }
  for (const step of options.retry ?? []) {
    enforcer.retryStep(step)
    news.push(`Step ${step} is begun anew.`)
  }
  return news.length === 0 ? null : `${news.join(' ')} Go on with the procedure.`
}

/** Says whether the model was told of the call before; a call of the turn that is open shows its outcome by itself. */
function isShown({ turn }: RecordedRun, callId: string): boolean {
  if (turn === null) return true
  return turn.fact.calls.every(
    (call) => `${turn.fact.number}.${call.id}` !== callId || turn.returned.has(call.id),
  )
}
