import { findOwner } from '../run/find-owner.ts'
import { currentStep, type RunState } from '../run/state.ts'
import type { Tool } from '../tool/tool.ts'
import { controlTools } from './control-tool.ts'
import type { OfferedTool } from './model-turn.ts'

/**
 * The tools a model is told of: those that could be called now (G10), so the list changes only when a step does; or all of them,
 * always, where `offer` says so.
 */
export function offeredTools(state: RunState, tools: Iterable<Tool>, offer: 'legal' | 'all'): OfferedTool[] {
  const all = offer === 'all' || !state.enforced
  const current = currentStep(state)
  const offered = [...tools].filter((tool) => all || typeof findOwner(state, tool.name) !== 'string')
  const step = current === null ? null : state.compiled.steps[current]!
  const control = state.compiled.steps.length === 0 ? [] : controlTools(step, all)
  return [...offered, ...control].map(({ name, description, input }) => ({ name, description, input }))
}
