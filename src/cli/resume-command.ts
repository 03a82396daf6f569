import { relative } from 'node:path'
import { type AgentEvent, type JournalEntry, type ResumeOptions, openRecords } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { loadConfig } from '../source/load-config.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { followElsewhere } from './follow-elsewhere.ts'
import { findRun } from './find-run.ts'
import { openPinnedPlaybook } from './pinned-playbook.ts'
import { type Flags, readFlags, unknown } from './read-flags.ts'
import { prepareRunFolder, runFolder } from './run-folder.ts'
import { codeOf } from './run-playbook.ts'
import { RunSession } from './run-session.ts'
import { describeGlass, openStanding, underDefaults, withGlassBroken } from './run-standing.ts'
import { describeHeld } from './describe-held-call.ts'
import { heldCalls } from '../overview/held-call.ts'
import { type RunStart, readStart } from './run-start.ts'

const help = `Usage: lockstep resume RUN [OPTIONS]

Takes up a run of lockstep run that was interrupted, crashed, or waits for a person. It goes on where its record ends:
what was done is not done again, in the mode in which it was begun and by the playbook it was begun with.
The beginning of a run's name is enough.

Options:
  --settle CALL=succeeded   a call whose outcome nobody knew did happen; may stand often
  --settle CALL=failed      it did not happen, and may be made again
  --result JSON             what the one call that is settled as succeeded returned
  --retry STEP              begins a failed step anew, or one that waits for a person; may stand often
  --break-glass REASON      pass what a policy lets somebody with your role pass in an emergency; the record says so, and why
  --model MODEL             another model than the one it was begun with
  -v, --verbose             tell every bullet of a Markdown playbook as it begins
  --json                    every event as a line of JSON, and the result as the last

Policies are read as they are now, those it was begun under and those of the configuration.

Exit codes: 0 succeeded, 1 failed or incomplete, 2 wrong usage, 4 waits for approval.

Examples:
  lockstep resume r_2b1f
  lockstep resume r_2b1f --settle 3.s3-1=succeeded --result '{"receipt": 7}'
  lockstep resume r_2b1f --retry issue_refund
`

const rules = {
  settle: { value: 'CALL=succeeded or CALL=failed', often: true },
  result: { value: 'JSON' },
  retry: { value: 'STEP', often: true },
  'break-glass': { value: 'REASON' },
  model: { value: 'openai:…, anthropic:…, openai-compatible:…, scripted:FILE or me' },
  json: 'switch',
  verbose: 'switch',
  v: 'switch',
} as const

/** `lockstep resume`: takes up a run that has not ended. */
export const resumeCommand: Command = {
  help,
  async run(args, terminal) {
    const flags = readFlags(args, rules)
    const [wanted, ...more] = flags.names
    if (more.length > 0) throw new LockstepError('usage', 'resume takes one run')
    const settle = readSettled(flags)
    const { run, entries, text } = await readRun(wanted)
    const folder = prepareRunFolder()
    const elsewhere = await followElsewhere(run, text, { folder, flags, settle, terminal })
    if (elsewhere !== null) return elsewhere
    const start = startOf(folder, run)
    const begun = entries[0]!.data
    const digest = String(begun['playbook'])
    const playbook = await openPinnedPlaybook(start, digest, async () => text, terminal)
    if (playbook === null) return exitCode.failed
    const retry = flags.lists.get('retry') ?? []
    assertSteps(playbook, retry)
    const config = start.config === null ? null : await loadConfig(start.config)
    const opened = openStanding(config, start.policies, terminal, entries)
    if (opened === null) return exitCode.failed
    const reason = flags.flags.get('break-glass') ?? null
    const standing = withGlassBroken(underDefaults(opened, playbook), reason)
    const past = entries.map(({ type, at, data }) => ({ ...data, type, at }) as unknown as AgentEvent)
    const answered = past.filter(
      ({ type }) => type === 'model.answered' || type === 'question.answered',
    ).length
    const session = new RunSession({
      playbook,
      file: relative('.', start.playbook),
      inputs: begun['inputs'] as JsonObject,
      config,
      standing,
      model: flags.flags.get('model') ?? start.model,
      // Another script is taken from its beginning.
      answered: flags.flags.has('model') ? 0 : answered,
      mode: start.mode,
      json: flags.flags.has('json'),
      verbose: flags.flags.has('verbose') || flags.flags.has('v'),
      folder,
      run,
      terminal,
    })
    const calls = past.filter(({ type }) => type === 'tool.admitted').length
    const result = await session.work({
      before: [
        ...describeGlass(standing),
        `Taken up after ${answered} turns and ${calls} calls · ${relative('.', start.playbook)}`,
        ...heldCalls(entries, Date.now()).slice(-1).flatMap(describeHeld),
      ],
      past,
      again: null,
      start: (agent, seat, person) => agent.resume(run, { ...seat, settle, retry, person }),
    })
    return codeOf(result, session.heldUp)
  },
}

async function readRun(wanted: string | undefined): Promise<{
  readonly run: string
  readonly entries: readonly JournalEntry[]
  /** The playbook it was begun with, as it was kept. */
  readonly text: string | null
}> {
  const records = await openRecords(runFolder())
  try {
    const run = await findRun(records, wanted)
    const entries = await records.read(run)
    const [first] = entries
    const end = entries.findLast(({ type }) => type === 'run.finished')
    if (first === undefined || first.type !== 'run.started') {
      throw new LockstepError('invalid_snapshot', `Run ${run} was interrupted before it began.`, {
        hint: 'start it anew',
      })
    }
    if (end === undefined) {
      const playbook = await records.document(String(first.data['playbook']))
      return { run, entries, text: playbook === null ? null : JSON.stringify(playbook) }
    }
    throw new LockstepError(
      'invalid_input',
      `Run ${run} has ended (${String(end.data['status'])}), so there is nothing to take up.`,
      { hint: 'begin a new one with lockstep run' },
    )
  } finally {
    await records.close()
  }
}

function startOf(folder: string, run: string): RunStart {
  const start = readStart(folder, run)
  if (start !== null) return start
  throw new LockstepError('invalid_input', `Run ${run} was not begun by lockstep run.`, {
    hint: 'take it up where it was begun: with agent.resume in a program, or with lockstep mcp --run; lockstep mcp settle says what became of a call of that one',
  })
}

function assertSteps(playbook: Playbook, steps: readonly string[]): void {
  const known = playbook.steps.map(({ id }) => id)
  for (const step of steps) if (!known.includes(step)) throw unknown('step', step, known)
}

function readSettled({ lists, flags }: Flags): NonNullable<ResumeOptions['settle']> {
  const texts = lists.get('settle') ?? []
  const result = flags.get('result')
  const settled = texts.map((text) => {
    const at = text.lastIndexOf('=')
    const [call, outcome] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
    if (call === '' || (outcome !== 'succeeded' && outcome !== 'failed')) {
      const nearest = nearestName(outcome, ['succeeded', 'failed'])
      throw new LockstepError('usage', `--settle needs CALL=succeeded or CALL=failed, not ${text}`, {
        hint: call === '' || nearest === null ? null : `did you mean ${call}=${nearest}?`,
      })
    }
    return [call, outcome] as const
  })
  if (new Set(settled.map(([call]) => call)).size < settled.length)
    throw new LockstepError('usage', 'a call can be settled only once')
  if (result !== undefined && (settled.length !== 1 || settled[0]![1] !== 'succeeded'))
    throw new LockstepError('usage', '--result goes with one --settle CALL=succeeded')
  return Object.fromEntries(
    settled.map(([call, outcome]) => [
      call,
      outcome === 'succeeded'
        ? { outcome, ...(result === undefined ? {} : { result: readJson(result) }) }
        : { outcome, error: 'a person found out that it did not happen' },
    ]),
  )
}

function readJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw new LockstepError('usage', `--result must be JSON, not ${text}`, {
      hint: `text is JSON in quotation marks: '"done"'`,
    })
  }
}
