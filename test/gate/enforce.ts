import { expect } from 'vitest'
import { Playbook, type PlaybookDefinition } from '../../src/playbook/playbook.ts'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import type { DenialCode } from '../../src/run/denial-code.ts'
import type { EnforcementResult } from '../../src/tool/enforcement-result.ts'
import type { EnforcerOptions, ProposedCall, RecordedOutcome } from '../../src/tool/enforcer-options.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'

/** A step as these tests write it: `step('a')` is a step `a` that expects the one tool `a`. */
export function step(
  id: string,
  fields: Omit<Partial<PlaybookStepDefinition>, 'id'> = {},
): PlaybookStepDefinition {
  return { id, description: `Do ${id}`, expectedTools: [id], ...fields }
}

/** A playbook of these steps. */
export function playbookOf(
  steps: readonly PlaybookStepDefinition[],
  fields: Omit<Partial<PlaybookDefinition>, 'steps'> = {},
): Playbook {
  return new Playbook({ id: 'p', name: 'P', steps, ...fields })
}

/** A run of a playbook of these steps. */
export function enforce(
  steps: readonly PlaybookStepDefinition[],
  fields: Omit<Partial<PlaybookDefinition>, 'steps'> = {},
  options: EnforcerOptions = {},
): PlaybookEnforcer {
  return PlaybookEnforcer.fromPlaybook(playbookOf(steps, fields), options)
}

/** Makes calls one after another, each allowed and recorded; by default as succeeded. */
export function make(
  enforcer: PlaybookEnforcer,
  tools: string | readonly string[],
  outcome: RecordedOutcome = {},
  args?: ProposedCall['arguments'],
): void {
  for (const tool of typeof tools === 'string' ? [tools] : tools) {
    const { callId } = admit(enforcer, tool, args)
    enforcer.recordToolCall(tool, { callId: callId!, ...outcome })
  }
}

/** Gets a call admitted and leaves its ticket open. */
export function admit(
  enforcer: PlaybookEnforcer,
  tool: string,
  args?: ProposedCall['arguments'],
): EnforcementResult {
  const result = enforcer.validateToolCall(tool, args === undefined ? {} : { arguments: args })
  expect(result.allowed, `${tool}: ${result.violation?.message}`).toBe(true)
  return result
}

/** The code a call is refused with; null if it is allowed, which opens its ticket. */
export function refusal(
  enforcer: PlaybookEnforcer,
  tool: string,
  args?: ProposedCall['arguments'],
): DenialCode | null {
  const result = enforcer.validateToolCall(tool, args === undefined ? {} : { arguments: args })
  expect(result.allowed).toBe(result.code === null)
  return result.code
}

/** The code a call would be refused with; reserves nothing. */
export function forecast(
  enforcer: PlaybookEnforcer,
  tool: string,
  args?: ProposedCall['arguments'],
): DenialCode | null {
  return enforcer.validateToolCalls([{ tool, ...(args === undefined ? {} : { arguments: args }) }])[0]!.code
}

/** Where every step stands, as `a completed, b pending`. */
export function statuses(enforcer: PlaybookEnforcer): string {
  return enforcer.plan.executions.map(({ stepId, status }) => `${stepId} ${status}`).join(', ')
}

/** The phase of a step. */
export function phase(enforcer: PlaybookEnforcer, stepId: string): string {
  return enforcer.snapshot().state.activations.find((each) => each.step === stepId)?.phase ?? 'waiting'
}

/** A clock that stands still until it is told to move. */
export function fakeClock(now = 1_000_000): (() => number) & { pass(seconds: number): void } {
  return Object.assign(() => now, {
    pass(seconds: number) {
      now += seconds * 1000
    },
  })
}
