import { openRecords, type RunSummary } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep runs [--all] [--json]

Lists the recorded runs, the newest first: name, playbook, how it ended, when it began, and how many entries its record has.

Options:
  --all    every run; otherwise the last 20
  --json   one JSON document, for programs

Exit codes: 0 done, 2 wrong usage.

Examples:
  lockstep runs
  lockstep runs --all --json
`

const mostShown = 20

/** `lockstep runs`: what was recorded. */
export const runsCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { all: 'switch', json: 'switch' })
    if (names.length > 0)
      throw new LockstepError('usage', 'runs takes no names', { hint: 'see one: lockstep show RUN' })
    const records = await openRecords(runFolder())
    try {
      const { summaries: shown, total } = await records.newest(flags.has('all') ? undefined : mostShown)
      if (flags.has('json')) {
        terminal.out(`${JSON.stringify({ runs: shown, total }, null, 2)}\n`)
        return exitCode.done
      }
      terminal.out(describe(shown, total))
      return exitCode.done
    } finally {
      await records.close()
    }
  },
}

function describe(shown: readonly RunSummary[], total: number): string {
  const [first] = shown
  if (first === undefined) return 'No run is recorded yet.\nNext: npx lockstep run FILE\n'
  const left = total - shown.length
  const rows = [
    ['RUN', 'PLAYBOOK', 'STATUS', 'BEGUN', 'ENTRIES', 'CHAIN'],
    ...shown.map(({ run, playbook, status, startedAt, entries, chained }) => [
      run,
      playbook ?? '-',
      status,
      startedAt === null ? '-' : timeText(startedAt),
      String(entries),
      chained ? 'yes' : 'no',
    ]),
  ].map((row) => row.map(escapeControl))
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  const more = left > 0 ? [`${left} more: npx lockstep runs --all`] : []
  return [...table, ...more, `Next: npx lockstep show ${escapeControl(first.run)}`]
    .map((line) => `${line}\n`)
    .join('')
}

/** A time as people read it, in UTC; what is no time stays a number. */
export function timeText(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime())
    ? String(at)
    : date
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC')
}
