/** Why a policy decided as it did. Each has a page in docs/errors; a test compares the two. */
export const policyCodes = [
  'policy_allowed',
  'policy_break_glass',
  'policy_approval',
  'policy_risk',
  'policy_role',
  'policy_rule',
  'policy_blocked',
  'policy_freeze',
  'policy_rate_limit',
  'policy_blast_radius',
  'policy_budget',
  'policy_error',
  'policy_undecided',
] as const

export type PolicyCode = (typeof policyCodes)[number]
