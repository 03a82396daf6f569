import { openRecords, type JournalEntry, type Records } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'
import { describeCall } from './run-view.ts'
import { timeText } from './runs-command.ts'

const help = `Usage: lockstep show RUN [--json]

Shows what happened in a run: its steps, every call with its verdict and the reason, how it ended. The beginning of the name is enough
where only one run begins so. Secrets that can be told by their shape or name are taken out.

Options:
  --json   the entries as lines of JSON, without those secrets

Exit codes: 0 done, 1 the record cannot be trusted, 2 wrong usage.

Examples:
  lockstep show r_5d9c
`

/** `lockstep show`: one run, for people. */
export const showCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { json: 'switch' })
    const [wanted, ...more] = names
    if (wanted === undefined || more.length > 0)
      throw new LockstepError('usage', 'show takes one run', { hint: 'see which there are: lockstep runs' })
    const records = await openRecords(runFolder())
    try {
      const run = await findRecord(records, wanted)
      const entries = (await records.read(run)).map((entry) => ({ ...entry, data: redactObject(entry.data) }))
      if (flags.has('json')) {
        for (const entry of entries) terminal.out(`${JSON.stringify(entry)}\n`)
        return exitCode.done
      }
      terminal.out(await heading(records, run, entries))
      for (const line of entries.flatMap(describeEntry)) terminal.out(`${escapeControl(redactText(line))}\n`)
      terminal.out(`Next: npx lockstep verify ${run}\n`)
      return exitCode.done
    } finally {
      await records.close()
    }
  },
}

async function heading(records: Records, run: string, entries: readonly JournalEntry[]): Promise<string> {
  const { playbook, status, startedAt } = await records.summary(run)
  const [first] = entries
  const inputs = first?.data['inputs']
  const observed = first?.data['enforced'] === false ? ['observed, not enforced'] : []
  const about = [`run ${run}`, playbook ?? 'no playbook', status, ...observed]
  const lines = [
    about.join(' · '),
    `Begun ${startedAt === null ? 'at an unknown time' : timeText(startedAt)} by ${first?.principal ?? 'nobody'} (${first?.tenant ?? '-'})`,
    ...(isJsonObject(inputs) && Object.keys(inputs).length > 0 ? [`Inputs ${JSON.stringify(inputs)}`] : []),
  ]
  return lines.map((line) => `${escapeControl(redactText(line))}\n`).join('')
}

/** What one entry says, in at most one line; what only machines need says nothing. */
function describeEntry({ type, data, seq }: JournalEntry): string[] {
  const line = (mark: string, text: string) => [`${String(seq).padStart(4)} ${mark} ${text}`]
  const call = () => describeCall(text(data['tool']), isJsonObject(data['args']) ? data['args'] : {})
  switch (type) {
    case 'tool.admitted':
      return line(
        '✓',
        `${call()}  allowed${data['step'] === null ? '' : ` · step ${text(data['step'])}`} · ${text(data['callId'])}`,
      )
    case 'tool.denied':
      return line(
        data['blocked'] === true ? '✗' : '!',
        `${call()}  DENIED ${text(data['code'])}: ${text(data['message'])}`,
      )
    case 'tool.settled':
      return line('→', `${text(data['callId'])} ${text(data['outcome'])}${outcomeDetail(data)}`)
    case 'tool.unadmitted':
      return line(
        '!',
        `${text(data['tool'])} was recorded without having been let through: ${text(data['outcome'])}`,
      )
    case 'approval.decided':
      return line(
        '?',
        `${text(data['tool'])} ${data['approved'] === true ? 'approved' : 'refused by a person'}${reason(data['reason'])}`,
      )
    case 'step.opened':
    case 'iteration.started':
      return []
    case 'step.completed':
    case 'step.skipped':
    case 'step.failed':
    case 'step.escalated':
    case 'step.retried':
    case 'step.undecided': {
      const by = data['by'] === undefined ? '' : ` by ${text(data['by'])}`
      return line(
        '·',
        `step ${text(data['step'])} ${type.slice('step.'.length)}${by}${reason(data['error'] ?? data['reason'] ?? data['limit'])}`,
      )
    }
    case 'step.refused':
      return line('✗', `step ${text(data['step'])}: may not ${text(data['move'])}: ${list(data['reasons'])}`)
    case 'finish.refused':
      return line('✗', `final answer sent back; left: ${list(data['remaining']) || list(data['unsettled'])}`)
    case 'run.finished':
      return line('■', `${text(data['status'])}${reason(data['message'])}`)
    case 'model.answered':
      return data['text'] === '' ? [] : line('“', `the model wrote: ${short(text(data['text']))}`)
    default:
      return []
  }
}

function outcomeDetail(data: JsonObject): string {
  if (typeof data['error'] === 'string') return `: ${short(data['error'])}`
  return data['result'] === undefined || data['result'] === null
    ? ''
    : `: ${short(JSON.stringify(data['result']))}`
}

function reason(value: Json | undefined): string {
  return value === undefined || value === null || value === '' ? '' : `: ${short(text(value))}`
}

function list(value: Json | undefined): string {
  return Array.isArray(value) ? value.map((item) => text(item as Json)).join(', ') : ''
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

const longest = 200

function short(value: string): string {
  return value.length <= longest ? value : `${value.slice(0, longest - 1)}…`
}
