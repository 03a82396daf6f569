import { LockstepError } from '../shared/lockstep-error.ts'
import type { Ballot } from './cast-vote.ts'
import { readFlags } from './read-flags.ts'

/** Reads what somebody wants to say to a call. Throws `usage`, also for a denial without a reason. */
export function readBallot(args: readonly string[], answer: Ballot['answer']): Ballot {
  const { names, flags } = readFlags(args, { reason: { value: 'TEXT' }, as: { value: 'NAME' } })
  const [wanted, ...more] = names
  if (wanted === undefined || more.length > 0) {
    throw new LockstepError('usage', `${answer} takes one approval`, {
      hint: 'see which there are: lockstep approvals',
    })
  }
  const reason = flags.get('reason') ?? null
  if (answer === 'deny' && (reason === null || reason.trim() === ''))
    throw new LockstepError('usage', 'deny needs --reason TEXT', { hint: 'whoever asked is told why' })
  return { wanted, answer, reason, as: flags.get('as') ?? null }
}
