import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import { policyOf } from '../policy/policy.ts'
import { policySchema } from '../policy/policy-schema.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import type { PolicySetup } from './policy-guard.ts'

const made = new WeakMap<Playbook, Map<string, CompiledPolicy>>()

/**
 * The policies that a run stands under: those it is given, and the runbook's own where steps of it require approval. Undefined where there are none,
 * and nobody is asked. Asked twice, it says the same.
 */
export function policiesOf(
  playbook: Playbook,
  given: PolicySetup | undefined,
  principal = 'local',
): PolicySetup | undefined {
  const own = runbookPolicy(playbook, given?.policies ?? [])
  if (own === null || given?.policies.includes(own) === true) return given
  if (given === undefined) return { policies: [own], principal: { id: principal, kind: 'local', roles: [] } }
  // Where policies are asked and none is given, the default holds, and goes on to.
  const others = given.policies.length === 0 ? [defaultPolicy()] : given.policies
  return { ...given, policies: [...others, own] }
}

/**
 * What `requires_approval` and `required_roles` of a playbook's steps come to, as a policy: it allows everything else. Whether whoever asked may approve, how
 * long an approval holds and whose identity counts are not for a runbook to say: the other policies do.
 */
function runbookPolicy(playbook: Playbook, others: readonly CompiledPolicy[]): CompiledPolicy | null {
  const approvals = playbook.steps.flatMap((step): JsonObject[] => {
    if (step.tool === null || !step.requiresApproval) return []
    const roles = step.requiredRoles.length === 0 ? {} : { required_roles: [...step.requiredRoles] }
    return [{ step: step.id, tool: step.tool, ...roles }]
  })
  if (approvals.length === 0) return null
  const source: JsonObject = {
    id: `runbook.${playbook.id}`,
    version: playbook.version,
    approvals,
    risk: { irreversible: 'allow' },
    ...termsOf(others),
  }
  const known = made.get(playbook) ?? new Map<string, CompiledPolicy>()
  made.set(playbook, known)
  const text = JSON.stringify(source)
  const policy = known.get(text) ?? compilePolicy(policyOf(policySchema.parse(source), source))
  known.set(text, policy)
  return policy
}

/** What the policies of a run say of every approval. */
function termsOf(policies: readonly CompiledPolicy[]): JsonObject {
  const sources = policies.filter(({ ref }) => !ref.id.startsWith('runbook.')).map(({ source }) => source)
  const self = sources.some((source) => source['allow_self_approval'] === true)
  const defaults = sources.map((source) => source['approval_defaults'] ?? {}).find(hasTerms)
  const { expires_after, identity } = (defaults ?? {}) as JsonObject
  const terms = {
    ...(expires_after === undefined ? {} : { expires_after }),
    ...(identity === undefined ? {} : { identity }),
  }
  return {
    ...(self ? { allow_self_approval: true } : {}),
    ...(Object.keys(terms).length === 0 ? {} : { approval_defaults: terms }),
  }
}

function hasTerms(defaults: Json): boolean {
  return isJsonObject(defaults) && ('expires_after' in defaults || 'identity' in defaults)
}
