import { LockstepError } from '../shared/lockstep-error.ts'
import { SecretStore } from '../source/secret-store.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import { timeText } from './runs-command.ts'
import type { Terminal } from './terminal.ts'

/** `lockstep secret list`: the names of the secrets in the store and when they were set, never what they are. */
export async function listSecrets(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { names, flags } = readFlags(args, { json: 'switch' })
  if (names.length > 0) throw new LockstepError('usage', 'secret list takes no names')
  const store = new SecretStore()
  const secrets = store.list()
  if (flags.has('json')) {
    terminal.out(`${JSON.stringify({ store: store.path, secrets }, null, 2)}\n`)
    return exitCode.done
  }
  if (secrets.length === 0) {
    terminal.out('No secret is in the store.\nNext: npx lockstep secret set NAME\n')
    return exitCode.done
  }
  const width = Math.max(...secrets.map(({ name }) => name.length))
  const rows = secrets.map(({ name, setAt }) => `${name.padEnd(width)}  ${timeText(Date.parse(setAt))}\n`)
  terminal.out(`${'NAME'.padEnd(width)}  SET\n${rows.join('')}`)
  return exitCode.done
}
