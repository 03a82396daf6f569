import type { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

/**
 * Finds a secret that a playbook declares, by its name and by what the playbook says of where it is: `store:NAME`, `env:NAME` or `file:/PATH`. It is asked each time
 * a call needs the secret, and never in a dry run. Whatever it throws means that the call is not made; its message is recorded, so it must not hold the secret.
 */
export type SecretResolver = (name: string, reference: string) => string | Promise<string>

/** Throws `secret_unavailable` for a playbook whose secrets nobody would find. */
export function refuseUnfound({ secrets }: Playbook, resolver: SecretResolver | null): void {
  const names = Object.keys(secrets)
  if (names.length === 0 || resolver !== null) return
  const list = names.map((name) => `${name} (${secrets[name]})`).join(', ')
  throw new LockstepError(
    'secret_unavailable',
    `The playbook needs secrets, and nothing here finds them: ${list}.`,
    {
      hint: 'Pass `secrets: (name, reference) => …` to Agent, runPlaybook or the enforcer; `lockstep run` finds them by itself.',
    },
  )
}
