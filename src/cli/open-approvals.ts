import { dirname } from 'node:path'
import type { GatewayApprovals } from '../mcp/gateway-approvals.ts'
import type { ApprovalDemand } from '../policy/decision.ts'
import type { IdentityKind } from '../policy/policy-request.ts'
import { describeDemands } from './describe-held-call.ts'
import { approvalId } from '../run/approval-id.ts'
import { rolesOf } from './local-user.ts'
import { runFolder } from './run-folder.ts'
import type { RunStanding } from './run-standing.ts'
import { VoteBox } from './vote-box.ts'

/** What the approvals of a gateway are made from. */
export interface ApprovalsSetup {
  readonly standing: RunStanding
  /** How it is known who calls. */
  readonly identity: IdentityKind
  /** Where runs are recorded. */
  readonly runs: string
  readonly say: (text: string) => void
}

/** The policies of a gateway, and the box in which people leave their votes; undefined where there is no policy, and then none is asked. */
export function openApprovals({
  standing: { policies, people },
  identity,
  runs,
  say,
}: ApprovalsSetup): GatewayApprovals | undefined {
  if (policies.length === 0) return undefined
  const box = new VoteBox(runs, say)
  box.prepare()
  const where = runs === defaultFolder() ? '' : `LOCKSTEP_HOME=${quote(dirname(runs))} `
  return {
    setupFor: (id) => ({ policies, principal: { id, kind: identity, roles: rolesOf(people, id) } }),
    votesOn: (run, callId) =>
      box.read(run, callId).map(({ person, answer, reason, remove }) => ({
        vote: { person, identity: 'local', roles: rolesOf(people, person), answer, reason },
        taken: remove,
      })),
    wordsFor: ({ run, callId, demands, requesters }) => {
      const id = approvalId(run, callId)
      return {
        id,
        takes: describeDemands(demands as unknown as readonly ApprovalDemand[], { people, requesters }),
        command: `${where}npx lockstep approve ${id}`,
      }
    },
  }
}

/** Where whoever approves looks if nobody tells them otherwise. */
function defaultFolder(): string {
  return runFolder({ ...process.env, LOCKSTEP_HOME: '' })
}

function quote(path: string): string {
  return /^[A-Za-z0-9_./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
