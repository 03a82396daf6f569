/**
 * Judges a call, runs it, and records how it ended.
 *
 * Owns: the way from an admitted call to its tool and back.
 * Talks to: the gate that admitted it, and no other, however long the tool takes.
 *
 * Invariants
 * R1  The arguments are copied when the call is made; what is judged is what is sent (G16).
 * R2  A tool begins only when its admission is written down.
 * R3  Every admitted call is settled: `failed` only where nothing was applied, else `unknown` until somebody finds out.
 * R4  Secrets are put in after everything was judged and written down, and are out again before anybody sees what came of it (G19).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { callKey } from '../run/call-key.ts'
import type { FoundOut } from '../run/found-out.ts'
import { secretPlaces } from '../run/secret-places.ts'
import type { Outcome } from '../run/ticket.ts'
import { cloneJson } from '../shared/clone-json.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { shortText } from '../shared/short-text.ts'
import { toJson } from '../shared/to-json.ts'
import type { CallQueue } from './call-queue.ts'
import { dryRunTool, isOnlyShown } from './dry-run-tool.ts'
import type { EnforcementResult } from './enforcement-result.ts'
import type { ProposedCall } from './enforcer-options.ts'
import type { Gate } from './gate.ts'
import { findOut } from './find-out.ts'
import { withoutSecrets } from './find-out-sent.ts'
import { giveUp, readResult, withLimits } from './run-tool.ts'
import { admitCall, countsFor } from './shared-counts.ts'
import { ToolFailure } from './tool-failure.ts'
import type { ToolRegistry } from './tool-registry.ts'
import { stricterRisk, type Risk, type Tool, type ToolContext } from './tool.ts'

/** A call that the gate is to judge and, if it is allowed, to run. */
export interface CallToRun {
  readonly tool: string
  readonly arguments?: unknown
  /** Does the work, with exactly the arguments that were judged. Without it, the registered tool runs. */
  readonly execute?: (args: JsonObject, context: ToolContext) => unknown
  readonly callId?: string
  /** What the work can do at worst, where no tool is registered; irreversible by default. It cannot make a registered one milder. */
  readonly risk?: Risk
  /** Seconds after which the call is given up; the registered tool's if there is one, else none. */
  readonly timeoutSeconds?: number
  readonly signal?: AbortSignal
  /** Why something outside the playbook forbids the call; it is then refused and recorded as `vetoed`. */
  readonly veto?: string
  /** It is one that the runtime makes: what may run beside it, the procedure says. */
  readonly due?: boolean
  /** Says, right before the call is judged, that nobody asks for it any more: then it is not judged, and nothing is recorded. */
  readonly isLate?: () => boolean
  /** Told at once when the call is settled, so that what follows can be written down with it. */
  readonly onSettled?: (outcome: Outcome, error: string | undefined) => void
}

/** What became of a call. */
export type CallOutcome = {
  readonly tool: string
  /** The gate's answer; null if an earlier call of the turn kept this one from being judged. */
  readonly enforcement: EnforcementResult | null
} & (
  | { readonly status: 'succeeded'; readonly result: Json | undefined; readonly found?: FoundOut }
  /** `found`: it was unknown how the call ended, and this is how more became known. */
  | { readonly status: 'failed' | 'unknown'; readonly error: string; readonly found?: FoundOut }
  | { readonly status: 'denied'; readonly error: string }
  /** It waits for people to approve it; it is made by asking for it again, under its id. */
  | { readonly status: 'held'; readonly error: string }
  | { readonly status: 'not_executed'; readonly error: string }
)

const inside = new AsyncLocalStorage<ReadonlySet<Gate>>()

/** Judges one call in its turn, runs it, and records how it ended. Throws `invalid_value` for a timeout that is none. */
export async function runCall(gate: Gate, queue: CallQueue, call: CallToRun): Promise<CallOutcome> {
  if (inside.getStore()?.has(gate) === true) {
    throw new LockstepError(
      'call_inside_call',
      `'${call.tool}' was called from inside another call of the same run.`,
      {
        hint: 'It would wait for itself for ever. Let the tool return first, or give the inner agent a run of its own.',
      },
    )
  }
  if (call.timeoutSeconds !== undefined && !(call.timeoutSeconds > 0)) {
    throw new LockstepError(
      'invalid_value',
      `A timeout of ${call.timeoutSeconds} s is none: it must be more than nothing.`,
    )
  }
  const proposed = proposal(call)
  const judgeAndRun = () => (gate.turnstile === null ? execute : pass)(gate, call, proposed)
  // It is judged in this moment: what the procedure lets run beside it, the procedure said when it let both be due.
  if (call.due === true) return await judgeAndRun()
  if (riskOf(call, gate.tools) !== 'read') return await queue.run(false, judgeAndRun)
  const outcome = await queue.run(true, async () => {
    // A read that is only illegal while others are in flight waits for them, and is judged again.
    return queue.crowded && !gate.wouldAllow(proposed) ? null : await judgeAndRun()
  })
  return outcome ?? (await queue.run(false, judgeAndRun, true))
}

/** Waits until other runs let the call pass. It is judged in the same moment where nobody stands in its way. */
async function pass(gate: Gate, call: CallToRun, proposed: ProposedCall): Promise<CallOutcome> {
  const { tool, signal } = call
  const args = isJsonObject(proposed.arguments as Json) ? (proposed.arguments as JsonObject) : {}
  const registered = gate.tools?.get(tool) ?? null
  const entered = gate.turnstile!.enter({ callId: call.callId ?? '', tool: registered, args, signal })
  const leave = typeof entered === 'function' ? entered : await entered
  // Nothing is judged any more, so that a run which is put down finds the call as it was.
  if (leave === null)
    return { tool, enforcement: null, status: 'not_executed', error: 'it was put down before it began' }
  try {
    return await execute(gate, call, proposed)
  } finally {
    leave()
  }
}

async function execute(gate: Gate, call: CallToRun, proposed: ProposedCall): Promise<CallOutcome> {
  const { tool } = call
  if (call.isLate?.() === true)
    return { tool, enforcement: null, status: 'denied', error: 'it is not due any more' }
  const answer = admitCall(gate, proposed)
  // Where nothing is asked of other runs, it is judged in this moment.
  const enforcement = answer instanceof Promise ? await answer : answer
  if (!enforcement.allowed) {
    const status = enforcement.code === 'awaiting_approval' ? 'held' : 'denied'
    return { tool, enforcement, status, error: enforcement.message ?? 'denied' }
  }
  const callId = enforcement.callId!
  const registered = gate.tools?.get(tool) ?? null
  const { secrets } = gate
  // In a dry run nothing is sent that lacks its secrets, not even by a tool that only reads.
  const shown = secrets !== null && needsShowing(gate, callId, registered)
  const work = call.execute ?? (shown ? dryRunTool(registered!, { callReads: false }) : registered)?.execute
  const settle = (outcome: Outcome, result?: Json, error?: string, found?: FoundOut | null) => {
    const how = { found: found ?? undefined, ...(shown ? { shown } : {}) }
    gate.request({ type: 'settle', callId, tool, outcome, result, error, ...how })
    call.onSettled?.(outcome, error)
  }
  const notExecuted = (error: string): CallOutcome => {
    settle('not_executed', undefined, error)
    return { tool, enforcement, status: 'not_executed', error }
  }
  if (work === undefined) return notExecuted(`there is nothing to run for '${tool}'`)
  await gate.written()
  if (isAborted(call)) return notExecuted('it was cancelled before it began')

  const judged = isJsonObject(proposed.arguments as Json) ? (proposed.arguments as JsonObject) : {}
  let args = judged
  if (secrets !== null) {
    const sent = await secrets.put(gate.state, callId, judged, registered, call.signal)
    if (sent.problem !== null) return notExecuted(sent.problem)
    if (isAborted(call)) return notExecuted('it was cancelled before it began')
    args = sent.args
  }
  const key = `${gate.state.run}/${callKey(gate.state, callId)}`
  const limits = { seconds: call.timeoutSeconds ?? registered?.timeoutSeconds ?? null, signal: call.signal }
  const within = new Set([...(inside.getStore() ?? []), gate])
  const begin: typeof work = (given, context) => inside.run(within, () => work(given, context))
  try {
    // The tool gets a copy of its own: what it does to it touches no record.
    const value = await withLimits(limits, (signal) =>
      begin(cloneJson(args) as JsonObject, { signal, idempotencyKey: key }),
    )
    const result = secrets === null ? readResult(value) : secrets.maskJson(readResult(value))
    settle('succeeded', result)
    return { tool, enforcement, status: 'succeeded', result }
  } catch (error) {
    if (LockstepError.isInstance(error) && error.code === 'record_failed') throw error
    const said = messageOf(error)
    const message = shortText(secrets === null ? said : secrets.maskText(said))
    giveUp(registered, key)
    if (error instanceof ToolFailure || riskOf(call, gate.tools) === 'read') {
      settle('failed', undefined, message)
      return { tool, enforcement, status: 'failed', error: message }
    }
    const lost = {
      key,
      args,
      signal: call.signal,
      execute: begin,
      clean: secrets === null ? undefined : (text: string) => secrets.maskText(text),
      risk: riskOf(call, gate.tools),
      mayRepeat: async () =>
        gate.mayRepeat({ callId, tool, args: judged }, await countsFor(gate, { ...proposed, callId })),
    }
    const { outcome, result, found } = withoutSecrets(await findOut(registered, lost), secrets)
    settle(outcome, result, outcome === 'succeeded' ? undefined : message, found)
    const known = found === null ? {} : { found }
    return outcome === 'succeeded'
      ? { tool, enforcement, status: 'succeeded', result, ...known }
      : { tool, enforcement, status: outcome, error: message, ...known }
  }
}

function isAborted({ signal }: CallToRun): boolean {
  return signal?.aborted === true
}

/** Whether a call of a dry run would really be made, and without its secrets. */
function needsShowing(gate: Gate, callId: string, tool: Tool | null): boolean {
  if (gate.state.mode !== 'dry-run' || tool === null || isOnlyShown(tool)) return false
  return secretPlaces(gate.state, callId).length > 0
}

/** The call as the gate judges it, its arguments copied now (R1). */
function proposal(call: CallToRun): ProposedCall {
  return {
    tool: call.tool,
    arguments: copyOf(call),
    ...(call.callId === undefined ? {} : { callId: call.callId }),
    ...(call.veto === undefined ? {} : { veto: call.veto }),
  }
}

function copyOf(call: CallToRun): unknown {
  // What the run machine worked out is a copy that nobody can change.
  if (call.due === true) return call.arguments
  const reading = toJson(call.arguments ?? {})
  // What cannot be copied is handed on as it is, for the gate to refuse.
  return reading.problem === null ? reading.value : call.arguments
}

/** What a call can do at worst; irreversible where nobody says. */
export function riskOf(call: Pick<CallToRun, 'tool' | 'risk'>, tools: ToolRegistry | null): Risk {
  const registered = tools?.get(call.tool)?.risk
  if (registered === undefined) return call.risk ?? 'irreversible'
  return call.risk === undefined ? registered : stricterRisk(registered, call.risk)
}
