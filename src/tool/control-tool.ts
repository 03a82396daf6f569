import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { needsDeclaration } from '../run/satisfaction.ts'
import { currentStep } from '../run/state.ts'
import type { Gate } from './gate.ts'
import type { OfferedTool } from './tool.ts'

/** The moves of a step that a model may ask for. */
export type ControlMove = 'complete' | 'skip' | 'fail'

const described: Readonly<Record<ControlMove, { readonly description: string; readonly argument: string }>> =
  {
    complete: { description: 'Declares the current step complete.', argument: 'result' },
    skip: { description: 'Skips the current step, which is optional.', argument: 'reason' },
    fail: { description: 'Gives the current step up, because it cannot be done.', argument: 'error' },
  }

const names: Readonly<Record<string, ControlMove>> = {
  complete_step: 'complete',
  skip_step: 'skip',
  fail_step: 'fail',
}

/** The names that no other tool may have. */
export const controlToolNames: readonly string[] = Object.keys(names)

/** Which move a tool of that name stands for; null if it is an ordinary tool. */
export function controlMove(tool: string): ControlMove | null {
  return Object.hasOwn(names, tool) ? names[tool]! : null
}

/** The text that comes with a move: what was done, why it is skipped, what went wrong. */
export function controlText(move: ControlMove, args: unknown): string {
  const value = (args as Readonly<Record<string, unknown>> | null)?.[described[move].argument]
  return typeof value === 'string' ? value : ''
}

/** Makes a move of the step that is due, on the model's word; null if it was made, else why not. */
export function moveStep(gate: Gate, move: ControlMove, text: string): string | null {
  const current = currentStep(gate.state)
  if (current === null) return 'No step is due.'
  const step = gate.state.compiled.steps[current]!.id
  const said = text === '' ? null : text
  const by = 'model' as const
  const requests = {
    complete: { type: 'complete', by, step, result: said },
    skip: { type: 'skip', by, step, reason: said },
    fail: { type: 'fail', by, step, error: said ?? 'given up by the agent' },
  } as const
  const refused = gate.move(requests[move])
  return refused === null ? null : `Step '${step}' cannot ${move}: ${refused}.`
}

/** The argument that carries the text of a move. */
export function controlArgument(move: ControlMove): string {
  return described[move].argument
}

/** The control tools that apply to a step; all of them where the list must not change. */
export function controlTools(step: CompiledStep | null, always: boolean): OfferedTool[] {
  const applies: Readonly<Record<ControlMove, boolean>> = {
    complete: step !== null && needsDeclaration(step),
    skip: step !== null && !step.required,
    fail: step !== null,
  }
  return Object.entries(names)
    .filter(([, move]) => always || applies[move])
    .map(([name, move]) => ({
      name,
      description: described[move].description,
      input: { type: 'object', properties: { [described[move].argument]: { type: 'string' } } },
    }))
}
