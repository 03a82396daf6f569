import { connectEngine } from '../app.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ExitCode } from './exit-code.ts'
import { followRun } from './follow-run.ts'
import { homeOf } from './hosted-run.ts'
import { readKeptPlaybook } from '../playbook/read-kept-playbook.ts'
import type { Flags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

/** Shows a run that the engine of another process has in hand, instead of taking it up; null if none has. Throws `usage` for what only that one could do. */
export async function followElsewhere(
  run: string,
  text: string | null,
  {
    folder,
    flags,
    terminal,
  }: { readonly folder: string; readonly flags: Flags; readonly terminal: Terminal },
): Promise<ExitCode | null> {
  const engine = await connectEngine(homeOf(folder))
  if (engine === null) return null
  const controller = new AbortController()
  try {
    if (!(await engine.runs()).includes(run)) return null
    const said = ['settle', 'retry', 'break-glass'].filter((name) => flags.lists.has(name))
    if (said.length > 0)
      throw new LockstepError(
        'usage',
        `process ${engine.pid} has run ${run} in hand, so --${said[0]} cannot be given here`,
        { hint: 'end that process first; what is in flight is waited for' },
      )
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => controller.abort())
    const json = flags.flags.has('json')
    if (!json) terminal.out(`run ${run} · worked on by process ${engine.pid}\n`)
    const playbook = text === null ? null : readKeptPlaybook(text)
    const { signal } = controller
    const untilHeld = process.stdout.isTTY !== true
    return await followRun(engine, { run, playbook, from: 1, json, terminal, signal, untilHeld, asRun: true })
  } finally {
    engine.close()
  }
}
