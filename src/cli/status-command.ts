import { dirname } from 'node:path'
import { connectEngine, inspectStore, openRecords, type Records } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { readServerNote, type ServerNote } from '../source/server-note.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { heldCalls } from '../overview/held-call.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep status [--json]

Shows what is going on in the data folder: which process works on it and where its server is, the runs that it has in hand, those that are open, the calls that wait for
approval, and whether everything is halted.

Options:
  --json   one JSON document, for programs

Exit codes: 0 done, 1 what is there cannot be read, 2 wrong usage.

Examples:
  lockstep status
  LOCKSTEP_HOME=/srv/lockstep lockstep status --json
`

/** How things stand in a data folder. */
export interface Standing {
  readonly home: string
  readonly store: { readonly form: number; readonly bytes: number } | null
  /** The process that has the store in hand; null for none. */
  readonly engine: { readonly pid: number; readonly server: ServerNote | null } | null
  readonly runsAtWork: readonly string[]
  readonly openRuns: readonly string[]
  readonly waitingApprovals: number
  readonly halted: { readonly by: string; readonly reason: string; readonly at: string } | null
}

/** `lockstep status`: who works on the data folder, and what waits there. */
export const statusCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { json: 'switch' })
    if (names.length > 0)
      throw new LockstepError('usage', 'status takes no names', { hint: 'see a run: lockstep show RUN' })
    const standing = await readStanding(dirname(runFolder()))
    if (flags.has('json')) terminal.out(`${JSON.stringify(standing, null, 2)}\n`)
    else for (const line of describe(standing)) terminal.out(`${escapeControl(line)}\n`)
    return exitCode.done
  },
}

/** How things stand; no store is made where there is none. Throws `journal_unreadable` and `engine_unavailable`. */
export async function readStanding(home: string): Promise<Standing> {
  const look = await inspectStore(home)
  const engine = await connectEngine(home)
  try {
    const records = await openRecords(runFolder({ ...process.env, LOCKSTEP_HOME: home }))
    try {
      const openRuns = look === null ? [] : await records.openRuns()
      const halt = look === null ? null : await records.halted('local')
      return {
        home,
        store: look === null ? null : { form: look.version, bytes: look.bytes },
        engine: engine === null ? null : { pid: engine.pid, server: readServerNote(home, engine.pid) },
        runsAtWork: (await engine?.runs()) ?? [],
        openRuns,
        waitingApprovals: await countWaiting(records, openRuns),
        halted:
          halt === null ? null : { by: halt.by, reason: halt.reason, at: new Date(halt.at).toISOString() },
      }
    } finally {
      await records.close()
    }
  } finally {
    engine?.close()
  }
}

/** Only a run that has not ended can wait for anybody. */
async function countWaiting(records: Records, runs: readonly string[]): Promise<number> {
  let count = 0
  for (const run of runs) {
    const calls = heldCalls(await records.read(run), Date.now())
    count += calls.filter(({ state }) => state === 'waiting').length
  }
  return count
}

function describe({
  home,
  store,
  engine,
  runsAtWork,
  openRuns,
  waitingApprovals,
  halted,
}: Standing): string[] {
  const server = engine?.server ?? null
  return [
    `Data folder: ${home}`,
    `Store: ${store === null ? 'none yet' : `form ${store.form}, ${store.bytes} bytes`}`,
    `Engine: ${engine === null ? 'no process has it' : `process ${engine.pid}`}`,
    `Server: ${server === null ? 'not running' : `${server.url} since ${server.since}`}`,
    `Runs in hand: ${listed(runsAtWork)}`,
    `Open runs: ${listed(openRuns)}`,
    `Calls that wait for approval: ${waitingApprovals}`,
    `Halted: ${halted === null ? 'no' : `by ${halted.by} at ${halted.at}: ${halted.reason}`}`,
    `Next: npx lockstep ${waitingApprovals > 0 ? 'approvals' : server === null ? 'serve' : 'runs'}`,
  ]
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return '0'
  return `${names.length} (${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''})`
}
