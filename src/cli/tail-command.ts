import { connectEngine, openRecords, type EngineClient, type JournalEntry } from '../app.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { followRun } from './follow-run.ts'
import { homeOf } from './hosted-run.ts'
import { readKeptPlaybook } from '../playbook/read-kept-playbook.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep tail RUN [--from N] [--json]

Shows a run as it goes on, from its beginning, until it has ended; Ctrl-C leaves it alone. A run at work is followed through its engine, any
other by its record.

Options:
  --from N   begin with entry N
  --json     every entry as a line of JSON

Exit codes: 0 succeeded or still going on, 1 failed, 2 wrong usage, 4 waits for approval.

Examples:
  lockstep tail r_2b1f
`

const lookMs = 250

/** `lockstep tail`: shows a run as it goes on. */
export const tailCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { from: { value: 'N' }, json: 'switch' })
    const [wanted, ...more] = names
    if (wanted === undefined || more.length > 0) throw new LockstepError('usage', 'tail takes one run')
    const from = Number(flags.get('from') ?? 1)
    if (!Number.isSafeInteger(from) || from < 1)
      throw new LockstepError('usage', `--from needs the number of an entry, not ${flags.get('from')}`)
    const folder = runFolder()
    const records = await openRecords(folder)
    let engine: EngineClient | null = null
    const controller = new AbortController()
    process.once('SIGINT', () => controller.abort())
    try {
      const run = await findRecord(records, wanted)
      const [first] = await records.read(run)
      const document = await records.document(String(first?.data['playbook']))
      const playbook = document === null ? null : readKeptPlaybook(JSON.stringify(document))
      engine = await connectEngine(homeOf(folder))
      const there = engine !== null && (await engine.runs()).includes(run)
      const { signal } = controller
      const options = { run, playbook, from, json: flags.has('json'), terminal, signal, untilHeld: false }
      return await followRun(there ? engine! : { tail: (_, __, until) => poll(records, run, until) }, options)
    } catch (error) {
      if (controller.signal.aborted) return exitCode.done
      throw error
    } finally {
      engine?.close()
      await records.close()
    }
  },
}

/** The entries of a run that no engine has in hand: by looking now and then. One that nobody is at work on has no more than these. */
async function* poll(
  records: { read(run: string): Promise<readonly JournalEntry[]> },
  run: string,
  signal: AbortSignal,
): AsyncGenerator<JournalEntry> {
  for (let next = 0; !signal.aborted;) {
    const entries = (await records.read(run)).slice(next)
    yield* entries
    next += entries.length
    if (entries.some(({ type }) => type === 'run.finished')) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, lookMs)
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
    })
  }
}
