/** What `lockstep halt` and `unhalt` share: all runs of the data folder, at once. */
import { dirname } from 'node:path'
import { connectEngine, openChainStore } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import { localUser } from './local-user.ts'
import { readFlags } from './read-flags.ts'
import { prepareRunFolder } from './run-folder.ts'
import type { Terminal } from './terminal.ts'

const tenant = 'local'

/** Halts everything, or lets it go on, with a reason. Throws `usage` without one. */
export async function setHalt(
  type: 'halt' | 'unhalt',
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const { names, flags } = readFlags(args, { reason: { value: 'TEXT' } })
  if (names.length > 0)
    throw new LockstepError('usage', `${type} takes no names: it is about all runs`, {
      hint: 'lockstep pause RUN stops one',
    })
  const reason = flags.get('reason')
  if (reason === undefined || reason.trim() === '')
    throw new LockstepError('usage', `${type} needs --reason TEXT`)
  const home = dirname(prepareRunFolder())
  const by = localUser({}).id
  const engine = await connectEngine(home)
  const changed = engine === null ? await setInStore(home, type, by, reason) : await engine[type](by, reason)
  engine?.close()
  const done = type === 'halt' ? 'HALTED: no run begins another effect' : 'All runs may go on'
  const not = type === 'halt' ? 'They were halted already.' : 'They were not halted.'
  terminal.out(`${escapeControl(changed ? `${done} · ${by}: ${reason}` : not)}\n`)
  terminal.out(`Next: npx lockstep ${type === 'halt' ? 'unhalt --reason TEXT' : 'runs'}\n`)
  return changed ? exitCode.done : exitCode.failed
}

async function setInStore(
  home: string,
  type: 'halt' | 'unhalt',
  by: string,
  reason: string,
): Promise<boolean> {
  const store = await openChainStore(home)
  try {
    return await store[type]({ tenant, principal: by }, { at: Date.now(), reason })
  } finally {
    await store.close()
  }
}
