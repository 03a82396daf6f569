import { connectEngine } from '../app.ts'
import { makeLink } from '../app-serve.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { readServerNote } from '../source/server-note.ts'
import type { Settings } from '../source/settings.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import { openSettings, settingFlags } from './setting-flags.ts'

const help = `Usage: lockstep link EMAIL

Makes a one-time link that signs somebody in to the server of this data folder, whether it is running or not. Whoever can write to the data folder can do that; it is part of
the record.

Options:
  --config FILE   another configuration than the nearest lockstep.config.yaml

Exit codes: 0 done, 1 failed, 2 wrong usage, or nobody has that address.

Examples:
  lockstep link admin@local
`

/** `lockstep link`: a way in for somebody who has no other. */
export const linkCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, settingFlags)
    const [email, more] = names
    if (email === undefined || more !== undefined)
      throw new LockstepError('usage', 'link needs one address', { hint: 'lockstep link admin@local' })
    const { settings } = await openSettings(flags)
    const { token, expiresAt } = await makeLink(settings, email)
    terminal.out(`${await addressOf(settings)}/console/sign-in#token=${token}\n`)
    terminal.out(`It works once, until ${new Date(expiresAt).toISOString()}.\n`)
    return exitCode.done
  },
}

/** Where the server is, or will be. */
async function addressOf({ home, publicUrl, host, port }: Settings): Promise<string> {
  if (publicUrl !== null) return publicUrl
  const engine = await connectEngine(home).catch(() => null)
  engine?.close()
  const note = engine === null ? null : readServerNote(home, engine.pid)
  const name = /^(?:127(?:\.\d+){3}|::1|0\.0\.0\.0|::)$/.test(host) ? 'localhost' : host
  return note?.url ?? `http://${name}:${port}`
}
