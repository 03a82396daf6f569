import { spawn } from 'node:child_process'
import { connectEngine, openRecords } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { homeOf } from './hosted-run.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'
import { readStart } from './run-start.ts'

const help = `Usage: lockstep recover

Takes up every run of lockstep run that has not ended and that nobody is at work on, one after the other, as after a crash or a restart of
the machine. Each goes on as with lockstep resume; one that waits for a person still waits.

Exit codes: 0 all of them succeeded, 1 one failed or could not be taken up, 2 wrong usage, 4 one waits for approval.

Examples:
  lockstep recover
`

/** `lockstep recover`: takes up everything that was cut off. */
export const recoverCommand: Command = {
  help,
  async run(args, terminal) {
    if (readFlags(args, {}).names.length > 0)
      throw new LockstepError('usage', 'recover takes no names', { hint: 'take one up: lockstep resume RUN' })
    const folder = runFolder()
    const open = await openRuns(folder)
    const busy = await runsInHand(folder)
    const codes: ExitCode[] = []
    for (const run of open) {
      const why = busy.has(run)
        ? 'another process is at work on it'
        : readStart(folder, run) === null
          ? 'it was not begun by lockstep run'
          : null
      terminal.out(escapeControl(`${run} · ${why === null ? 'taken up' : `left alone: ${why}`}`) + '\n')
      if (why === null) codes.push(await resume(run))
    }
    if (open.length === 0) terminal.out('Every run has ended.\n')
    const waits = codes.includes(exitCode.waitsForApproval) ? exitCode.waitsForApproval : exitCode.done
    return codes.some((code) => code !== exitCode.done && code !== exitCode.waitsForApproval)
      ? exitCode.failed
      : waits
  },
}

async function openRuns(folder: string): Promise<readonly string[]> {
  const records = await openRecords(folder)
  try {
    return await records.openRuns()
  } finally {
    await records.close()
  }
}

/** The runs that the engine of another process has in hand. */
async function runsInHand(folder: string): Promise<ReadonlySet<string>> {
  const engine = await connectEngine(homeOf(folder))
  if (engine === null) return new Set()
  try {
    return new Set(await engine.runs())
  } finally {
    engine.close()
  }
}

/** A process of its own for each, so that one that waits, fails or is put down leaves the others alone. */
async function resume(run: string): Promise<ExitCode> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'resume', run], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.pipe(process.stdout, { end: false })
  child.stderr.pipe(process.stderr, { end: false })
  const stop = (signal: NodeJS.Signals) => void child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    return (code ?? exitCode.failed) as ExitCode
  } finally {
    for (const signal of signals) process.off(signal, stop)
  }
}
