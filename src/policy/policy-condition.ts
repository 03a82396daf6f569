import { compileExpression, type CompileResult } from '../expression/compile-expression.ts'
import { ExpressionError } from '../expression/expression-error.ts'
import type { ExpressionValue } from '../expression/expression-value.ts'
import type { PastIndex } from '../playbook/compile-playbook.ts'
import { type Past, pastFunctions } from '../playbook/condition-scope.ts'
import { pastShape } from '../playbook/past-query.ts'
import { invariant } from '../shared/lockstep-error.ts'
import type { Situation } from './situation.ts'

/** The names that a condition of a policy sees, in the order of their slots. */
export const policyNames = [
  'args',
  'context',
  'inputs',
  'step',
  'tool',
  'risk',
  'target',
  'principal',
  'roles',
  'mode',
] as const

/** Checks a condition of a policy and compiles it. */
export function compilePolicyExpression(source: string): CompileResult<Past> {
  return compileExpression<Past>(source, {
    profile: 'condition',
    names: policyNames,
    functions: pastFunctions,
  })
}

/** A condition ready to be judged, and the questions about the past that it asks. */
export interface PolicyCondition {
  readonly source: string
  readonly questions: readonly (PastIndex & { readonly tool: string })[]
  /** Those of the given arguments that it looks at. */
  looksAt(names: readonly string[]): readonly string[]
  /** Whether it holds, or in words why nobody can say. */
  judge(situation: Situation): boolean | string
}

/** Compiles a condition that has been checked. */
export function compileCondition(source: string): PolicyCondition {
  const { expression, errors } = compilePolicyExpression(source)
  invariant(expression !== null, `unchecked condition: ${errors[0]?.message}`)
  const questions = expression.calls.map(({ literal, keywords }) => ({
    tool: literal ?? '',
    shape: pastShape(literal ?? '', keywords),
    names: keywords.toSorted(),
  }))
  return {
    source,
    questions,
    looksAt(names) {
      const looked = expression.references.filter(({ name }) => name === 'args')
      // Whoever looks at all arguments, or at one by a worked-out name, looks at each.
      return names.filter((name) => looked.some(({ path: [member] }) => (member ?? name) === name))
    },
    judge({ values, facts }) {
      const { past } = facts
      for (let index = 0; index < questions.length; index++) {
        const { shape } = questions[index]!
        // A past that does not keep an index would answer as if nothing had happened.
        if (past === null || !past.shapes.has(shape)) return `the past does not tell about ${shape}`
      }
      const value = expression.evaluate(values, past ?? nothing)
      if (value === true || value === false) return value
      return value instanceof ExpressionError ? value.message : 'it is neither true nor false'
    },
  }
}

const nothing: Past = { tally: () => undefined }

/** The values of the names, in the order of their slots. */
export function conditionValues(
  situation: Omit<Situation, 'values'>,
): readonly (ExpressionValue | undefined)[] {
  const { request, facts, risk } = situation
  const { id, kind, roles } = facts.principal
  return [
    request.args ?? undefined,
    facts.context,
    facts.inputs,
    request.step,
    request.tool,
    risk,
    request.target,
    { id, kind },
    roles,
    facts.mode,
  ]
}
