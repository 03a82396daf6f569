import { readCallId } from '../run/call-id.ts'
import { callKey } from '../run/call-key.ts'
import type { FoundOut } from '../run/found-out.ts'
import type { RunState } from '../run/state.ts'
import type { Outcome } from '../run/ticket.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { readOutcome, type ReadOutcome } from '../tool/read-outcome.ts'
import { findOutSent } from '../tool/find-out-sent.ts'
import { countsFor } from '../tool/shared-counts.ts'
import type { LostCall } from '../tool/find-out.ts'
import type { Gate } from '../tool/gate.ts'
import type { Tool } from '../tool/tool.ts'
import type { ResumeOptions } from './agent-options.ts'
import type { RecordedRun } from './read-record.ts'

/**
 * Settles what was in flight when a run was interrupted: as the host says, else as failed if it only reads, else as the tool finds
 * out by the call's key, else by sending it again under that key if the tool is idempotent, else as of unknown outcome. What was of unknown outcome before is tried
 * again in the same way. Begins steps anew that the host wants retried. Returns what the model has to be told of it; null for nothing. Throws
 * `usage` for a call that is not open, `invalid_value` where it is not said how one ended.
 */
export async function takeUp(
  enforcer: PlaybookEnforcer,
  recorded: RecordedRun,
  options: Pick<ResumeOptions, 'settle' | 'retry'> & { readonly signal?: AbortSignal | undefined },
): Promise<string | null> {
  const { state, tools } = enforcer.gate
  const settle = new Map<string, Omit<ReadOutcome, 'callId'>>()
  const open = [...state.openTickets]
  // All of it is read before any of it is recorded.
  for (const [callId, given] of Object.entries(options.settle ?? {})) {
    const ticket = open.find((each) => each.callId === callId)
    if (ticket !== undefined) {
      const { callId: _, ...outcome } = readOutcome(ticket.tool, given, true)
      settle.set(callId, outcome)
      continue
    }
    throw new LockstepError('usage', `There is no open call '${callId}' to be settled.`, {
      hint:
        open.length === 0 ? 'No call is open.' : `Open are ${open.map(({ callId: id }) => id).join(', ')}.`,
    })
  }
  // A call of a run below was made under that run's key, so nobody can be asked about it by this one's.
  const isBelow = (callId: string) => open.some((each) => callId.startsWith(`${each.callId}/`))
  const news: string[] = toldMeanwhile(recorded, state)
  for (const { callId, tool, args, state: before } of open) {
    // A playbook that was called is in the middle of its work; its call ends when it does.
    if (state.program?.frames.some((frame) => frame.callId === callId) === true) continue
    const settled = settle.get(callId)
    if (settled === undefined && before === 'held') {
      if (!(await isLifted(enforcer.gate, { callId, tool, args }))) continue
      // It was not made, and waits for nobody any more: the runtime makes it now, and a model may ask for it anew.
      const error = 'the glass was broken, so that it waits for nobody any more'
      enforcer.gate.request({ type: 'settle', tool, callId, outcome: 'not_executed', error })
      if (isShown(recorded, callId))
        news.push(`${tool} (${callId}) need not be approved any more: ask for it again.`)
      continue
    }
    const asked = isBelow(callId) ? null : (tools?.get(tool) ?? null)
    const lost = {
      key: `${state.run}/${callKey(state, callId)}`,
      args: args ?? {},
      signal: options.signal,
      mayRepeat: async () => {
        const counts = await countsFor(enforcer.gate, { tool, callId, arguments: args ?? {} })
        return enforcer.gate.mayRepeat({ callId, tool, args }, counts)
      },
    }
    const found = settled ?? (await interrupted(enforcer.gate, callId, asked, lost))
    // Nobody knows still, which is written down already.
    if (before === 'unknown' && found.outcome === 'unknown') continue
    // Where nothing was done, a program or the runtime does it now; a model is told, and decides for itself.
    const pending = state.program?.pending
    const due = (pending?.kind === 'call' && pending.callId === callId) || isOwn(state, callId)
    const anew = settled === undefined && due && found.outcome === 'failed'
    const outcome = anew ? { ...found, outcome: 'not_executed' as const } : found
    enforcer.gate.request({ type: 'settle', tool, ...outcome, callId })
    if ((settled !== undefined || before === 'unknown') && isShown(recorded, callId)) {
      news.push(describeSettled(tool, callId, found.outcome))
    }
  }
  for (const step of options.retry ?? []) {
    enforcer.retryStep(step)
    news.push(`Step ${step} is begun anew.`)
  }
  return news.length === 0 ? null : `${news.join(' ')} Go on with the procedure.`
}

/** What people said of calls while nobody was at work, or the model did not listen, and that it was not told yet. */
function toldMeanwhile(recorded: RecordedRun, state: RunState): string[] {
  const heard = recorded.messages.flatMap(({ role, content }) =>
    role === 'user' && typeof content === 'string' ? [content] : [],
  )
  return recorded.events.flatMap((event) => {
    if (event.type !== 'tool.settled' || event.found?.how !== 'told' || !isShown(recorded, event.callId))
      return []
    const what = describeSettled(state.byCallId.get(event.callId)?.tool ?? '', event.callId, event.outcome)
    return heard.some((text) => text.includes(what)) ? [] : [what]
  })
}

function describeSettled(tool: string, callId: string, outcome: Outcome): string {
  return `It was found out what became of ${tool} (${callId}): ${outcome}.`
}

/** Whether somebody broke the glass that a held call waits behind. */
async function isLifted(
  gate: Gate,
  call: { readonly callId: string; readonly tool: string; readonly args: JsonObject | null },
): Promise<boolean> {
  if (gate.state.byCallId.get(call.callId)?.approval?.state !== 'waiting') return false
  const counts = await countsFor(gate, { ...call, arguments: call.args ?? {} })
  return gate.isLifted(call, counts)
}

/** Whether the runtime made the call by itself: for a step, or to undo what one did. */
function isOwn(state: RunState, callId: string): boolean {
  return readCallId(state.compiled, callId) !== null || state.byCallId.get(callId)?.undoes !== undefined
}

/** What became of a call that was in flight, as far as its tool can say. */
async function interrupted(
  gate: Gate,
  callId: string,
  tool: Tool | null,
  lost: LostCall,
): Promise<Omit<ReadOutcome, 'callId'> & { readonly found?: FoundOut }> {
  const { outcome, result, found, problem } = await findOutSent(gate, callId, tool, lost)
  const why = problem === undefined ? '' : `, and nobody could be asked: ${problem}`
  const error = outcome === 'succeeded' ? undefined : `the run was interrupted${why}`
  return { outcome, result, error, ...(found === null ? {} : { found }) }
}

/** Says whether the model was told of the call before; a call of the turn that is open shows its outcome by itself. */
function isShown({ turn }: RecordedRun, callId: string): boolean {
  if (turn === null) return true
  return turn.fact.calls.every(
    (call) => `${turn.fact.number}.${call.id}` !== callId || turn.returned.has(call.id),
  )
}
