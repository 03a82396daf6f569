/**
 * What policies say to one call.
 *
 * Owns: how the verdicts of several policies become one.
 * Talks to: nobody. The same policies, request and facts give the same decision, everywhere.
 *
 * Invariants
 * D1  Across policies deny > needs_approval > allow; an allow overrides nothing.
 * D2  Whatever cannot be read or judged is a denial; nothing is thrown, whatever the arguments are.
 * D3  Where there is no policy, the default policy holds.
 */
import { keepJson } from '../shared/keep-json.ts'
import { messageOf } from '../shared/message-of.ts'
import type { CompiledPolicy } from './compile-policy.ts'
import { isStricter, outweighs, type Finding, type PolicyDecision, type PolicyRef } from './decision.ts'
import { defaultPolicy } from './default-policy.ts'
import { judgePolicy, type Judgement, type Witness } from './judge-policy.ts'
import type { PolicyFacts, PolicyRequest } from './policy-request.ts'
import { readSituation } from './situation.ts'

/** Judges one call by every policy that applies to it. Never throws: what cannot be judged is denied. */
export function decide(
  policies: readonly CompiledPolicy[],
  request: PolicyRequest,
  facts: PolicyFacts,
): PolicyDecision {
  return decideBefore(null, policies, request, facts)
}

/** The same decision, with somebody told of every rule that was asked. */
export function decideBefore(
  witness: ((policy: CompiledPolicy) => Witness) | null,
  policies: readonly CompiledPolicy[],
  request: PolicyRequest,
  facts: PolicyFacts,
): PolicyDecision {
  let refs: readonly PolicyRef[] = []
  try {
    const asked = policies.length === 0 ? [defaultPolicy()] : policies
    refs = asked.map((policy) => policy.ref)
    const situation = readSituation(request, facts)
    if (typeof situation === 'string') return undecidable(refs, situation)
    const judgements = asked.map((policy) => judgePolicy(policy, situation, witness?.(policy) ?? null))
    return judgements.every(isSilent) ? silence(asked, refs) : combine(judgements, refs, facts.breakGlass)
  } catch (error) {
    return undecidable(refs, messageOf(error))
  }
}

function isSilent({ spoken, lifted }: Judgement): boolean {
  return spoken.length === 0 && lifted.length === 0
}

/** What policies say of which no rule spoke, by the first of them: most decisions are this one. */
const silences = new WeakMap<
  CompiledPolicy,
  { readonly of: readonly CompiledPolicy[]; readonly decision: PolicyDecision }
>()

function silence(asked: readonly CompiledPolicy[], refs: readonly PolicyRef[]): PolicyDecision {
  const known = silences.get(asked[0]!)
  if (known?.of.length === asked.length && asked.every((policy, index) => policy === known.of[index]))
    return known.decision
  const nothing: Judgement = { verdict: 'allow', decisive: null, spoken: [], lifted: [], demands: [] }
  const decision = keepJson(
    combine(
      asked.map(() => nothing),
      refs,
      null,
    ),
  )
  silences.set(asked[0]!, { of: [...asked], decision })
  return decision
}

function combine(
  judgements: readonly Judgement[],
  policies: readonly PolicyRef[],
  glassReason: string | null,
): PolicyDecision {
  let strictest = 0
  for (let index = 1; index < judgements.length; index++) {
    const one = judgements[index]!
    const other = judgements[strictest]!
    if (
      isStricter(one.verdict, other.verdict) ||
      (one.decisive !== null && isLess(other.decisive, one.decisive))
    )
      strictest = index
  }
  const { verdict } = judgements[strictest]!
  const only = judgements.length === 1 ? judgements[0]! : null
  const lifted = only?.lifted ?? judgements.flatMap((each) => each.lifted)
  const glass = verdict === 'allow' ? judgements.findIndex((each) => each.lifted.length > 0) : -1
  const broken = glass !== -1
  const decisive = broken ? judgements[glass]!.lifted[0]! : judgements[strictest]!.decisive
  return {
    verdict,
    code: broken ? 'policy_break_glass' : (decisive?.code ?? 'policy_allowed'),
    rule: decisive?.rule ?? null,
    policy: decisive === null ? null : policies[broken ? glass : strictest]!,
    reason: broken
      ? `the glass was broken: ${glassReason}`
      : (decisive?.reason ?? 'no policy speaks against it'),
    // What one policy asks for, another one's denial makes moot.
    approval:
      verdict === 'needs_approval' ? (only?.demands ?? judgements.flatMap((each) => each.demands)) : [],
    breakGlass: lifted.length === 0 ? null : { reason: glassReason!, lifted },
    matched: only?.spoken ?? judgements.flatMap((each) => each.spoken),
    policies,
  }
}

/** Whether a finding leaves the word to another of the same verdict. */
function isLess(one: Finding | null, other: Finding): boolean {
  return one === null || (one.verdict === other.verdict && outweighs(other, one))
}

function undecidable(policies: readonly PolicyRef[], why: string): PolicyDecision {
  return {
    verdict: 'deny',
    code: 'policy_error',
    rule: null,
    policy: null,
    reason: `the call cannot be judged: ${why}`,
    approval: [],
    breakGlass: null,
    matched: [],
    policies,
  }
}
