import type { PolicyDecision } from '../policy/decision.ts'

/** What a dry run cannot decide about a call, in words: rules of its playbook, and of policies. */
export function describeOpen(
  rules: readonly string[] | undefined,
  decision: PolicyDecision | null | undefined,
): readonly string[] {
  const own = (rules ?? []).map(
    (source) => `whether \`${source}\` holds would be decided when its values are known`,
  )
  const found = decision?.matched.filter(({ code }) => code === 'policy_undecided') ?? []
  return [...own, ...found.map(({ rule, reason }) => `${rule}: ${reason}`)]
}

/** The rule for which a call that is only shown would wait for people, whatever is not decided yet; null if there is none. */
export function needsApproval(decision: PolicyDecision | null | undefined): string | null {
  if (decision?.verdict === 'needs_approval') return `${decision.rule}: ${decision.reason}`
  if (decision?.code !== 'policy_undecided') return null
  const asks = decision.matched.find(({ verdict }) => verdict === 'needs_approval')
  return asks === undefined ? null : `${asks.rule}: ${asks.reason}`
}
