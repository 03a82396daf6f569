import { LockstepError } from '../shared/lockstep-error.ts'
import { checkSecretName } from '../source/secret-name.ts'
import { SecretStore } from '../source/secret-store.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import { readSecretValue, type ValueInput } from './read-secret-value.ts'
import type { Terminal } from './terminal.ts'

/** `lockstep secret set`: puts a secret into the store. The value is never an argument. */
export async function setSecret(
  args: readonly string[],
  terminal: Terminal,
  input: ValueInput = process.stdin,
): Promise<ExitCode> {
  const { names } = readFlags(args, {})
  const [name, ...rest] = names
  if (name === undefined) throw new LockstepError('usage', 'secret set needs a name')
  // What was given is not shown again: it may be the secret.
  if (rest.length > 0 || name.includes('=')) {
    throw new LockstepError(
      'usage',
      'a secret is never an argument: shells keep those in their history, and everybody on the machine sees them in the list of processes.',
      { hint: 'give the name alone and type the value when it is asked for, or send it through a pipe' },
    )
  }
  checkSecretName(name)
  const store = new SecretStore()
  const said = await store.set(name, await readSecretValue(name, input, (text) => terminal.err(text)))
  const did = said === 'new' ? 'is set' : 'is set anew'
  terminal.out(`${name} ${did}. A configuration refers to it as store:${name}\n`)
  return exitCode.done
}
