import type { ApprovalDemand } from './decision.ts'
import type { IdentityKind } from './policy-request.ts'
import type { ApprovalTermsFile, PolicyFile } from './policy-schema.ts'
import { readDuration } from './read-duration.ts'

/** How long an approval may be waited for and used, unless a policy says otherwise. */
const defaultExpiry = 3_600
/** An identity that nobody checked counts only where a policy says so. */
const defaultKinds: readonly IdentityKind[] = ['local', 'apikey', 'oidc']

/** What an approval takes by these terms; what they leave open, `approval_defaults` say. */
export function demandOf(file: PolicyFile, rule: string, terms: ApprovalTermsFile): ApprovalDemand {
  const { required_roles, approvers, count, expires_after, identity } = {
    ...file.approval_defaults,
    ...terms,
  }
  return {
    policy: file.id,
    rule,
    roles: required_roles ?? [],
    approvers: approvers ?? [],
    count: count ?? 1,
    expiresAfterSeconds: (expires_after === undefined ? null : readDuration(expires_after)) ?? defaultExpiry,
    identity: identity ?? defaultKinds,
    allowSelfApproval: file.allow_self_approval,
  }
}
