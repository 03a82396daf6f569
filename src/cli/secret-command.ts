import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { unknown } from './read-flags.ts'
import { listSecrets } from './secret-list.ts'
import { removeSecret } from './secret-remove.ts'
import { setSecret } from './secret-set.ts'

const help = `Usage: lockstep secret set NAME
       lockstep secret list [--json]
       lockstep secret remove NAME

Keeps secrets for tools, encrypted, in the user's data folder. A configuration refers to one as store:NAME.

set       asks for the value without showing it, or reads it from a pipe; never from an argument, which shells remember
list      the names and when each was set, never the values
  --json  one JSON document, for programs
remove    takes a secret out

The key is in keys/secrets.json of the data folder, or in LOCKSTEP_SECRET_KEY: 32 bytes in hexadecimal or Base64.

Exit codes: 0 done, 1 failed, 2 wrong usage.

Examples:
  lockstep secret set shop_token
  pass show shop | lockstep secret set shop_token
  lockstep secret list
`

const commands = { set: setSecret, list: listSecrets, remove: removeSecret } as const

/** `lockstep secret`: keeps secrets for tools, encrypted. */
export const secretCommand: Command = {
  help,
  async run([name, ...args], terminal) {
    if (name === undefined) throw new LockstepError('usage', 'secret needs a word more: set, list or remove')
    if (!Object.hasOwn(commands, name)) throw unknown('word after secret:', name, Object.keys(commands))
    return await commands[name as keyof typeof commands](args, terminal)
  },
}
