import type { Journal } from '../journal/journal.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { ApprovalVote } from '../run/approval.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { namedTools } from '../tool/match-tools.ts'
import { tool, type Tool } from '../tool/tool.ts'
import { Agent } from './agent.ts'

/** What it takes to write down what a person says to a call that waits for approval. */
export interface VoteSetup {
  readonly playbook: Playbook
  readonly journal: Journal
  /** Who runs the command, which need not be who is named in the vote. */
  readonly principal: string
  /** Who asked for the run, the first one first. */
  readonly requesters: readonly string[]
}

/**
 * Writes down what a person says to a held call: what it comes to, or why it does not count. No tool is bound and no policy asked: what the
 * approval takes was recorded when the call was held. Throws what `Agent.vote` throws, and of a record that cannot be written the cause.
 */
export async function writeVote(
  { playbook, journal, principal, requesters }: VoteSetup,
  run: string,
  callId: string,
  vote: Omit<ApprovalVote, 'at'>,
): Promise<{ readonly comesTo: string } | { readonly refused: string }> {
  const starter = { id: requesters[0] ?? principal, kind: 'local', roles: [] } as const
  const policy = { policies: [], principal: starter, requesters }
  const agent = new Agent({ model: 'none', tools: standIns(playbook), playbook, journal, principal, policy })
  return await agent.vote(run, callId, vote).catch((error: unknown) => {
    // Whoever else is at work on the run is what there is to say.
    throw LockstepError.isInstance(error) && LockstepError.isInstance(error.cause) ? error.cause : error
  })
}

/** Tools in the place of those the playbook names, where none is called. */
export function standIns(playbook: Playbook): Tool[] {
  return [...namedTools(playbook)].map((name) =>
    tool({
      name,
      description: 'It is not called: only what people say is written down.',
      execute: () => {
        throw new LockstepError('internal', `${name} was called while a vote was written down.`)
      },
    }),
  )
}
