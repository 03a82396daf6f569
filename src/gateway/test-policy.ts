import { checkPolicy } from '../policy/check-policy.ts'
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { describeExplanation } from '../policy/explain.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { parsePolicyCases, runPolicyCase } from '../policy/policy-case.ts'
import type { PolicyReference } from '../policy/policy-case-schema.ts'
import { refuseErrors } from './text-answers.ts'

/** How cases came out. */
interface TestedPolicy {
  readonly passed: number
  readonly failed: number
  readonly cases: { readonly name: string; readonly passed: boolean; readonly message: string | null }[]
}

/**
 * Tries a policy against cases. A case without a policy of its own, or with the name of a file, is one of the given text. Throws `invalid_policy` for a text or cases with errors, all of
 * them named.
 */
export function testPolicy(text: string, cases: string, tools: readonly string[]): TestedPolicy {
  const { policy, diagnostics } = parsePolicy(text, { format: formatOf(text), tools })
  if (policy === null) refuseErrors('invalid_policy', diagnostics)
  const given = compilePolicy(policy!)
  const parsed = parsePolicyCases(cases, { format: formatOf(cases) })
  if (parsed.cases === null) refuseErrors('invalid_policy', parsed.diagnostics)
  const file = parsed.cases!
  const tried = file.cases.map((each) => {
    const named = each.policy ?? file.policy ?? []
    const list = (Array.isArray(named) ? named : [named]) as readonly PolicyReference[]
    const policies = list.length === 0 ? [given] : list.map((reference) => open(reference, given))
    if (policies.includes(null)) return { name: each.name, passed: false, message: 'its policy has errors' }
    const { differences, explanation } = runPolicyCase(file, each, policies as CompiledPolicy[])
    const passed = differences.length === 0
    const message = passed ? null : [...differences, ...describeExplanation(explanation)].join('\n')
    return { name: each.name, passed, message }
  })
  const passed = tried.filter((each) => each.passed).length
  return { passed, failed: tried.length - passed, cases: tried }
}

function open(reference: PolicyReference, given: CompiledPolicy): CompiledPolicy | null {
  if (typeof reference === 'string') return given
  const { policy } = checkPolicy(reference)
  return policy === null ? null : compilePolicy(policy)
}

function formatOf(text: string): 'json' | 'yaml' {
  return /^\s*\{/.test(text) ? 'json' : 'yaml'
}
