import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { expected, isDisclosed } from '../run/describe-denial.ts'
import { needsDeclaration } from '../run/satisfaction.ts'
import { currentStep, isComplete, type RunState } from '../run/state.ts'

/** What a model is told once: that it is held to a playbook, and the steps it may know of (G10). */
export function outline(state: RunState): string {
  const { playbook, steps } = state.compiled
  if (steps.length === 0) return ''
  const known = steps.filter((step) => isDisclosed(state, step))
  const lines = known.map(
    (step) =>
      `${step.index + 1}. ${step.id}${step.required ? '' : ' (optional)'}${step.call === null ? '' : ' (done for you)'}: ${step.source.description}`,
  )
  const hidden = steps.length - known.length
  return [
    `You work through the procedure "${playbook.name}".${playbook.description === '' ? '' : ` ${playbook.description}`}`,
    'Every tool call is checked against it before it is made. A call that does not fit is refused and not executed; the refusal says why and what to do.',
    `Its steps${playbook.strictSequence ? ', in this order' : ''}:`,
    ...lines,
    ...(hidden === 0 ? [] : [`… and ${hidden} more, which you will be told when their turn comes.`]),
    'Give your final answer when every required step is done, not before.',
  ].join('\n')
}

/** What a model is told each turn: which step is due, what it may use, and what helps (G10). */
export function brief(state: RunState): string {
  if (state.compiled.steps.length === 0) return ''
  if (isComplete(state)) return 'Every step is done. Give your final answer now.'
  const current = currentStep(state)
  if (current === null) return ''
  const step = state.compiled.steps[current]!
  return [
    `Now: step ${current + 1} of ${state.compiled.steps.length}, ${step.id}: ${step.source.description}`,
    `Tools for it: ${expected(step)}.`,
    ...step.source.hints.map((hint) => `Hint: ${hint}`),
    ...howToEnd(step),
  ].join('\n')
}

function howToEnd(step: CompiledStep): string[] {
  const lines = needsDeclaration(step) ? ['When it is done, call complete_step.'] : []
  return step.required ? lines : [...lines, 'It is optional: skip_step passes it.']
}
