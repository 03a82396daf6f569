import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { findOwner } from '../run/find-owner.ts'
import { currentStep, type RunState } from '../run/state.ts'
import { controlTools } from '../tool/control-tool.ts'
import type { OfferedTool, Tool } from '../tool/tool.ts'

/**
 * The tools a model is told of: those that could be called now (G10), so the list changes only when a step does; or all of them,
 * always, where `offer` says so.
 */
export function offeredTools(state: RunState, tools: Iterable<Tool>, offer: 'legal' | 'all'): OfferedTool[] {
  const all = offer === 'all' || !state.enforced
  const known = [...tools]
  const legal = new Set(
    legalTools(
      state,
      known.map(({ name }) => name),
    ),
  )
  const control = state.compiled.steps.length === 0 ? [] : controlTools(dueStep(state), all)
  return [...known.filter(({ name }) => all || legal.has(name)), ...control].map(
    ({ name, description, input }) => ({
      name,
      description,
      input,
    }),
  )
}

/** The names among these that could be called now, caps and arguments aside, and the control tools that apply. */
export function legalTools(state: RunState, names: readonly string[]): string[] {
  const control = state.compiled.steps.length === 0 ? [] : controlTools(dueStep(state), false)
  return [
    ...names.filter((name) => typeof findOwner(state, name) !== 'string'),
    ...control.map(({ name }) => name),
  ]
}

function dueStep(state: RunState): CompiledStep | null {
  const current = currentStep(state)
  return current === null ? null : state.compiled.steps[current]!
}
