import { messageOf } from '../shared/message-of.ts'
import type { CompiledPolicy } from './compile-policy.ts'
import type { PolicyDecision, PolicyVerdict } from './decision.ts'
import { decideBefore } from './decide.ts'
import { defaultPolicy } from './default-policy.ts'
import type { PolicyRule, Utterance } from './policy-rule.ts'
import type { PolicyFacts, PolicyRequest } from './policy-request.ts'

/** What one rule had to do with a call. `not_about` means that it is about other tools. */
export interface ExplainedRule {
  readonly policy: string
  readonly rule: string
  readonly outcome: 'spoke' | 'lifted' | 'silent' | 'not_asked' | 'not_about'
  readonly verdict: PolicyVerdict | null
  /** A plain sentence. */
  readonly sentence: string
}

/** A decision, and what every rule of every policy had to do with it. */
export interface Explanation {
  readonly decision: PolicyDecision
  readonly rules: readonly ExplainedRule[]
  /** One sentence on broken glass, where somebody tried. */
  readonly breakGlass: string | null
}

/** Says of every rule why it spoke or not. The decision is that of `decide`; nothing is thrown. */
export function explain(
  policies: readonly CompiledPolicy[],
  request: PolicyRequest,
  facts: PolicyFacts,
): Explanation {
  const told = new Map<PolicyRule, ExplainedRule>()
  const decision = decideBefore(
    (policy) => (rule, outcome, said) =>
      void told.set(rule, {
        policy: policy.ref.id,
        rule: rule.name,
        outcome,
        verdict: typeof said === 'string' ? null : said.verdict,
        sentence: sentenceFor(rule.name, outcome, said),
      }),
    policies,
    request,
    facts,
  )
  try {
    // Where the request itself is no good, no rule was asked, and there is nothing to say about rules.
    if (decision.rule === null && decision.code === 'policy_error')
      return { decision, rules: [], breakGlass: null }
    const asked = policies.length === 0 ? [defaultPolicy()] : policies
    const rules = asked.flatMap((policy) =>
      policy.rules.map((rule) => told.get(rule) ?? notAbout(policy, rule, request)),
    )
    return { decision, rules, breakGlass: describeGlass(asked, request, facts, decision) }
  } catch (error) {
    return { decision, rules: [], breakGlass: messageOf(error) }
  }
}

/** The explanation as lines of text: the verdict first, then the rules that spoke, then the others. */
export function describeExplanation({ decision, rules, breakGlass }: Explanation): readonly string[] {
  const { verdict, code, policy, rule, reason, approval, policies } = decision
  const by = policy === null ? '' : ` by ${policy.id}@${policy.version}${rule === null ? '' : `, ${rule}`}`
  const several = policies.length > 1
  const line = (each: ExplainedRule) => `  ${several ? `${each.policy}: ` : ''}${each.sentence}`
  const spoke = rules.filter(({ outcome }) => outcome === 'spoke' || outcome === 'lifted')
  const others = rules.filter((each) => !spoke.includes(each))
  return [
    `${headline[verdict]} (${code})${by}: ${reason}`,
    ...approval.map((demand) => {
      const who = demand.roles.length === 0 ? 'anybody' : demand.roles.join(' or ')
      const named = demand.approvers.length === 0 ? '' : ` among ${demand.approvers.join(', ')}`
      const asker = demand.allowSelfApproval ? 'the asker included' : 'but the asker'
      return `  to approve: ${demand.count} × ${who}${named}, ${asker}, within ${demand.expiresAfterSeconds} s, identified by ${demand.identity.join(', ')}`
    }),
    ...(breakGlass === null ? [] : [breakGlass]),
    ...(spoke.length === 0 ? [] : ['These rules spoke:', ...spoke.map(line)]),
    ...(others.length === 0 ? [] : ['These did not:', ...others.map(line)]),
  ]
}

const headline: Readonly<Record<PolicyVerdict, string>> = {
  allow: 'ALLOWED',
  needs_approval: 'NEEDS APPROVAL',
  deny: 'DENIED',
}

const verbs: Readonly<Record<PolicyVerdict, string>> = {
  allow: 'allows it',
  needs_approval: 'asks for approval',
  deny: 'denies it',
}

function sentenceFor(name: string, outcome: ExplainedRule['outcome'], said: Utterance | string): string {
  if (typeof said !== 'string') {
    const lifted = outcome === 'lifted' ? ', which the broken glass lifts' : ''
    // A message that people wrote may end its sentence itself.
    return `${name} ${verbs[said.verdict]}${lifted}: ${said.reason.replace(/[.!?]$/, '')}.`
  }
  return outcome === 'not_asked' ? `${name} was not asked: ${said}.` : `${name} says nothing: ${said}.`
}

function notAbout(policy: CompiledPolicy, rule: PolicyRule, request: PolicyRequest): ExplainedRule {
  return {
    policy: policy.ref.id,
    rule: rule.name,
    outcome: 'not_about',
    verdict: null,
    sentence: `${rule.name} is about ${rule.tools?.join(', ') ?? 'other tools'}, not about ${request.tool}.`,
  }
}

function describeGlass(
  policies: readonly CompiledPolicy[],
  request: PolicyRequest,
  facts: PolicyFacts,
  { breakGlass }: PolicyDecision,
): string | null {
  if (facts.breakGlass === null) return null
  if (facts.breakGlass.trim() === '') return 'Breaking the glass takes a reason, and none was given.'
  if (breakGlass !== null) return `The glass was broken: ${breakGlass.reason}.`
  const allows = policies.some(({ breakGlass: glass }) => {
    return glass?.covers(request.tool) === true && facts.principal.roles.some((role) => glass.roles.has(role))
  })
  return allows
    ? 'The glass was broken, but nothing stood behind it that it lifts.'
    : `No policy lets this asker break the glass for ${request.tool}.`
}
