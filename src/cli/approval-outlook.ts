import type { ApprovalDemand } from '../policy/decision.ts'
import { expectedDemands } from '../policy/expected-demands.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { Tool } from '../tool/tool.ts'
import { knownApprovers } from './describe-held-call.ts'
import type { RunStanding } from './run-standing.ts'

/** What is said at the start of a run whose calls need, or may need, an approval that nobody who is known could give. */
export function approvalOutlook(
  { policies, people, requesters }: RunStanding,
  playbook: Playbook,
  tools: readonly Tool[],
): readonly string[] {
  const lines = new Set<string>()
  for (const step of playbook.steps) {
    for (const name of step.expectedTools) {
      const tool = tools.find((each) => each.name === name)
      if (tool === undefined) continue
      for (const { demand, certain } of expectedDemands(policies, {
        tool: name,
        step: step.id,
        risk: tool.risk,
      })) {
        const known = knownApprovers(demand, people, requesters)
        if (known.length >= demand.count || isOpenToAnyName(demand)) continue
        const takes = `${demand.count} × ${demand.roles.join(' or ') || 'anybody'}`
        const who = known.length === 0 ? 'nobody' : `only ${known.join(', ')}`
        const asker = demand.allowSelfApproval ? '' : ' (whoever asks cannot approve)'
        lines.add(
          `${known.length === 0 ? 'NOBODY' : 'TOO FEW'} CAN APPROVE: ${name} ${certain ? 'needs' : 'may need'} the approval of ${takes} (${demand.rule} of ${demand.policy}), and ${who} in \`people\` could give it${asker}.`,
        )
      }
    }
  }
  return [...lines]
}

/** Where a name need not be checked and any will do, there is always another one. */
function isOpenToAnyName({ identity, roles, approvers }: ApprovalDemand): boolean {
  return identity.includes('asserted') && roles.length === 0 && approvers.length === 0
}
