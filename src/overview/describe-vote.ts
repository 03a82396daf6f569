import type { ApprovalVote } from '../run/approval.ts'
import type { HeldCall } from './held-call.ts'

/** Which rule asks for the approval, and why. */
export function describeRule({ decision: { rule, policy, reason } }: Pick<HeldCall, 'decision'>): string {
  const by = policy === null ? 'no policy' : `${policy.id}@${policy.version}`
  return `${rule ?? 'no rule'} of ${by}: ${reason}`
}

/** What a person said, and how it is known who they are. */
export function describeVote({ person, identity, answer, reason }: ApprovalVote): string {
  const how = identity === 'asserted' ? 'ASSERTED, nobody checked' : identity
  const said = answer === 'approve' ? 'approved' : 'denied'
  return `${person} (${how}) ${said}${reason === null ? '' : `: ${reason}`}`
}
