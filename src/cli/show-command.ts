import { openRecords, type JournalEntry, type Records } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { isJsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { Command } from './command.ts'
import { describeEntry } from '../overview/describe-entry.ts'
import { exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'
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
