import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { ExpressionError } from '../expression/expression-error.ts'
import type { Condition } from '../playbook/compile-playbook.ts'
import type { Activation } from './activation.ts'
import type { RunState } from './state.ts'

/** Says whether a step's evidence is there: its tools or its condition (G6), a declaration aside. */
export function hasEvidence(state: RunState, step: CompiledStep, activation: Activation): boolean {
  const { completion } = step
  switch (completion.kind) {
    case 'declared':
      return true
    case 'tools':
      return activation.succeededTools.length >= completion.need
    case 'condition':
      return holds(state, completion.condition, activation)
  }
}

/** Says whether a step completes only when somebody declares it complete (G7). */
export function needsDeclaration(step: CompiledStep): boolean {
  return step.completion.kind === 'declared' || (step.completion.kind === 'tools' && step.completion.declared)
}

/** Says whether a step's validation holds (G6). */
export function isValid(state: RunState, step: CompiledStep, activation: Activation): boolean {
  return (
    activation.results.length >= step.minToolCalls &&
    activation.missingKeywords.length === 0 &&
    (step.resultSchema === null || schemaProblems(step, activation).length === 0) &&
    (step.validation === null || holds(state, step.validation, activation))
  )
}

/** What a step's evidence still lacks, in words; empty if nothing. */
export function missingEvidence(state: RunState, step: CompiledStep, activation: Activation): string[] {
  if (hasEvidence(state, step, activation)) return []
  const { completion } = step
  if (completion.kind === 'condition') return [`complete_when does not hold: ${completion.condition.source}`]
  if (completion.kind !== 'tools') return []
  const left = [...step.tools].filter((tool) => !activation.succeededTools.includes(tool))
  const short = completion.need - activation.succeededTools.length
  return [`still to succeed: ${short === left.length ? '' : `${short} of `}${left.join(', ')}`]
}

/** What a step's validation still lacks, in words; empty if nothing. */
export function missingValidation(state: RunState, step: CompiledStep, activation: Activation): string[] {
  const reasons: string[] = []
  if (activation.results.length < step.minToolCalls) {
    reasons.push(`${activation.results.length} of at least ${step.minToolCalls} calls have succeeded`)
  }
  if (activation.missingKeywords.length > 0) {
    reasons.push(`no result contains ${activation.missingKeywords.map((word) => `"${word}"`).join(', ')}`)
  }
  if (step.resultSchema !== null) reasons.push(...schemaProblems(step, activation))
  if (step.validation !== null && !holds(state, step.validation, activation)) {
    reasons.push(`the validation does not hold: ${step.validation.source}`)
  }
  return reasons
}

/** The latest result speaks for the step: an earlier good one does not outweigh it. */
function schemaProblems(step: CompiledStep, activation: Activation): string[] {
  if (activation.results.length === 0) return ['no result yet to hold against result_schema']
  return step
    .resultSchema!.check(activation.results.at(-1)!)
    .map((problem) => `the latest result: ${problem}`)
}

/** A condition that cannot be evaluated does not hold. */
function holds(state: RunState, condition: Condition, activation: Activation): boolean {
  const value = condition.evaluate(
    [state.inputs, state.stepsView, activation.results, activation.results.length],
    state.past,
  )
  return !(value instanceof ExpressionError) && value === true
}
