import { connectEngine, type EngineClient, type ResumeOptions } from '../app.ts'
import type { Json } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ExitCode } from './exit-code.ts'
import { followRun } from './follow-run.ts'
import { homeOf } from './hosted-run.ts'
import { localUser } from './local-user.ts'
import { readKeptPlaybook } from '../playbook/read-kept-playbook.ts'
import type { Flags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

/**
 * Shows a run that the engine of another process has in hand, instead of taking it up; null if none has. That one is told what became of calls. Throws `usage` for
 * a call of which nobody has to say that, and for what only that one could do.
 */
export async function followElsewhere(
  run: string,
  text: string | null,
  {
    folder,
    flags,
    settle,
    terminal,
  }: {
    readonly folder: string
    readonly flags: Flags
    readonly settle: NonNullable<ResumeOptions['settle']>
    readonly terminal: Terminal
  },
): Promise<ExitCode | null> {
  const engine = await connectEngine(homeOf(folder))
  if (engine === null) return null
  const controller = new AbortController()
  try {
    if (!(await engine.runs()).includes(run)) return null
    const said = ['retry', 'break-glass'].filter((name) => flags.lists.has(name) || flags.flags.has(name))
    if (said.length > 0)
      throw new LockstepError(
        'usage',
        `process ${engine.pid} has run ${run} in hand, so --${said[0]} cannot be given here`,
        { hint: 'end that process first; what is in flight is waited for' },
      )
    await settleThere(engine, run, settle)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => controller.abort())
    const json = flags.flags.has('json')
    if (!json) terminal.out(`run ${run} · worked on by process ${engine.pid}\n`)
    const playbook = text === null ? null : readKeptPlaybook(text)
    const { signal } = controller
    const untilHeld = process.stdout.isTTY !== true
    const settled = Object.keys(settle)
    const shown = { run, playbook, from: 1, json, terminal, signal, untilHeld, settled, asRun: true }
    return await followRun(engine, shown)
  } finally {
    engine.close()
  }
}

async function settleThere(
  engine: EngineClient,
  run: string,
  settle: NonNullable<ResumeOptions['settle']>,
): Promise<void> {
  for (const [callId, { outcome, result }] of Object.entries(settle)) {
    const said = {
      outcome: outcome as 'succeeded' | 'failed',
      ...(result === undefined ? {} : { result: result as Json }),
    }
    const order = { type: 'settle', callId, by: localUser({}).id, reason: null, ...said } as const
    if (await engine.order(run, order)) continue
    throw new LockstepError('usage', `There is no call '${callId}' of unknown outcome to be settled.`, {
      hint: `see the calls: npx lockstep show ${run}`,
    })
  }
}
