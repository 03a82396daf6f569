/**
 * Asks the policies again, and counts votes again.
 *
 * Owns: whether what policies are recorded to have said follows from their texts and from what they were told.
 *
 * Invariants
 * A1  What the run itself says (its inputs, its calls so far, its step) is taken from the state that was worked out again, never from the
 *     decision's own record.
 * A2  What only others can know (roles, what was spent, what was counted over other runs) is taken on the record's word.
 */
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { CallHistory } from '../policy/call-history.ts'
import { countsOthers } from '../policy/counts-others.ts'
import { decide } from '../policy/decide.ts'
import type { ApprovalDemand, PolicyDecision } from '../policy/decision.ts'
import { factOf, readDecision, type DecisionRecord } from '../policy/decision-record.ts'
import { judgeApproval, type Vote, whyNoVote } from '../policy/judge-approval.ts'
import type { PolicyFact } from '../run/approval.ts'
import type { EventOf } from '../run/event.ts'
import { countCalls, madeCalls, missingPolicy, ownSpending, stepForPolicy } from '../run/policy-view.ts'
import type { RunState } from '../run/state.ts'
import type { Ticket } from '../run/ticket.ts'
import type { JsonObject } from '../shared/json.ts'
import { sameJson } from '../shared/same-json.ts'
import type { Documents } from './documents.ts'

/** What the policies say, what is wrong with the record of it, and what was taken on its word. */
export interface PolicyReading {
  readonly fact: PolicyFact
  /** What they were told that the tool can do at worst. */
  readonly risk: string | null
  readonly wrong: string | null
  readonly onItsWord: string | null
}

type JudgedCall = EventOf<'tool.admitted' | 'tool.held' | 'tool.denied'>

/** Decides again what policies said to a call. */
export function askPoliciesAgain(
  state: RunState,
  event: JudgedCall,
  given: JsonObject,
  documents: Documents,
): PolicyReading {
  const record = readDecision(given)
  const fact = factOf(record, given)
  const told = (wrong: string | null, onItsWord: string | null = null): PolicyReading => ({
    fact,
    risk: record.request.risk ?? null,
    wrong,
    onItsWord,
  })
  const { policies, problem, missing } = findPolicies(record.decision, documents)
  if (problem !== null) return told(problem)
  if (missing !== null) return told(null, `what the policies said: ${missing}`)
  const { tool, args, at, callId } = event
  const now = record.now ?? at
  const wrong = factProblem(state, record, policies, { tool, args, callId, now })
  if (wrong !== null) return told(wrong)
  const asks = policies.some(({ questions }) => questions.size > 0)
  const past = asks ? new CallHistory(madeCalls(state), policies) : null
  const facts = { ...record.facts, now, inputs: state.inputs, past }
  const decision = decide(policies, { tool, args, ...record.request }, facts)
  if (!sameJson(decision, record.decision))
    return told(`the policies say ${describe(decision)}, and the record says ${describe(record.decision)}`)
  return told(null, policies.some(countsOthers) ? 'what was counted over other runs' : null)
}

/** What is wrong with a vote on a held call, if anything is: whether it counts, and what it comes to. */
export function voteProblem(
  ticket: Ticket,
  { vote, comesTo, at }: EventOf<'approval.voted'>,
  requesters: readonly string[],
): string | null {
  const { votes, askedAt, demands: asked } = ticket.approval!
  const demands = asked as unknown as readonly ApprovalDemand[]
  const voter = vote as unknown as Vote
  const reasons = demands.map((demand) => whyNoVote(demand, voter, requesters))
  if (!reasons.includes(null))
    return `the vote of ${vote.person} does not count: ${reasons[0] ?? 'for nothing'}`
  const { state } = judgeApproval(demands, [...votes, voter] as Vote[], { askedAt, requesters }, at)
  const came = state === 'granted' || state === 'denied' ? state : 'waiting'
  return came === comesTo ? null : `the votes come to '${came}', and the record says '${comesTo}'`
}

function findPolicies(decision: PolicyDecision, documents: Documents) {
  const policies: CompiledPolicy[] = []
  let problem: string | null = null
  let missing: string | null = null
  for (const { id, version, digest } of decision.policies) {
    const found = documents.policy(digest)
    const name = () => `the policy ${id}@${version} (${digest})`
    if (found === 'forged') problem ??= `${name()} in the export is not the one that was asked`
    else if (found === null) missing ??= `${name()} is not in the export`
    else policies.push(found)
  }
  return { policies, problem, missing }
}

/** A1: what the policies were told of the run has to be what the run was. */
function factProblem(
  state: RunState,
  { request, facts, shown }: DecisionRecord,
  policies: readonly CompiledPolicy[],
  call: Pick<JudgedCall, 'tool' | 'args' | 'callId'> & { readonly now: number },
): string | null {
  const asked = policies.map(({ ref }) => ref.id)
  const told = { toldItUndoes: request.undoes, toldItIsShown: shown, toldUnknown: request.unknown }
  const lacking = missingPolicy(state, { ...call, ...told }, asked)
  if (lacking !== null) return lacking
  const step = stepForPolicy(state, call.tool, call.callId)
  if (request.step !== step) {
    return `the policies were told of step '${request.step ?? 'none'}', and the call belonged to '${step ?? 'none'}'`
  }
  for (const query of policies.flatMap(({ counters }) => counters)) {
    if (query.scope !== 'run') continue
    const counted = countCalls(state, query, request.target, call.now)
    const told = Object.hasOwn(facts.counters, query.key) ? facts.counters[query.key] : null
    if (sameJson(counted, told)) continue
    return `the policies were told of ${told?.calls ?? 'no'} calls (${query.key}), and the run had made ${counted.calls}`
  }
  const own = ownSpending(state, call.now)
  for (const name of ['calls', 'minutes'] as const) {
    const told = facts.spent?.run[name] ?? own[name]
    if (told !== own[name])
      return `the policies were told of ${told} ${name}, and the run had taken ${own[name]}`
  }
  return null
}

function describe({ verdict, rule, policy, reason }: PolicyDecision): string {
  const by = policy === null ? '' : ` (${rule ?? 'no rule'} of ${policy.id}@${policy.version})`
  return `${verdict}${by}: ${reason}`
}
