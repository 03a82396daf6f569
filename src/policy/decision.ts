import type { IdentityKind } from './policy-request.ts'
import type { PolicyCode } from './policy-code.ts'

/** What becomes of a call. */
export type PolicyVerdict = 'allow' | 'needs_approval' | 'deny'

/** Which policy, exactly: the digest covers its whole content. */
export type PolicyRef = {
  readonly id: string
  readonly version: string
  readonly digest: string
}

/** What an approval takes. A decision may hold several: each must be met, and one person may serve more than one. */
export type ApprovalDemand = {
  readonly policy: string
  readonly rule: string
  /** An approver has one of these roles; empty means any. */
  readonly roles: readonly string[]
  /** An approver is one of these persons; empty means any. */
  readonly approvers: readonly string[]
  readonly count: number
  readonly expiresAfterSeconds: number
  readonly identity: readonly IdentityKind[]
  readonly allowSelfApproval: boolean
}

/** One rule that spoke. */
export type Finding = {
  readonly policy: string
  readonly rule: string
  readonly verdict: PolicyVerdict
  readonly code: PolicyCode
  readonly reason: string
}

/** What policies say to one call: plain data, the same for the same policies, request and facts. */
export type PolicyDecision = {
  readonly verdict: PolicyVerdict
  readonly code: PolicyCode
  /** The rule that decided; null where none spoke. */
  readonly rule: string | null
  /** The policy of that rule. */
  readonly policy: PolicyRef | null
  readonly reason: string
  /** What the approval takes, where one is needed; else empty. */
  readonly approval: readonly ApprovalDemand[]
  /** Why the glass was broken and what that lifted; null where nothing was. */
  readonly breakGlass: { readonly reason: string; readonly lifted: readonly Finding[] } | null
  /** Every rule that spoke, in order. */
  readonly matched: readonly Finding[]
  /** Every policy that was asked. */
  readonly policies: readonly PolicyRef[]
}

const severity: Readonly<Record<PolicyVerdict, number>> = { allow: 0, needs_approval: 1, deny: 2 }

/** Says whether the one finding weighs more than the other: by its verdict, and a denial more than what is not decided yet. */
export function outweighs(one: Weighed, other: Weighed): boolean {
  if (one.verdict !== other.verdict) return isStricter(one.verdict, other.verdict)
  return other.code === 'policy_undecided' && one.code !== 'policy_undecided'
}

type Weighed = { readonly verdict: PolicyVerdict; readonly code: PolicyCode }

/** Says whether the one verdict is stricter than the other: deny > needs_approval > allow. */
export function isStricter(one: PolicyVerdict, other: PolicyVerdict): boolean {
  return severity[one] > severity[other]
}
