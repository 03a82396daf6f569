import type { DocumentPath } from '../document/diagnostic.ts'
import {
  type CompiledExpression,
  compileExpression,
  type ExpressionReference,
} from '../expression/compile-expression.ts'
import { type CheckContext, callTools, closedTools, stepPath } from './check-context.ts'
import { callScopes } from './compile-input.ts'
import { resolveCompleteWhen } from './complete-when.ts'
import { type Past, pastFunctions, scopes } from './condition-scope.ts'

/** A condition of the playbook: where it stands, which decides what it may look at, and its text. */
type Place = {
  readonly names: readonly string[]
  readonly path: DocumentPath
  readonly source: string
}

const stepMembers = ['status', 'result', 'calls', 'output']

/** Reports conditions that do not parse, or that look at inputs, steps or tools that do not exist. */
export function checkConditions(context: CheckContext, names: Names): void {
  for (const place of conditionsOf(context)) {
    const { expression, errors } = compileExpression<Past>(place.source, {
      profile: 'condition',
      names: place.names,
      functions: pastFunctions,
    })
    for (const error of errors) {
      const message = `${context.wording.place(place.path)}: ${error.message}`
      context.report('invalid_expression', place.path, message, {
        range: { start: error.start, end: error.end },
      })
    }
    if (expression !== null) checkReferences(expression, place, names, context)
  }
}

function* conditionsOf({ draft }: CheckContext): Generator<Place> {
  for (const step of draft.steps) {
    if (step.when !== null) yield { names: scopes.when, path: stepPath(step, 'when'), source: step.when }
    const completion = step.complete_when === null ? null : resolveCompleteWhen(step.complete_when)
    if (typeof completion === 'object' && completion !== null) {
      yield { names: scopes.evidence, path: stepPath(step, 'complete_when'), source: completion.expression }
    }
    const { expression } = step.validation
    if (expression !== undefined) {
      yield { names: scopes.evidence, path: stepPath(step, 'validation', 'expression'), source: expression }
    }
    if (step.verify !== null) {
      const path = stepPath(step, 'verify', 'expect')
      yield { names: callScopes.expect, path, source: step.verify.expect }
    }
    for (const [tool, { require }] of Object.entries(step.arguments)) {
      if (require !== undefined)
        yield { names: scopes.require, path: stepPath(step, 'arguments', tool, 'require'), source: require }
    }
  }
  for (const [index, rule] of draft.rules.entries()) {
    yield { names: scopes.require, path: ['rules', index, 'require'], source: rule.require }
  }
}

/** The names that conditions may use; null where that is not known. */
export type Names = {
  readonly inputs: readonly string[] | null
  readonly steps: ReadonlySet<string> | null
  readonly tools: ReadonlySet<string> | null
}

/** The names of a playbook as far as they could be read. */
export function knownNames(context: CheckContext): Names {
  const { draft, alone, tools } = context
  const idsKnown = !alone && !draft.broken('steps') && draft.steps.every((step) => !step.broken('id'))
  const expected = draft.steps.flatMap((step) => [...step.expected_tools, ...callTools(step)])
  return {
    inputs: alone || draft.broken('inputs') ? null : Object.keys(draft.inputs),
    steps: idsKnown ? new Set(draft.steps.map((step) => step.id)) : null,
    tools: closedTools(context) ?? (tools === null ? null : new Set([...tools, ...expected])),
  }
}

function checkReferences(
  expression: CompiledExpression<Past>,
  place: Place,
  names: Names,
  context: CheckContext,
): void {
  checkNames(expression.references, place.path, names, context)
  const { report, wording, didYouMean } = context
  const owner = wording.place(place.path)
  for (const call of expression.calls) {
    const tool = call.literal
    if (tool === null || names.tools === null || names.tools.has(tool)) continue
    const at = place.source.indexOf(tool, call.start)
    const range = at === -1 ? { start: call.start, end: call.end } : { start: at, end: at + tool.length }
    const message = `${owner} asks about the tool \`${tool}\`, which no step expects`
    report('unknown_tool', place.path, message, { range, ...didYouMean(tool, names.tools) })
  }
}

/** Reports inputs and steps that do not exist, and members that steps do not have. */
export function checkNames(
  references: readonly ExpressionReference[],
  place: DocumentPath,
  names: Names,
  { report, wording, didYouMean }: CheckContext,
): void {
  const owner = wording.place(place)
  for (const { name, path, start, end } of references) {
    const [first, second] = path
    if (first === undefined) continue
    const range = { start, end }
    if (name === 'inputs' && names.inputs !== null && !names.inputs.includes(first)) {
      const message = `${owner} uses the input \`${first}\`, which does not exist`
      report('unknown_input', place, message, { range, ...didYouMean(first, names.inputs) })
    }
    if (name !== 'steps') continue
    if (names.steps !== null && !names.steps.has(first)) {
      const message = `${owner} uses the step \`${first}\`, which does not exist`
      report('unknown_step', place, message, { range, ...didYouMean(first, names.steps) })
    } else if (second !== undefined && !stepMembers.includes(second)) {
      const message = `${owner}: a step has ${stepMembers.map((member) => `\`${member}\``).join(', ')}, not \`${second}\``
      report('invalid_expression', place, message, {
        range,
        ...didYouMean(second, stepMembers),
      })
    }
  }
}
