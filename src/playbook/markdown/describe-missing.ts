import type { Found } from './callables.ts'

/** Why a name calls nothing, and what would. */
export function describeMissing(
  found: Exclude<Found, { readonly kind: 'one' }>,
  name: string,
): { readonly message: string; readonly suggestion: string | null } {
  switch (found.kind) {
    case 'several':
      return {
        message: `\`${name}\` could be ${found.names.join(' or ')}`,
        suggestion: 'name the agent, as in `Agent.Name(…)`',
      }
    case 'private':
      return {
        message: `\`${name}\` belongs to the agent ${found.callable.agent} and is not public`,
        suggestion: 'write `public: true` below its heading',
      }
    case 'none':
      return {
        message: `there is no playbook, function or tool \`${name}\``,
        suggestion: found.nearest === null ? null : `did you mean \`${found.nearest}\`?`,
      }
  }
}
