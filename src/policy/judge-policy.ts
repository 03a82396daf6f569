/**
 * What one policy says to one call.
 *
 * Invariants
 * J1  Every rule that is about the call is asked, and the strictest verdict counts; among equals the first.
 * J2  Of the preconditions the first that matches speaks, and the others are not asked.
 * J3  The default for the risk speaks only where no precondition did.
 * J4  What cannot be judged is a denial, and no broken glass lifts it.
 * J5  A rule that broken glass lifts counts as if it were not there.
 * J6  `approvals` say what an approval takes; where none of them spoke, `approval_defaults` do.
 * J7  Limits and budgets say nothing to a call that undoes another: everything else does (G17).
 * J8  Of what depends on an argument that nobody knows yet, only that is said; it outweighs an approval, and no denial.
 */
import type { BreakGlass, CompiledPolicy } from './compile-policy.ts'
import { outweighs, type ApprovalDemand, type Finding, type PolicyVerdict } from './decision.ts'
import { undecided, unjudged, type PolicyRule, type Utterance } from './policy-rule.ts'
import type { Situation } from './situation.ts'

/** What one policy says to one call. */
export interface Judgement {
  readonly verdict: PolicyVerdict
  /** The first rule with that verdict; null where none spoke. */
  readonly decisive: Finding | null
  readonly spoken: readonly Finding[]
  readonly lifted: readonly Finding[]
  readonly demands: readonly ApprovalDemand[]
}

/** Hears of each rule whether it spoke, and if not, why. */
export type Witness = (
  rule: PolicyRule,
  outcome: 'spoke' | 'lifted' | 'silent' | 'not_asked',
  said: Utterance | string,
) => void

/** Asks the rules of a policy about a call. Throws only what the facts throw. */
export function judgePolicy(
  policy: CompiledPolicy,
  situation: Situation,
  witness: Witness | null = null,
): Judgement {
  const spoken: Finding[] = []
  const lifted: Finding[] = []
  const demands: ApprovalDemand[] = []
  const opened = openedGlass(policy.breakGlass, situation)
  let decisive: Finding | null = null
  let precondition: string | null = null

  for (const rule of policy.rulesFor(situation.request.tool)) {
    if (precondition !== null && (rule.section === 'preconditions' || rule.section === 'risk')) {
      witness?.(rule, 'not_asked', `${precondition} has spoken`)
      continue
    }
    const said = ask(rule, situation)
    if (typeof said === 'string' || said === null) {
      witness?.(rule, 'silent', said ?? rule.silence(situation))
      continue
    }
    const { verdict, code, reason } = said
    const finding: Finding = { policy: policy.ref.id, rule: rule.name, verdict, code, reason }
    if (opened !== null && isLifted(rule, said, opened)) {
      lifted.push(finding)
      witness?.(rule, 'lifted', said)
      continue
    }
    witness?.(rule, 'spoke', said)
    spoken.push(finding)
    if (said.demand !== undefined) demands.push(said.demand)
    if (rule.section === 'preconditions' && code !== 'policy_undecided') precondition = rule.name
    if (decisive === null || outweighs(finding, decisive)) decisive = finding
  }

  const verdict = decisive?.verdict ?? 'allow'
  if (verdict === 'needs_approval' && demands.length === 0) demands.push(policy.defaultDemand(decisive!.rule))
  return { verdict, decisive, spoken, lifted, demands: verdict === 'needs_approval' ? demands : [] }
}

/** What a rule says to a call: a text says why it is not about it, null that it has nothing to say. */
function ask(rule: PolicyRule, situation: Situation): Utterance | string | null {
  if (situation.request.undoes === true && (rule.section === 'limits' || rule.section === 'budgets'))
    return 'the call undoes another, which a limit does not keep from being undone'
  if (rule.step !== null && rule.step !== situation.request.step) return `it is about the step ${rule.step}`
  if (rule.risks !== null && !rule.risks.has(situation.risk))
    return `it is about calls that are ${[...rule.risks].join(' or ')}`
  const { unknown } = situation.request
  if (rule.when !== null) {
    const open = unknown === undefined ? [] : rule.when.looksAt(unknown)
    if (open.length > 0) return undecided(rule.when.source, open)
    const holds = rule.when.judge(situation)
    if (holds === false) return `it does not hold that ${rule.when.source}`
    if (typeof holds === 'string') return unjudged(`\`${rule.when.source}\``, holds)
  }
  for (const condition of unknown === undefined ? [] : rule.conditions) {
    const open = condition.looksAt(unknown!)
    if (open.length > 0) return undecided(condition.source, open)
  }
  return rule.speak(situation)
}

/** The glass that was broken by somebody who may, for a tool that is listed, with a reason; else null. */
function openedGlass(glass: BreakGlass | null, { request, facts }: Situation): BreakGlass | null {
  if (glass === null || facts.breakGlass === null || facts.breakGlass.trim() === '') return null
  return glass.covers(request.tool) && facts.principal.roles.some((role) => glass.roles.has(role))
    ? glass
    : null
}

function isLifted({ section }: PolicyRule, { verdict, code }: Utterance, { lifts }: BreakGlass): boolean {
  if (verdict === 'allow' || code === 'policy_error') return false
  if (verdict === 'needs_approval' && lifts.has('approval')) return true
  return (section === 'freeze' || section === 'limits' || section === 'preconditions') && lifts.has(section)
}
