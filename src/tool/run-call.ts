import { AsyncLocalStorage } from 'node:async_hooks'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { toJson } from '../shared/to-json.ts'
import type { CallQueue } from './call-queue.ts'
import type { EnforcementResult } from './enforcement-result.ts'
import type { ProposedCall } from './enforcer-options.ts'
import type { PlaybookEnforcer } from './playbook-enforcer.ts'
import type { ToolRegistry } from './tool-registry.ts'
import { ToolFailure } from './tool-failure.ts'
import type { Risk, ToolContext } from './tool.ts'

/** A call that the gate is to judge and, if it is allowed, to run. */
export interface CallToRun {
  readonly tool: string
  readonly arguments?: unknown
  /** Does the work, with exactly the arguments that were judged. Without it, the registered tool runs. */
  readonly execute?: (args: JsonObject, context: ToolContext) => unknown
  readonly callId?: string
  /** What the work can do at worst; the registered tool's if there is one, else irreversible. */
  readonly risk?: Risk
  /** Seconds after which the call is given up; the registered tool's if there is one, else none. */
  readonly timeoutSeconds?: number
  readonly signal?: AbortSignal
  /** Why something outside the playbook forbids the call; it is then refused and recorded as `vetoed`. */
  readonly veto?: string
}

/** What became of a call. */
export type CallOutcome = {
  readonly tool: string
  /** The gate's answer; null if an earlier call of the turn kept this one from being judged. */
  readonly enforcement: EnforcementResult | null
} & (
  | { readonly status: 'succeeded'; readonly result: Json | undefined }
  | { readonly status: 'failed' | 'unknown'; readonly error: string }
  | { readonly status: 'denied'; readonly error: string }
  | { readonly status: 'not_executed'; readonly error: string }
)

/** The most milliseconds a timer of the platform can count; 24 days. */
const longest = 2 ** 31 - 1

const inside = new AsyncLocalStorage<ReadonlySet<PlaybookEnforcer>>()

/** Judges one call in its turn, runs it, and records how it ended. */
export function runCall(
  enforcer: PlaybookEnforcer,
  queue: CallQueue,
  tools: ToolRegistry | null,
  call: CallToRun,
): Promise<CallOutcome> {
  if (inside.getStore()?.has(enforcer) === true) {
    return Promise.reject(
      new LockstepError(
        'call_inside_call',
        `'${call.tool}' was called from inside another call of the same run.`,
        {
          hint: 'It would wait for itself for ever. Let the tool return first, or give the inner agent a run of its own.',
        },
      ),
    )
  }
  const shared = riskOf(call, tools) === 'read'
  const judgeAndRun = () => execute(enforcer, tools, call)
  if (!shared) return queue.run(false, judgeAndRun)
  return queue
    .run(true, async () => {
      // A read that is only illegal while others are in flight waits for them, and is judged again.
      const early = queue.crowded && enforcer.validateToolCalls([proposal(call)])[0]!.allowed === false
      return early ? null : await judgeAndRun()
    })
    .then((outcome) => outcome ?? queue.run(false, judgeAndRun, true))
}

async function execute(
  enforcer: PlaybookEnforcer,
  tools: ToolRegistry | null,
  call: CallToRun,
): Promise<CallOutcome> {
  const { tool } = call
  const registered = tools?.get(tool) ?? null
  // Copied once: what is judged is what is sent, whatever the caller does to its own object meanwhile (G16).
  const reading = toJson(call.arguments ?? {})
  const args = reading.problem === null ? (reading.value as JsonObject) : {}
  const enforcement = enforcer.validateToolCall(
    tool,
    proposal(reading.problem === null ? { ...call, arguments: args } : call),
  )
  if (!enforcement.allowed) {
    return {
      tool,
      enforcement,
      status: 'denied',
      error: enforcement.message ?? 'denied',
    }
  }
  const callId = enforcement.callId!
  const work = call.execute ?? registered?.execute
  if (work === undefined) {
    enforcer.recordToolCall(tool, { callId, outcome: 'not_executed' })
    throw new LockstepError('unknown_tool', `There is nothing to run for '${tool}'.`, {
      hint: 'Pass the work as the third argument, or give the enforcer the tool.',
    })
  }
  await enforcer.written()
  if (call.signal?.aborted === true) {
    enforcer.recordToolCall(tool, { callId, outcome: 'not_executed' })
    return { tool, enforcement, status: 'not_executed', error: 'it was cancelled before it began' }
  }
  const timeout = call.timeoutSeconds ?? registered?.timeoutSeconds ?? null
  try {
    const value = await inside.run(new Set([...(inside.getStore() ?? []), enforcer]), () =>
      withLimits(timeout, call.signal, (signal) => work(args, { signal, idempotencyKey: callId })),
    )
    const said = value === undefined ? null : toJson(value)
    // It ran and its result cannot be kept: what it said is lost, that it succeeded is not.
    const result = said === null || said.problem === null ? said?.value : `[result not kept: ${said.problem}]`
    enforcer.recordToolCall(tool, { callId, outcome: 'succeeded', result })
    return { tool, enforcement, status: 'succeeded', result }
  } catch (error) {
    if (LockstepError.isInstance(error) && error.code === 'record_failed') throw error
    const message = error instanceof Error ? error.message : String(error)
    const harmless = error instanceof ToolFailure || riskOf(call, tools) === 'read'
    const status = harmless ? 'failed' : 'unknown'
    enforcer.recordToolCall(tool, { callId, outcome: status, error: message })
    return { tool, enforcement, status, error: message }
  }
}

/** Runs the work, giving up on it when its time is over or the caller aborts; the work is told by its signal. */
async function withLimits(
  seconds: number | null,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => unknown,
): Promise<unknown> {
  const timer =
    seconds === null ? undefined : AbortSignal.timeout(Math.min(Math.ceil(seconds * 1000), longest))
  const signals = [outer, timer].filter((signal) => signal !== undefined)
  const signal = AbortSignal.any(signals)
  if (signals.length === 0) return await work(signal)
  return await Promise.race([
    work(signal),
    new Promise((_, reject) => {
      signal.addEventListener(
        'abort',
        () =>
          reject(
            new Error(outer?.aborted === true ? 'it was cancelled' : `it took longer than ${seconds} s`),
          ),
        { once: true },
      )
    }),
  ])
}

function proposal(call: CallToRun): ProposedCall {
  return {
    tool: call.tool,
    arguments: call.arguments ?? {},
    ...(call.callId === undefined ? {} : { callId: call.callId }),
    ...(call.veto === undefined ? {} : { veto: call.veto }),
  }
}

/** What a call can do at worst; irreversible where nobody says. */
export function riskOf(call: Pick<CallToRun, 'tool' | 'risk'>, tools: ToolRegistry | null): Risk {
  return call.risk ?? tools?.get(call.tool)?.risk ?? 'irreversible'
}
