import type { ExpressionValue } from '../expression/expression-value.ts'
import { conditionValues } from './policy-condition.ts'
import {
  identityKinds,
  policyModes,
  risks,
  type PolicyFacts,
  type PolicyRequest,
  type Risk,
} from './policy-request.ts'

/** A request and its facts, found to have their shape, as rules look at them. */
export interface Situation {
  readonly request: PolicyRequest
  readonly facts: PolicyFacts
  readonly risk: Risk
  /** The values of the names in conditions. */
  readonly values: readonly (ExpressionValue | undefined)[]
}

/** ASCII only, so that a name cannot look like another one. */
const toolName = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$/

/** Looks at a request and its facts; a text says what is wrong with them. Throws only what reading them throws. */
export function readSituation(request: PolicyRequest, facts: PolicyFacts): Situation | string {
  const problem = problemOf(request, facts)
  if (problem !== null) return problem
  const risk = request.risk ?? 'irreversible'
  const situation = { request, facts, risk }
  return { ...situation, values: conditionValues(situation) }
}

function problemOf(request: PolicyRequest, facts: PolicyFacts): string | null {
  if (!isObject(request)) return 'the request is not one'
  if (typeof request.tool !== 'string' || !toolName.test(request.tool))
    return 'the name of the tool is not one'
  if (request.args !== null && !isObject(request.args)) return 'the arguments are not a mapping'
  if (request.step !== null && typeof request.step !== 'string') return 'the step is not a name'
  if (request.target !== null && typeof request.target !== 'string') return 'the target is not a text'
  if (request.undoes !== undefined && typeof request.undoes !== 'boolean')
    return 'it is not known whether the call undoes another'
  const { risk, unknown } = request
  if (unknown !== undefined && !isListOfTexts(unknown)) return 'it is not known which arguments are not known'
  if (risk !== undefined && risk !== null && !risks.includes(risk))
    return 'the risk of the tool is none that is known'
  if (!isObject(facts)) return 'there are no facts'
  if (!Number.isFinite(facts.now)) return 'the time is not known'
  const { principal } = facts
  if (!isObject(principal) || typeof principal.id !== 'string' || principal.id === '')
    return 'nobody is named as asking'
  if (!identityKinds.includes(principal.kind))
    return 'it is not known how the identity of the asker was established'
  if (!isListOfTexts(principal.roles)) return 'the roles of the asker are not known'
  if (!policyModes.includes(facts.mode)) return 'the mode of the run is none that is known'
  if (!isObject(facts.inputs) || !isObject(facts.context))
    return 'the inputs or the context of the run are not known'
  if (facts.past !== null && (!isObject(facts.past) || !(facts.past.shapes instanceof Set)))
    return 'the past is not one'
  if (!isObject(facts.counters)) return 'there are no counters'
  if (facts.spent !== null && !isObject(facts.spent)) return 'what was spent is not known'
  if (facts.breakGlass !== null && typeof facts.breakGlass !== 'string')
    return 'the reason for breaking the glass is not a text'
  return null
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
