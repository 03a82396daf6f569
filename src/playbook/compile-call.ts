import type { JsonObject } from '../shared/json.ts'
import type { Condition } from './compile-playbook.ts'
import { checkedInput, type CallScope, type CompiledInput } from './compile-input.ts'
import type { PlaybookStep } from './playbook-step.ts'

/** How often a call is tried, and how long is waited in between. */
export interface Retry {
  readonly attempts: number
  readonly delayMs: number
  readonly backoff: number
  readonly maxDelayMs: number
}

/** A tool, and its arguments as templates. */
export interface CallTemplate {
  readonly tool: string
  readonly input: CompiledInput
}

/** The call that a step is, and what goes with it. */
export interface CompiledCall extends CallTemplate {
  readonly retry: Retry
  /** What it is made once for each item of; null where it is made once. */
  readonly foreach: CompiledInput | null
  readonly concurrency: number
  /** A call that only reads, and what must hold of its result before the step counts. */
  readonly verify: (CallTemplate & { readonly expect: Condition; readonly retry: Retry }) | null
  readonly compensate: CallTemplate | null
}

/** The call of a step, compiled; null where a model works on the step. */
export function compileCall(
  step: PlaybookStep,
  condition: (source: string) => Condition,
): CompiledCall | null {
  const { tool, input, verify, compensate } = step
  if (tool === null) return null
  return {
    ...template({ tool, input }, 'input'),
    retry: retryOf(step.retry),
    foreach: step.foreach === null ? null : checkedInput(step.foreach, 'foreach'),
    concurrency: step.concurrency,
    verify:
      verify === null
        ? null
        : {
            ...template(verify, 'after'),
            expect: condition(verify.expect),
            retry: retryOf(verify.retry),
          },
    compensate: compensate === null ? null : template(compensate, 'after'),
  }
}

function template(
  { tool, input }: { readonly tool: string; readonly input: JsonObject },
  scope: CallScope,
): CallTemplate {
  return { tool, input: checkedInput(input, scope) }
}

function retryOf(retry: PlaybookStep['retry']): Retry {
  return {
    attempts: retry.attempts,
    delayMs: retry.delaySeconds * 1000,
    backoff: retry.backoff,
    maxDelayMs: retry.maxDelaySeconds * 1000,
  }
}
