import { openPractice } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { readFlags, unknown } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep practice [--port N]
       lockstep practice show [--json]
       lockstep practice reset

A service to practise on: an order desk and a small cluster. Nothing in it is real. A configuration with practice: true
has tools that act on it, and starts it by itself; serve it here to look at it, or for several processes at once.

show     what there is now: nodes, services, orders, and what was done to them
reset    everything as it was at first

Options:
  --port N   the port to listen on (any that is free), on 127.0.0.1
  --json     one JSON document, for programs

It remembers everything in practice/ of the data folder. LOCKSTEP_PRACTICE_URL lets the tools use a service that is served elsewhere.
PRACTICE_FAULTS lets the next calls go wrong: practice.cordon_node=cut, practice.rollback=late:5000, practice.drain_node=fail*2

Exit codes: 0 done, 1 failed, 2 wrong usage.

Examples:
  lockstep practice show
  lockstep practice --port 8090
  PRACTICE_FAULTS=practice.cordon_node=late:10000 lockstep run examples/runbooks/rollback-release.yaml --mode execute
`

/** `lockstep practice`: the service to practise on, served, shown and put back to its beginning. */
export const practiceCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { port: { value: 'N' }, json: 'switch' })
    const [word, more] = names
    const practice = await openPractice()
    if (more !== undefined) throw unknown('word:', more, [])
    switch (word) {
      case undefined:
        return await serve(await practice.start(readPort(flags.get('port'))), terminal)
      case 'show':
        terminal.out(
          flags.has('json') ? `${JSON.stringify(practice.read(), null, 2)}\n` : show(practice.read()),
        )
        return exitCode.done
      case 'reset':
        practice.reset()
        terminal.out('Practice: everything is as it was at first.\nNext: npx lockstep practice show\n')
        return exitCode.done
      default:
        throw unknown('word after practice:', word, ['show', 'reset'])
    }
  },
}

function readPort(text: string | undefined): number {
  if (text === undefined) return 0
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new LockstepError('usage', `--port ${text} is no port: a number from 0 to 65535`)
}

/** Serves until somebody stops it. */
async function serve(
  service: { readonly url: string; close(): Promise<void> },
  terminal: Terminal,
): Promise<0> {
  terminal.out(
    `Practice service on ${service.url}. Nothing in it is real. Ctrl-C stops it.\n` +
      `Use it: LOCKSTEP_PRACTICE_URL=${service.url} npx lockstep run …\n`,
  )
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  await service.close()
  return exitCode.done
}

const shown = 10

function show(state: JsonObject): string {
  const rows = (name: string) => state[name] as readonly JsonObject[]
  const effects = rows('effects')
  const recent = effects.slice(-shown)
  const parts = [
    'PRACTICE: nothing here is real.\n',
    table(rows('nodes'), ['node', 'cordoned', 'drained', 'pods']),
    table(rows('services'), ['service', 'release', 'healthy', 'previous', 'restarts']),
    table(rows('orders'), ['order_id', 'customer_id', 'total', 'refunded']),
    effects.length === 0
      ? 'Nothing was done yet.\n'
      : `${effects.length} effects${effects.length > shown ? `, the last ${shown}` : ''}:\n${table(recent, ['seq', 'at', 'tool', 'target', 'key', 'changed'])}`,
    ...(rows('faults').length === 0
      ? []
      : [`Faults to come:\n${table(rows('faults'), ['tool', 'kind', 'ms'])}`]),
  ]
  return parts.join('\n')
}

function table(rows: readonly JsonObject[], columns: readonly string[]): string {
  const cells = [
    columns.map((name) => name.toUpperCase()),
    ...rows.map((row) => columns.map((name) => escapeControl(cell(row[name])))),
  ]
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  return cells
    .map(
      (row) =>
        `${row
          .map((text, column) => text.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function cell(value: Json | undefined): string {
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.join(', ') || '-'
  return value === null || value === undefined ? '-' : String(value)
}
