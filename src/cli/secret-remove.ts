import { LockstepError } from '../shared/lockstep-error.ts'
import { checkSecretName } from '../source/secret-name.ts'
import { SecretStore } from '../source/secret-store.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

/** `lockstep secret remove`: takes a secret out of the store. */
export async function removeSecret(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { names } = readFlags(args, {})
  const [name, second] = names
  if (name === undefined || second !== undefined)
    throw new LockstepError('usage', 'secret remove needs one name')
  checkSecretName(name)
  await new SecretStore().remove(name)
  terminal.out(`${name} is removed. If it is no longer to be used, revoke it where it came from too.\n`)
  return exitCode.done
}
