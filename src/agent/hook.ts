import type { PlaybookStep } from '../playbook/playbook-step.ts'
import type { RunEvent } from '../run/event.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { CallOutcome } from '../tool/run-call.ts'

/** A call the model proposes, before the gate judges it. */
export interface HookedCall {
  readonly run: string
  readonly callId: string
  readonly tool: string
  readonly arguments: unknown
  /** The step that is due. */
  readonly step: PlaybookStep | null
}

type Answer<Value> = Value | undefined | void | Promise<Value | undefined | void>

/**
 * What a host may do around the model and its calls. Hooks run in the order of the list before something happens, and in the
 * reverse order after it. A hook that throws before a call denies it; hooks can make a verdict stricter, never milder, because
 * the gate judges what they leave (G14).
 */
export interface AgentHook {
  readonly name?: string
  /** May stop the run before the model is asked. */
  beforeModelCall?(turn: { readonly run: string; readonly number: number }): Answer<{ readonly deny: string }>
  afterModelCall?(turn: {
    readonly run: string
    readonly number: number
    readonly text: string
    readonly calls: readonly { readonly tool: string; readonly arguments: unknown }[]
  }): Answer<never>
  /** May deny the call, or replace its arguments before they are fixed. */
  beforeToolCall?(call: HookedCall): Answer<{ readonly deny: string } | { readonly arguments: JsonObject }>
  /** May replace what the model is shown; the record keeps what the tool said. */
  afterToolCall?(call: HookedCall & { readonly outcome: CallOutcome }): Answer<{ readonly result: Json }>
  /** Hears of every step that moves. */
  onStep?(event: Extract<RunEvent, { readonly step: string }>): void
}

/** What the hooks leave of a call: its arguments, or why it is vetoed. */
export async function runBeforeToolCall(
  hooks: readonly AgentHook[],
  call: HookedCall,
): Promise<{ readonly arguments: unknown; readonly veto: string | null }> {
  let args = call.arguments
  for (const hook of hooks) {
    try {
      const answer = await hook.beforeToolCall?.({ ...call, arguments: args })
      if (answer === undefined || answer === null) continue
      if ('deny' in answer) return { arguments: args, veto: String(answer.deny) }
      args = answer.arguments
    } catch (error) {
      return { arguments: args, veto: `${hook.name ?? 'a hook'} failed: ${messageOf(error)}` }
    }
  }
  return { arguments: args, veto: null }
}

/** What the model is shown after the hooks have seen the outcome; undefined where none replaces it. */
export async function runAfterToolCall(
  hooks: readonly AgentHook[],
  call: HookedCall & { readonly outcome: CallOutcome },
): Promise<Json | undefined> {
  let shown: Json | undefined
  for (const hook of hooks.toReversed()) {
    try {
      const answer = await hook.afterToolCall?.(call)
      if (answer !== undefined && answer !== null) shown = answer.result
    } catch (error) {
      // The call is done, so it cannot be denied any more; but what the hook should have kept back is not shown.
      shown = `[not shown: ${hook.name ?? 'a hook'} failed: ${messageOf(error)}]`
    }
  }
  return shown
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
