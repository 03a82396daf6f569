/** What `lockstep cancel`, `pause` and `unpause` share: the order goes to the engine that has the run, else into its record. */
import {
  connectEngine,
  openJournalOf,
  openRecords,
  writeOrder,
  type JournalEntry,
  type RunOrder,
} from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { homeOf } from './hosted-run.ts'
import { localUser } from './local-user.ts'
import { openPinnedPlaybook } from './pinned-playbook.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'
import { readStart } from './run-start.ts'
import type { Terminal } from './terminal.ts'

/** What can be said of a run as a whole. */
type StandingOrder = Exclude<RunOrder['type'], 'settle'>

/** Reads RUN and --reason, gives the order and says what comes of it. Throws `usage`, and what keeps the order from being given. */
export async function giveOrder(
  type: StandingOrder,
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const { names, flags } = readFlags(args, { reason: { value: 'TEXT' } })
  const [wanted, ...more] = names
  if (wanted === undefined || more.length > 0) throw new LockstepError('usage', `${type} takes one run`)
  const folder = runFolder()
  const { run, entries, text } = await readRecord(folder, wanted)
  const ended = endOf(entries)
  if (ended !== null)
    throw new LockstepError('invalid_input', `Run ${run} has ended (${ended}).`, {
      hint: `see what happened: npx lockstep show ${run}`,
    })
  const by = localUser({}).id
  const order: RunOrder = { type, by, reason: flags.get('reason') ?? null }
  const engine = await connectEngine(homeOf(folder))
  try {
    const there = engine !== null && (await engine.runs()).includes(run)
    const changed = there
      ? await engine.order(run, order)
      : await orderHere(folder, run, { entries, text }, order, terminal)
    const now = (await readRecord(folder, run)).entries
    return tell(type, run, { changed, there, ended: endOf(now), undoes: isUndoing(now) }, terminal)
  } finally {
    engine?.close()
  }
}

async function readRecord(folder: string, wanted: string) {
  const records = await openRecords(folder)
  try {
    const run = await findRecord(records, wanted)
    const entries = await records.read(run)
    const document = await records.document(String(entries[0]?.data['playbook']))
    return { run, entries, text: document === null ? null : JSON.stringify(document) }
  } finally {
    await records.close()
  }
}

async function orderHere(
  folder: string,
  run: string,
  { entries, text }: { readonly entries: readonly JournalEntry[]; readonly text: string | null },
  order: RunOrder,
  terminal: Terminal,
): Promise<boolean> {
  const start = readStart(folder, run)
  if (start === null)
    throw new LockstepError('invalid_input', `Run ${run} was not begun by lockstep run.`, {
      hint: 'stop it where it was begun',
    })
  const digest = String(entries[0]?.data['playbook'])
  const playbook = await openPinnedPlaybook(start, digest, async () => text, terminal)
  if (playbook === null) throw new LockstepError('invalid_input', `The playbook of run ${run} has problems.`)
  const journal = await openJournalOf(folder, run)
  try {
    return await writeOrder({ playbook, journal, principal: order.by }, run, order)
  } finally {
    await journal.close()
  }
}

function endOf(entries: readonly JournalEntry[]): string | null {
  const end = entries.findLast(({ type }) => type === 'run.finished')
  return end === undefined ? null : String(end.data['status'])
}

/** Whether a run undoes what was done though nobody has cancelled it: something failed. */
export function isUndoing(entries: readonly JournalEntry[]): boolean {
  const has = (wanted: string) => entries.some(({ type }) => type === wanted)
  return has('compensation.begun') && !has('cancel.requested')
}

const words = { cancel: 'cancelled', pause: 'paused', unpause: 'let go on' } as const
const already = {
  cancel: 'is being cancelled already',
  pause: 'is paused already',
  unpause: 'is not paused',
} as const

function tell(
  type: StandingOrder,
  run: string,
  {
    changed,
    there,
    ended,
    undoes,
  }: {
    readonly changed: boolean
    readonly there: boolean
    readonly ended: string | null
    readonly undoes: boolean
  },
  terminal: Terminal,
): ExitCode {
  const say = (line: string) => terminal.out(`${escapeControl(line)}\n`)
  say(
    changed
      ? `${words[type]} · run ${run}${ended === null ? '' : ` has ended (${ended})`}`
      : type === 'cancel' && undoes
        ? `Run ${run} undoes what was done because something failed; it ends after that.`
        : `Run ${run} ${already[type]}.`,
  )
  const show = `npx lockstep show ${run}`
  const next =
    ended !== null
      ? show
      : there
        ? `npx lockstep tail ${run}`
        : type === 'pause'
          ? `npx lockstep unpause ${run}`
          : `npx lockstep resume ${run}`
  if (type === 'cancel' && changed && ended === null)
    say(
      there
        ? 'What is in flight is waited for; then the run ends, or what was done is undone.'
        : 'It ends when it is taken up: what was done may have to be undone first.',
    )
  say(`Next: ${next}`)
  return changed ? exitCode.done : exitCode.failed
}
