import type { Json, JsonObject } from '../../shared/json.ts'
import type { PlaybookStep, StepRetry } from '../playbook-step.ts'
import type { ExplainedStep } from './explanation.ts'
import type { ToolRisks } from './phrase-call.ts'
import { phraseCount, phraseList, phraseSeconds, phraseSentence } from './phrase-name.ts'

const longestValue = 40

/** The call that a step is, as a sentence: what is called with what, and how often. */
export function phraseCallStep({ description, id, tool, input, foreach }: PlaybookStep): string {
  const what = `call ${tool}${phraseInput(input)}${foreach === null ? '' : `, once for each of ${foreach}`}`
  const title = description.trim().replace(/[.:]$/, '')
  return phraseSentence(
    title === '' || title === tool || title === id ? `${id}: ${what}` : `${title}: ${what}`,
  )
}

/** Who sees to a call: the runtime, and before it a person where it has to be approved. */
export function markCall(step: PlaybookStep): Pick<ExplainedStep, 'mark' | 'shape' | 'needsModel'> {
  return step.requiresApproval
    ? { mark: 'asks a person', shape: 'ask', needsModel: 'never' }
    : { mark: 'guaranteed', shape: 'do', needsModel: 'never' }
}

/** The tools that a call, its check and its undoing use. */
export function toolsOfCall({ tool, verify, compensate }: PlaybookStep): readonly string[] {
  return [...new Set([tool, verify?.tool, compensate?.tool].filter((name) => typeof name === 'string'))]
}

/** What the tools can do at worst, as far as that is known. */
export function risksOf(tools: readonly string[], risks: ToolRisks): NonNullable<ExplainedStep['risks']> {
  return Object.fromEntries(tools.filter((tool) => risks.has(tool)).map((tool) => [tool, risks.get(tool)!]))
}

/** What the gate keeps about a call, each as what it is about and the rule. */
export function* rulesOfCall(step: PlaybookStep): Generator<readonly [text: string, rule: string]> {
  const { requiresApproval, requiredRoles, retry, verify, compensate, foreach, concurrency } = step
  if (requiresApproval) {
    const who =
      requiredRoles.length === 0 ? 'somebody' : `somebody with the role ${phraseList(requiredRoles, 'or')}`
    yield ['its approval', `it waits until ${who} approves, who is not the one who started the run`]
  }
  if (foreach !== null && concurrency > 1) yield ['its items', `at most ${concurrency} side by side`]
  if (retry.attempts > 1)
    yield ['its retries', `${phraseRetry(retry)}; only after a failure that changed nothing`]
  if (verify !== null) {
    const often = verify.retry.attempts > 1 ? ` (${phraseRetry(verify.retry)})` : ''
    yield ['its check', `it counts only if ${verify.expect}, as ${verify.tool} says${often}`]
  }
  if (compensate !== null) {
    yield ['its undoing', `${compensate.tool}${phraseInput(compensate.input)} undoes it`]
  }
}

function phraseRetry({ attempts, delaySeconds, backoff }: StepRetry): string {
  const longer = backoff === 1 || attempts === 2 ? '' : `, each wait ${backoff} times as long`
  return `at most ${phraseCount(attempts, 'attempt')}, the second after ${phraseSeconds(delaySeconds)}${longer}`
}

function phraseInput(input: JsonObject): string {
  const given = Object.entries(input).map(([name, value]) => `${name} = ${phraseValue(value)}`)
  return given.length === 0 ? '' : ` with ${given.join(', ')}`
}

function phraseValue(value: Json): string {
  const text = typeof value === 'string' && value.includes('{') ? value : JSON.stringify(value)
  return text.length <= longestValue ? text : `${text.slice(0, longestValue - 1)}…`
}
