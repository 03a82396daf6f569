/**
 * Finds out what became of a call whose outcome is unknown.
 *
 * Owns: the ways of finding out, in their order.
 * Talks to: the tool, by the key of the call and with exactly the arguments that were sent.
 *
 * Invariants
 * O1  A tool that only reads had no effect: the call failed.
 * O2  A tool with `reconcile` is asked. What it does not say plainly is not known.
 * O3  A call of an `idempotent` tool is sent again under its key, a few times at most. Only a success proves anything: that the repeated
 *     call failed does not say what the first one did.
 * O4  Everything has an end: a tool that does not answer is not waited for, and whoever gives up is not kept waiting.
 */
import type { FoundOut } from '../run/found-out.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { shortText } from '../shared/short-text.ts'
import { readResult, withLimits } from './run-tool.ts'
import type { Risk, Tool, ToolContext } from './tool.ts'

/** A call whose outcome nobody knows. */
export interface LostCall {
  readonly key: string
  readonly args: JsonObject
  readonly signal?: AbortSignal | undefined
  /** What the call can do at worst, where that is more than the tool says. */
  readonly risk?: Risk
  /** What did the work, where it was not the tool's own. */
  readonly execute?: ((args: JsonObject, context: ToolContext) => unknown) | undefined
  /** Takes secrets out of what the tool says, before it is cut short. */
  readonly clean?: ((text: string) => string) | undefined
  /** Asked before each repetition; a call that may not be made any more is not made again. Without it, it may. */
  readonly mayRepeat?: (() => boolean | Promise<boolean>) | undefined
}

/** What became of a call, and how that is known. */
export interface FindOutResult {
  readonly outcome: 'succeeded' | 'failed' | 'unknown'
  readonly result?: Json | undefined
  /** Null where nobody could be asked. */
  readonly found: FoundOut | null
}

/** Seconds that a tool without a limit of its own has to say what became of a call. */
const defaultSeconds = 30

/** Seconds that remain to find out where somebody wants to stop already. */
const partingSeconds = 2

/** How long is waited before each repetition, in milliseconds. */
const pauses = [0, 1_000] as const

/** What became of a call, as far as its tool can say or show. Never throws. */
export async function findOut(tool: Tool | null, call: LostCall): Promise<FindOutResult> {
  if (tool === null) return { outcome: 'unknown', found: null }
  if ((call.risk ?? tool.risk) === 'read') return { outcome: 'failed', found: { how: 'only_reads' } }
  const asked = await ask(tool, call)
  if (asked !== null && asked.outcome !== 'unknown') return asked
  return (tool.idempotent ? await repeat(tool, call) : null) ?? asked ?? { outcome: 'unknown', found: null }
}

async function ask(tool: Tool, { key, args, signal, clean = same }: LostCall): Promise<FindOutResult | null> {
  const { reconcile } = tool
  if (reconcile === null) return null
  const how = 'reconciled' as const
  try {
    const parting = signal?.aborted === true
    const seconds = tool.timeoutSeconds ?? defaultSeconds
    // Who stops in the middle of a call wants to know how it ended, if that can be had quickly.
    const limits = parting
      ? { seconds: Math.min(seconds, partingSeconds), signal: undefined }
      : { seconds, signal }
    const answer = await withLimits(limits, (inner) =>
      reconcile(key, structuredClone(args), { signal: inner }),
    )
    const said = (answer ?? {}) as { outcome?: unknown; result?: unknown; note?: unknown }
    const note = typeof said.note === 'string' ? { note: shortText(clean(said.note)) } : {}
    const found: FoundOut = { how, ...note }
    if (said.outcome === 'succeeded') {
      return { outcome: 'succeeded', result: readResult(said.result), found }
    }
    return { outcome: said.outcome === 'failed' ? 'failed' : 'unknown', found }
  } catch (error) {
    return {
      outcome: 'unknown',
      found: { how, note: shortText(clean(String((error as Error)?.message ?? error))) },
    }
  }
}

/** Sends the call again under its key; null if that proved nothing. */
async function repeat(tool: Tool, call: LostCall): Promise<FindOutResult | null> {
  const { key, args, signal, execute = tool.execute } = call
  for (const pause of pauses) {
    if (pause > 0 && !(await rest(pause, signal))) return null
    if (signal?.aborted === true || !(await mayRepeat(call))) return null
    try {
      const limits = { seconds: tool.timeoutSeconds ?? defaultSeconds, signal }
      const value = await withLimits(limits, (inner) =>
        execute(structuredClone(args), { signal: inner, idempotencyKey: key }),
      )
      return { outcome: 'succeeded', result: readResult(value), found: { how: 'repeated' } }
    } catch {
      // Whatever it was, it says nothing of the call before (O3).
    }
  }
  return null
}

/** Whether the call may still be made; what cannot be judged may not. */
async function mayRepeat(call: LostCall): Promise<boolean> {
  try {
    return (await call.mayRepeat?.()) !== false
  } catch {
    return false
  }
}

/** Waits; false if it is given up meanwhile. */
function rest(milliseconds: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (whole: boolean) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      resolve(whole)
    }
    const stop = () => end(false)
    const timer = setTimeout(() => end(true), milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted === true) stop()
  })
}

function same(text: string): string {
  return text
}
