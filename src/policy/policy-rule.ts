import type { ApprovalDemand, PolicyVerdict } from './decision.ts'
import type { PolicyCode } from './policy-code.ts'
import type { PolicyCondition } from './policy-condition.ts'
import type { Risk } from './policy-request.ts'
import type { Situation } from './situation.ts'

/** The parts of a policy, in the order in which they are asked. */
export const sections = [
  'tool_allowlist',
  'rules',
  'preconditions',
  'freeze',
  'limits',
  'budgets',
  'approvals',
  'risk',
] as const

export type Section = (typeof sections)[number]

/** What a rule says to a call. */
export interface Utterance {
  readonly verdict: PolicyVerdict
  readonly code: PolicyCode
  readonly reason: string
  /** What the approval takes; null leaves that to `approval_defaults`. */
  readonly demand?: ApprovalDemand
}

/** One entry of a policy, compiled. */
export interface PolicyRule {
  readonly section: Section
  /** Its name in decisions: `rules.small-refunds` by its id, or `rules#2` by its number. */
  readonly name: string
  /** Patterns of the tools it is about; null means all. */
  readonly tools: readonly string[] | null
  readonly step: string | null
  readonly risks: ReadonlySet<Risk> | null
  readonly when: PolicyCondition | null
  /** Every condition it holds, `when` included. */
  readonly conditions: readonly PolicyCondition[]
  /** What it says to a call it is about; null where it has nothing to say. */
  speak(situation: Situation): Utterance | null
  /** Why it had nothing to say, in words. */
  silence(situation: Situation): string
}

/** The denial for what depends on values that nobody knows yet. A call that is only shown is not stopped by it. */
export function undecided(source: string, unknown: readonly string[]): Utterance {
  const names = unknown.map((name) => `args.${name}`).join(', ')
  const reason = `whether \`${source}\` holds would be decided when ${names} is known`
  return { verdict: 'deny', code: 'policy_undecided', reason }
}

/** The denial for what could not be judged. */
export function unjudged(what: string, why: string): Utterance {
  return { verdict: 'deny', code: 'policy_error', reason: `${what} cannot be judged: ${why}` }
}
