/** Every check of a policy, in one pass; problems are values with their place. */
import { type Problem, type Report, reportInto } from '../document/problem.ts'
import { checkShape } from '../playbook/check-shape.ts'
import { createSuggester, type Suggester } from '../playbook/check-context.ts'
import { type Json, isJsonObject } from '../shared/json.ts'
import { checkApprovals } from './check-approvals.ts'
import { checkEntries } from './check-entries.ts'
import { checkFreeze } from './check-freeze.ts'
import { checkPolicyConditions } from './check-policy-conditions.ts'
import { checkPolicyKeys } from './check-policy-keys.ts'
import { checkPolicyTools } from './check-policy-tools.ts'
import { checkReach } from './check-reach.ts'
import { checkRoles } from './check-roles.ts'
import { policyOf, type Policy } from './policy.ts'
import { policySchema, type PolicyFile } from './policy-schema.ts'
import { PolicyWording } from './policy-wording.ts'

/** What a check may know besides the policy. */
export interface PolicyCheckOptions {
  /** The tools that exist; when given, a policy may speak of no others. */
  readonly tools?: readonly string[] | undefined
}

/** What every check of a policy works with. */
export interface PolicyCheckContext {
  readonly file: PolicyFile
  readonly report: Report
  readonly wording: PolicyWording
  readonly tools: readonly string[] | null
  readonly didYouMean: Suggester
}

const checks: readonly ((context: PolicyCheckContext) => void)[] = [
  checkEntries,
  checkRoles,
  checkPolicyConditions,
  checkPolicyTools,
  checkFreeze,
  checkReach,
  checkApprovals,
]

/** Judges a policy; it is null when there are errors. Never throws. */
export function checkPolicy(
  value: Json,
  options: PolicyCheckOptions = {},
): { policy: Policy | null; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const report = reportInto(problems)
  const wording = new PolicyWording(value)
  const known = checkPolicyKeys(value, policySchema, { report, wording })
  const broken = checkShape(known, policySchema, { report, wording })
  if (broken.length > 0 || !isJsonObject(value)) return { policy: null, problems }
  const file = policySchema.parse(known)
  const tools = options.tools === undefined ? null : [...new Set(options.tools)]
  const context: PolicyCheckContext = { file, report, wording, tools, didYouMean: createSuggester() }
  for (const check of checks) check(context)
  const failed = problems.some(({ severity }) => severity === 'error')
  return { policy: failed ? null : policyOf(file, value), problems }
}
