import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { unknownCall } from '../run/decide-call.ts'
import { expected } from '../run/describe-denial.ts'
import { findOwner } from '../run/find-owner.ts'
import { currentStep, isComplete, type RunState } from '../run/state.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { CallOutcome } from './run-call.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** What a model is shown of a call: its result, or what went wrong. */
export type ShownOutput =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'json'; readonly value: Json }
  | { readonly type: 'error-text'; readonly value: string }
  | { readonly type: 'error-json'; readonly value: JsonObject }

/** Tells a model what became of its call; a refusal is structured, and marked as not executed (G10). */
export function describeOutcome(
  state: RunState,
  outcome: CallOutcome,
  maxBytes: number,
  tools: Pick<ToolRegistry, 'get'> | null = null,
): ShownOutput {
  switch (outcome.status) {
    case 'succeeded':
      return describeResult(outcome.result ?? null, maxBytes)
    case 'failed':
      return {
        type: 'error-text',
        value: `The call failed, and nothing was applied: ${cut(outcome.error, maxBytes)}`,
      }
    case 'unknown':
      return {
        type: 'error-text',
        value: `Nobody knows whether the call took effect: ${cut(outcome.error, maxBytes)}. Do not repeat it; a person has to find out.`,
      }
    case 'held':
      return describeRefusal(state, 'awaiting_approval', outcome.error, tools)
    case 'denied':
      return describeRefusal(state, outcome.enforcement?.code ?? 'denied', outcome.error, tools)
    case 'not_executed':
      return describeRefusal(state, 'not_executed', outcome.error, tools)
  }
}

/** A refusal as a model reads it: the code, where it stands, and what it may do. */
export function describeRefusal(
  state: RunState,
  code: string,
  message: string,
  tools: Pick<ToolRegistry, 'get'> | null = null,
): ShownOutput {
  const current = currentStep(state)
  const step = current === null ? null : state.compiled.steps[current]!
  // What is refused because nobody knows how it ended is not what is to be done next.
  const usable = step === null ? [] : usableTools(state, step, tools)
  const allowed = usable.filter((tool) => unknownCall(state, tool) === null)
  return {
    type: 'error-json',
    value: {
      executed: false,
      code,
      message,
      step: step?.id ?? null,
      allowed,
      next: nextMove(state, step, usable, allowed),
    },
  }
}

/** The tools of a step that a model may call at all: a bullet of a program may name some that are kept from it. */
export function usableTools(
  state: RunState,
  step: CompiledStep,
  tools: Pick<ToolRegistry, 'get'> | null,
): readonly string[] {
  const all = [...step.tools]
  if (state.program?.pending?.kind !== 'act') return all
  return all.filter((tool) => typeof findOwner(state, tool, tools?.get(tool)?.risk ?? null) !== 'string')
}

function nextMove(
  state: RunState,
  step: CompiledStep | null,
  usable: readonly string[],
  allowed: readonly string[],
): string {
  if (state.ended !== null) return 'The run has ended: nothing more can be done in it.'
  if (isComplete(state)) return 'Give your final answer.'
  if (step === null) return 'Nothing can be called now.'
  if (allowed.length === usable.length)
    return `Work on step ${step.id}: ${usable.length === step.tools.size ? expected(step) : usable.join(', ') || 'no tool'}.`
  const waits = `Step ${step.id} waits for a person, who has to find out what became of an earlier call.`
  return allowed.length === 0 ? waits : `${waits} Until then: ${allowed.join(', ')}.`
}

/** A result for the model, cut where it is too long, with a note that it was. */
export function describeResult(result: Json, maxBytes: number): ShownOutput {
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  const shown = cut(text, maxBytes)
  return shown !== text || typeof result === 'string'
    ? { type: 'text', value: shown }
    : { type: 'json', value: result }
}

function cut(text: string, maxBytes: number): string {
  // A character has three bytes at most for each unit of its length, so most texts need not be counted.
  if (text.length * 3 <= maxBytes) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxBytes) return text
  // Streaming leaves a character that was cut in two out.
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
  return `${kept}\n[cut: this has ${bytes.length} bytes, of which you see ${maxBytes}]`
}
