import { compileGlob } from './compile-glob.ts'
import type { PolicyRule, Utterance } from './policy-rule.ts'
import { remember } from './remember.ts'

/** How the allowlist speaks: where none of the asker's roles may call the tool. */
export function compileAllowlist(
  allowlist: Readonly<Record<string, readonly string[]>>,
): Pick<PolicyRule, 'speak' | 'silence'> {
  const byRole = Object.entries(allowlist).map(([role, patterns]) => ({
    role,
    fits: patterns.map(compileGlob),
  }))
  const rolesFor = remember(
    (tool): ReadonlySet<string> =>
      new Set(byRole.filter(({ fits }) => fits.some((fit) => fit(tool))).map(({ role }) => role)),
  )
  return {
    speak({ request, facts }): Utterance | null {
      const allowed = rolesFor(request.tool)
      const { roles } = facts.principal
      if (roles.some((role) => allowed.has(role))) return null
      const who = roles.length === 0 ? 'somebody without a role' : `the role ${roles.join(' or ')}`
      const whose = allowed.size === 0 ? 'no role may' : `${[...allowed].join(' or ')} may`
      return { verdict: 'deny', code: 'policy_role', reason: `${who} may not call ${request.tool}; ${whose}` }
    },
    silence({ request, facts }) {
      const role = facts.principal.roles.find((each) => rolesFor(request.tool).has(each))
      return `the role ${role} may call ${request.tool}`
    },
  }
}
