import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { unknownCall } from '../run/decide-call.ts'
import { findOwner } from '../run/find-owner.ts'
import { currentStep, type RunState } from '../run/state.ts'
import { controlMove, controlTools } from '../tool/control-tool.ts'
import type { OfferedTool, Tool } from '../tool/tool.ts'

/**
 * The tools a model is told of: those that could be called now (G10), so the list changes only when a step does; or all of them,
 * always, where `offer` says so. Once every step is done it is told of one move that will be refused, because services turn a
 * conversation with calls in it away when no tool comes with it.
 */
export function offeredTools(state: RunState, tools: Iterable<Tool>, offer: 'legal' | 'all'): OfferedTool[] {
  const all = offer === 'all' || !state.enforced
  const offered = [...tools].filter(({ name, risk }) => all || isLegal(state, name, risk))
  const control = controlsOf(state, all)
  const some = [...offered, ...control]
  return some.length > 0 || state.compiled.steps.length === 0 ? some : controlTools(null, true).slice(0, 1)
}

/** The names among these that could be called now, caps and arguments aside, and the control tools that apply. */
export function legalTools(state: RunState, names: readonly string[]): string[] {
  const control = controlsOf(state, false)
  return [...names.filter((name) => isLegal(state, name)), ...control.map(({ name }) => name)]
}

function controlsOf(state: RunState, always: boolean): OfferedTool[] {
  if (state.compiled.steps.length === 0) return []
  const tools = controlTools(dueStep(state), always)
  // Which bullets a program leaves out is not for a model to say.
  return state.program === null ? tools : tools.filter(({ name }) => controlMove(name) !== 'skip')
}

function isLegal(state: RunState, tool: string, risk: Tool['risk'] | null = null): boolean {
  return typeof findOwner(state, tool, risk) !== 'string' && unknownCall(state, tool) === null
}

function dueStep(state: RunState): CompiledStep | null {
  const current = currentStep(state)
  return current === null ? null : state.compiled.steps[current]!
}
