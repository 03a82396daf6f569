import type { ApprovalDemand } from './decision.ts'
import type { IdentityKind } from './policy-request.ts'

/** What one person said to one pending approval. */
export interface Vote {
  readonly person: string
  readonly identity: IdentityKind
  readonly roles: readonly string[]
  readonly at: number
  readonly answer: 'approve' | 'deny'
}

/** When it was asked for, and by whom: the starter, whoever edited or resumed it, resolved to persons. */
export interface ApprovalRequest {
  readonly askedAt: number
  readonly requesters: readonly string[]
}

/** Where a pending approval stands; `missing` says what it still takes. A timeout is not a denial by a person. */
export type ApprovalState =
  | { readonly state: 'granted' }
  | { readonly state: 'denied'; readonly by: string }
  | { readonly state: 'expired' }
  | { readonly state: 'waiting'; readonly missing: readonly string[] }

/** Why somebody's vote does not count for a demand; null if it counts. */
export function whyNoVote(
  demand: ApprovalDemand,
  voter: Pick<Vote, 'person' | 'identity' | 'roles'>,
  requesters: readonly string[],
): string | null {
  if (!demand.identity.includes(voter.identity)) return `an identity that is ${voter.identity} does not count`
  if (!demand.allowSelfApproval && requesters.includes(voter.person)) return 'whoever asks cannot approve'
  if (demand.approvers.length > 0 && !demand.approvers.includes(voter.person)) {
    return `only ${demand.approvers.join(', ')} may approve`
  }
  if (demand.roles.length > 0 && !demand.roles.some((role) => voter.roles.includes(role))) {
    return `it takes the role ${demand.roles.join(' or ')}`
  }
  return null
}

/** Judges an approval: every demand needs its number of different persons, in time; one denial that counts ends it. */
export function judgeApproval(
  demands: readonly ApprovalDemand[],
  votes: readonly Vote[],
  request: ApprovalRequest,
  now: number,
): ApprovalState {
  const missing: string[] = []
  let expired = false
  for (const demand of demands) {
    const until = request.askedAt + demand.expiresAfterSeconds * 1000
    const counted = votes.filter(
      (vote) =>
        vote.at >= request.askedAt && vote.at < until && whyNoVote(demand, vote, request.requesters) === null,
    )
    const denial = counted.find(({ answer }) => answer === 'deny')
    if (denial !== undefined) return { state: 'denied', by: denial.person }
    if (!(now < until)) expired = true
    // Whatever is not a yes is none: a record may hold any word.
    const approving = counted.filter(({ answer }) => answer === 'approve')
    const lacking = demand.count - new Set(approving.map(({ person }) => person)).size
    if (lacking > 0) {
      const who = demand.roles.length === 0 ? '' : ` with role ${demand.roles.join(' or ')}`
      missing.push(`${lacking} more${who} (${demand.policy}, ${demand.rule})`)
    }
  }
  // Without a demand nothing was asked for, so nothing can have been granted.
  if (demands.length === 0) return { state: 'waiting', missing: ['nobody knows what it takes'] }
  if (expired) return { state: 'expired' }
  return missing.length === 0 ? { state: 'granted' } : { state: 'waiting', missing }
}
