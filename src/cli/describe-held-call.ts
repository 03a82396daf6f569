import { whyNoVote } from '../policy/judge-approval.ts'
import type { ApprovalDemand } from '../policy/decision.ts'
import type { HeldCall } from '../overview/held-call.ts'
import { rolesOf, type People } from './local-user.ts'
import type { RunStanding } from './run-standing.ts'
import { describeCall } from '../overview/describe-call.ts'
import { describeRule, describeVote } from '../overview/describe-vote.ts'

/** What it takes, one line for each demand: how many, who, how identified; and which of the people that are known could. */
export function describeDemands(
  demands: readonly ApprovalDemand[],
  known: { readonly people: People; readonly requesters: readonly string[] } | null = null,
): readonly string[] {
  const lines = demands.map((demand) => {
    const { count, roles, approvers, allowSelfApproval, identity } = demand
    const role = roles.length === 0 ? 'anybody' : roles.join(' or ')
    const among = approvers.length === 0 ? '' : ` among ${approvers.join(', ')}`
    const asker = allowSelfApproval ? ', whoever asked included' : ', but not whoever asked'
    const names = known === null ? [] : knownApprovers(demand, known.people, known.requesters)
    const who =
      known === null
        ? ''
        : `; ${names.length === 0 ? 'nobody in `people` could' : `could be: ${names.join(', ')}`}`
    return `${count} × ${role}${among}${asker}, identified by ${identity.join(', ')}${who}`
  })
  // Two policies may ask for the same, and one vote answers both.
  return [...new Set(lines)]
}

/** Those of the known people whose vote would count, if they came as a user of this system or under an asserted name. */
export function knownApprovers(
  demand: ApprovalDemand,
  people: People,
  requesters: readonly string[],
): readonly string[] {
  const names = new Set([...Object.keys(people), ...demand.approvers, ...requesters])
  return [...names].filter((person) =>
    (['local', 'asserted'] as const).some(
      (identity) =>
        whyNoVote(demand, { person, identity, roles: rolesOf(people, person) }, requesters) === null,
    ),
  )
}

/** How long something is still possible, roughly. */
export function timeLeft(until: number, now: number): string {
  const seconds = Math.floor((until - now) / 1000)
  if (seconds <= 0) return 'no time left'
  if (seconds < 120) return `${seconds} s left`
  const minutes = Math.floor(seconds / 60)
  return minutes < 120 ? `${minutes} min left` : `${Math.floor(minutes / 60)} h left`
}

/** Where a held call stands when its run is taken up; nothing once it was used. */
export function describeHeld({ id, tool, state, votes }: HeldCall): string[] {
  const said = votes.map(describeVote).join('; ')
  switch (state) {
    case 'granted':
      return [`${tool} (${id}) is approved: ${said}`]
    case 'denied':
      return [`${tool} (${id}) was denied: ${said}`]
    case 'expired':
      return [`${tool} (${id}) was not approved in time`]
    case 'waiting':
      return [`${tool} (${id}) still waits for approval${said === '' ? '' : `: ${said}`}`]
    default:
      return []
  }
}

/** Everything that whoever started the run has to pass on to whoever may approve. */
export function describeWaiting(
  call: HeldCall,
  known: Pick<RunStanding, 'people' | 'requesters'>,
  now: number,
): readonly string[] {
  return [
    `Waits for approval: ${call.id}  ${describeCall(call.tool, call.args).replaceAll(/ +/g, ' ')}`,
    `  rule      ${describeRule(call)}`,
    ...describeDemands(call.demands, known).map((line) => `  it takes  ${line}`),
    ...call.votes.map((vote) => `  so far    ${describeVote(vote)}`),
    `  time      ${timeLeft(call.expiresAt, now)}`,
  ]
}
