import type { PlaybookStep } from '../playbook/playbook-step.ts'
import type { RunEvent } from '../run/event.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import { shortText } from '../shared/short-text.ts'
import type { CallOutcome } from '../tool/run-call.ts'
import { untilAborted } from './until-aborted.ts'

/** A call the model proposes, before the gate judges it. */
export interface HookedCall {
  readonly run: string
  readonly callId: string
  readonly tool: string
  readonly arguments: unknown
  /** The step that is due. */
  readonly step: PlaybookStep | null
  /** Aborts when the run is cancelled or put down: nobody waits for the hook any more. */
  readonly signal: AbortSignal
}

/** A turn of the model that is about to begin. */
export interface BegunTurn {
  readonly run: string
  readonly number: number
  readonly signal: AbortSignal
}

/** What a model answered. */
export interface AnsweredTurn extends BegunTurn {
  readonly text: string
  readonly calls: readonly { readonly tool: string; readonly arguments: unknown }[]
}

/** Something that happened to a step. */
export type StepEvent = Extract<RunEvent, { readonly type: `step.${string}` }>

type Answer<Value> = Value | undefined | void | Promise<Value | undefined | void>

/**
 * What a host may do around the model and its calls. Hooks run in the order of the list before something happens, and in the
 * reverse order after it. A hook that throws before a call denies it; hooks can make a verdict stricter, never milder, because
 * the gate judges what they leave (G14). A run that is cancelled or put down waits for none.
 */
export interface AgentHook {
  readonly name?: string
  /** May stop the run before the model is asked. */
  beforeModelCall?(turn: BegunTurn): Answer<{ readonly deny: string }>
  /** May stop the run before anything of the answer is carried out. A turn that is resumed is shown once more. */
  afterModelCall?(turn: AnsweredTurn): Answer<{ readonly deny: string }>
  /** May deny the call, or replace its arguments before they are fixed. */
  beforeToolCall?(call: HookedCall): Answer<{ readonly deny: string } | { readonly arguments: JsonObject }>
  /** May replace what the model is shown; the record keeps what the tool said. */
  afterToolCall?(call: HookedCall & { readonly outcome: CallOutcome }): Answer<{ readonly result: Json }>
  /** Hears of every step that moves. If it throws, nothing more is let through and the run fails. */
  onStep?(event: StepEvent): unknown
}

/** Asks the hooks before the model is asked: why it is not to be, or null. */
export async function runBeforeModelCall(
  hooks: readonly AgentHook[],
  turn: BegunTurn,
): Promise<string | null> {
  for (const hook of hooks) {
    const denied = await denial(hook, turn.signal, () => hook.beforeModelCall?.(turn))
    if (denied !== null) return denied
  }
  return null
}

/** Shows the hooks what the model answered, before any of it is carried out: why it is not to be, or null. */
export async function runAfterModelCall(
  hooks: readonly AgentHook[],
  turn: AnsweredTurn,
): Promise<string | null> {
  for (const hook of hooks.toReversed()) {
    const denied = await denial(hook, turn.signal, () => hook.afterModelCall?.(turn))
    if (denied !== null) return denied
  }
  return null
}

async function denial(hook: AgentHook, signal: AbortSignal, ask: () => unknown): Promise<string | null> {
  try {
    const answer = await untilAborted(signal, ask)
    if (answer === undefined || answer === null) return null
    const deny = (answer as { readonly deny?: unknown }).deny
    return typeof deny === 'string' ? reasonOf(hook, deny) : `${nameOf(hook)} answered with what it cannot`
  } catch (error) {
    return `${nameOf(hook)} failed: ${messageOf(error)}`
  }
}

/** What the hooks leave of a call: its arguments, or why it is vetoed. */
export async function runBeforeToolCall(
  hooks: readonly AgentHook[],
  call: HookedCall,
): Promise<{ readonly arguments: unknown; readonly veto: string | null }> {
  let args = call.arguments
  for (const hook of hooks) {
    if (hook.beforeToolCall === undefined) continue
    try {
      // A copy: what a hook changes in place is not what it replaces.
      const given = { ...call, arguments: structuredClone(args) }
      const answer: unknown = await untilAborted(call.signal, () => hook.beforeToolCall?.(given))
      if (answer === undefined || answer === null) continue
      const { deny, arguments: replaced } = answer as { deny?: unknown; arguments?: unknown }
      if (deny !== undefined) return { arguments: args, veto: reasonOf(hook, String(deny)) }
      if (replaced === undefined)
        return { arguments: args, veto: `${nameOf(hook)} answered with what it cannot` }
      args = replaced
    } catch (error) {
      return { arguments: args, veto: `${nameOf(hook)} failed: ${messageOf(error)}` }
    }
  }
  return { arguments: args, veto: null }
}

/** How long a hook may still take over a call that is done, so that a run which is put down loses no result. */
const graceMs = 1_000

/** What the model is shown after the hooks have seen the outcome; undefined where none replaces it. */
export async function runAfterToolCall(
  hooks: readonly AgentHook[],
  call: HookedCall & { readonly outcome: CallOutcome },
): Promise<Json | undefined> {
  let shown: Json | undefined
  for (const hook of hooks.toReversed()) {
    try {
      const answer = await untilAborted(call.signal, () => hook.afterToolCall?.(call), graceMs)
      if (answer === undefined || answer === null) continue
      const reading = toJson(answer.result, partLimits)
      shown = reading.problem === null ? reading.value : `[not shown: ${nameOf(hook)} left no JSON]`
    } catch (error) {
      // The call is done, so it cannot be denied any more; but what the hook should have kept back is not shown.
      shown = `[not shown: ${nameOf(hook)} failed: ${messageOf(error)}]`
    }
  }
  return shown
}

/** Tells the hooks of a step that moved; one that fails says why through `failed`, at once or later. */
export function runOnStep(
  hooks: readonly AgentHook[],
  event: StepEvent,
  failed: (reason: string) => void,
): void {
  for (const hook of hooks) {
    if (hook.onStep === undefined) continue
    const fail = (error: unknown) => failed(`${nameOf(hook)} failed: ${messageOf(error)}`)
    try {
      const answer: unknown = hook.onStep(event)
      if (answer instanceof Promise) answer.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}

/** What a hook says of its denial; a denial without a word still is one, and says whose it is. */
function reasonOf(hook: AgentHook, deny: string): string {
  return deny.trim() === '' ? `${nameOf(hook)} denied it without a reason` : shortText(deny)
}

function nameOf(hook: AgentHook): string {
  return hook.name ?? 'a hook'
}
