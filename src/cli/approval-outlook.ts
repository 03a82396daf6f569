import type { ApprovalDemand } from '../policy/decision.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import { expectedDemands } from '../policy/expected-demands.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { policiesOf } from '../tool/runbook-policy.ts'
import type { Tool } from '../tool/tool.ts'
import { knownApprovers } from './describe-held-call.ts'
import type { RunStanding } from './run-standing.ts'

/** What is said at the start of a run whose calls need, or may need, an approval that nobody who is known could give. */
export function approvalOutlook(
  { policies: named, people, principal, requesters }: RunStanding,
  playbook: Playbook,
  tools: readonly Tool[],
): readonly string[] {
  // The roles that steps of a runbook require themselves are asked for by a policy of its own.
  const given = named.length === 0 ? undefined : { policies: named, principal }
  const policies = policiesOf(playbook, given)?.policies ?? named
  const lines = new Set<string>()
  const held = new Map<string, readonly string[]>()
  for (const step of playbook.steps) {
    // A call that the runtime makes is one too, and so is what undoes it.
    const called = [step.tool, step.compensate?.tool ?? null].filter((name) => name !== null)
    for (const name of new Set([...step.expectedTools, ...called])) {
      const tool = tools.find((each) => each.name === name)
      if (tool === undefined) continue
      for (const { demand, certain } of expectedDemands(policies, {
        tool: name,
        step: step.id,
        risk: tool.risk,
      })) {
        const known = knownApprovers(demand, people, requesters)
        if (demand.policy === defaultPolicy().ref.id) held.set(name, known)
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
  return [...describeDefaults(held), ...lines]
}

/** What the defaults hold back where nobody named a policy, who could approve it, and how somebody alone goes on. */
function describeDefaults(held: ReadonlyMap<string, readonly string[]>): readonly string[] {
  if (held.size === 0) return []
  const who = [...new Set([...held.values()].flat())]
  return [
    `NO POLICY IS NAMED, so the defaults hold: ${[...held.keys()].join(', ')} cannot be undone, and waits for approval${who.length === 0 ? '' : `; could be: ${who.join(', ')}`}.`,
    'To approve it yourself, name a policy with `allow_self_approval: true`; to have it made without, one with `risk: { irreversible: allow }` (--policy FILE, or `policies` of the configuration).',
  ]
}

/** Where a name need not be checked and any will do, there is always another one. */
function isOpenToAnyName({ identity, roles, approvers }: ApprovalDemand): boolean {
  return identity.includes('asserted') && roles.length === 0 && approvers.length === 0
}
