import { type CompiledExpression, compileExpression } from '../expression/compile-expression.ts'
import { type CheckContext, stepPath } from './check-context.ts'
import { checkReferences, type Names, type Reader, reportErrors } from './check-references.ts'
import { callScopes } from './compile-input.ts'
import { resolveCompleteWhen } from './complete-when.ts'
import { type Past, pastFunctions, scopes } from './condition-scope.ts'

/** A condition of the playbook: where it stands, which decides what it may look at, and its text. */
type Place = Reader & { readonly names: readonly string[] }

/** Reports conditions that do not parse, or that look at inputs, steps or tools that do not exist. */
export function checkConditions(context: CheckContext, names: Names): void {
  for (const place of conditionsOf(context)) {
    const { expression, errors } = compileExpression<Past>(place.source, {
      profile: 'condition',
      names: place.names,
      functions: pastFunctions,
    })
    reportErrors(errors, place, names, context)
    if (expression === null) continue
    checkReferences(expression.references, place, names, context)
    checkPast(expression, place, names, context)
  }
}

function* conditionsOf({ draft }: CheckContext): Generator<Place> {
  for (const step of draft.steps) {
    const isCall = step.tool !== null
    if (step.when !== null) {
      const needs = isCall ? 'all' : 'output'
      yield { names: scopes.when, path: stepPath(step, 'when'), source: step.when, step, needs }
    }
    const completion = step.complete_when === null ? null : resolveCompleteWhen(step.complete_when)
    const evidence = { names: scopes.evidence, step, needs: 'nothing' } as const
    if (typeof completion === 'object' && completion !== null) {
      yield { ...evidence, path: stepPath(step, 'complete_when'), source: completion.expression }
    }
    const { expression } = step.validation
    if (expression !== undefined) {
      yield { ...evidence, path: stepPath(step, 'validation', 'expression'), source: expression }
    }
    if (step.verify !== null) {
      const path = stepPath(step, 'verify', 'expect')
      yield { names: callScopes.expect, path, source: step.verify.expect, step, needs: 'all' }
    }
    for (const [tool, { require }] of Object.entries(step.arguments)) {
      if (require === undefined) continue
      const path = stepPath(step, 'arguments', tool, 'require')
      yield { names: scopes.require, path, source: require, step, needs: 'nothing' }
    }
  }
  for (const [index, rule] of draft.rules.entries()) {
    const path = ['rules', index, 'require']
    yield { names: scopes.require, path, source: rule.require, step: null, needs: 'nothing' }
  }
}

/** Reports questions about calls of tools that there are none of. */
function checkPast(
  expression: CompiledExpression<Past>,
  place: Place,
  names: Names,
  { report, wording, didYouMean }: CheckContext,
): void {
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
