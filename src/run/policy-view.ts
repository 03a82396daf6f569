/**
 * What policies are told of a run, worked out from its state alone, so that whoever verifies a record works out the same.
 */
import { matchesName } from '../playbook/match-name.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { readCallId } from './call-id.ts'
import { nextUndo } from './compensation.ts'
import { unknownArguments } from './placeholder.ts'
import { findOwner } from './find-owner.ts'
import type { RunState } from './state.ts'
import { isOpen, type Ticket } from './ticket.ts'

/** An earlier call of the run that had, or may have had, an effect. */
export interface MadeCall {
  readonly tool: string
  readonly args: JsonObject | null
  readonly outcome: 'succeeded' | 'failed' | 'unknown' | 'open'
  readonly result: Json | undefined
}

/** What is counted: calls of these tools, or of all, since so many seconds or since the run began. */
export interface CallQuery {
  readonly tools: readonly string[] | null
  readonly seconds: number | null
}

/** Every call that was made so far, in order. */
export function madeCalls(state: RunState): readonly MadeCall[] {
  return state.tickets.filter(isMade).map((ticket) => {
    const { tool, args, result } = ticket
    const closed = ticket.state === 'unknown' ? 'unknown' : (ticket.state as 'succeeded' | 'failed')
    return { tool, args, outcome: isOpen(ticket) && closed !== 'unknown' ? 'open' : closed, result }
  })
}

/** The calls of a time, their different targets, and whether the given one is among them. */
export function countCalls(
  state: RunState,
  { tools, seconds }: CallQuery,
  target: string | null,
  now: number,
): { readonly calls: number; readonly targets: number; readonly seen: boolean } {
  const since = seconds === null ? -Infinity : now - seconds * 1000
  const made = state.tickets.filter(
    (ticket) =>
      isMade(ticket) &&
      ticket.state !== 'failed' &&
      ticket.admittedAt >= since &&
      (tools === null || tools.some((glob) => matchesName(glob, ticket.tool))),
  )
  const targets = new Set(made.map((ticket) => ticket.target))
  return { calls: made.length, targets: targets.size, seen: targets.has(target) }
}

/** What a run can count by itself of what it spent. */
export function ownSpending(
  state: RunState,
  now: number,
): { readonly calls: number; readonly minutes: number } {
  return { calls: state.made, minutes: (now - state.startedAt) / 60_000 }
}

/** The step that a call of the tool would belong to now; null for none. */
export function stepForPolicy(state: RunState, tool: string, callId: string | null = null): string | null {
  const own = callId === null ? null : stepOfOwnCall(state, callId)
  if (own !== null) return state.compiled.steps[own]!.id
  const owner = findOwner(state, tool)
  return typeof owner === 'string' ? null : (owner.step?.id ?? null)
}

/** Whether a call is the one that is due to undo another. */
export function isUndoing(state: RunState, callId: string | null): boolean {
  return callId !== null && state.compensation !== null && nextUndo(state)?.callId === callId
}

/** Why the policies that were asked about a call, by their ids, or what they were told of it, is not enough; null if it is. A runbook's own is asked where a step requires approval. */
export function missingPolicy(
  state: RunState,
  call: {
    readonly tool: string
    readonly callId: string | null
    readonly args?: JsonObject | null | undefined
    readonly toldItUndoes?: boolean | undefined
    readonly toldItIsShown?: boolean | undefined
    readonly toldUnknown?: readonly string[] | undefined
  },
  asked: readonly string[],
): string | null {
  const { tool, callId, args = null, toldItUndoes, toldItIsShown, toldUnknown } = call
  if (toldItIsShown === true && state.mode !== 'dry-run')
    return 'the call is recorded as only shown, and this is no dry run'
  if (toldUnknown !== undefined && !toldUnknown.every((name) => unknownArguments(args).includes(name)))
    return 'the policies were told that arguments are not known, and they are'
  if (toldItUndoes === true && !isUndoing(state, callId))
    return 'the policies were told that the call undoes another, and it does not'
  const { playbook } = state.compiled
  const step = playbook.getStep(stepForPolicy(state, tool, callId) ?? '')
  if (step === null || step.tool !== tool || !step.requiresApproval) return null
  if (asked.includes(`runbook.${playbook.id}`)) return null
  return `step '${step.id}' requires approval, and the runbook's own policy was not asked`
}

/** Whether a call had, or may have had, an effect. */
function isMade({ state }: Ticket): boolean {
  return state !== 'held' && state !== 'not_executed'
}

/** The position of the step of a call that the runtime makes, or that undoes one of a step. */
function stepOfOwnCall(state: RunState, callId: string): number | null {
  if (state.compensation !== null) {
    const undo = nextUndo(state)
    if (undo?.callId === callId) return undo.of.step
  }
  return readCallId(state.compiled, callId)?.step ?? null
}
