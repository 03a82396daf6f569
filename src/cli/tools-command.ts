import { openTools, type BoundTool } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import { PlaybookLoadError } from '../playbook/playbook-load-error.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { readSourceFile } from '../source/read-source-file.ts'
import { namedTools } from '../tool/match-tools.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findPlaybookFiles } from './find-playbook-files.ts'
import { findConfigFor, openConfig } from './open-config.ts'
import { readFlags } from './read-flags.ts'

const help = `Usage: lockstep tools [FILE|DIRECTORY...] [--config FILE] [--json]

Lists the tools of lockstep.config.yaml: name, risk, origin, and which playbooks use each. Playbooks are those named, or
those found under the working directory; tools that a playbook needs and nobody binds are listed too.

Options:
  --config FILE   the configuration, instead of the nearest lockstep.config.yaml
  --json          one JSON document, for programs

Exit codes: 0 done, 1 the configuration has errors or a named playbook needs a tool that is not bound, 2 wrong usage.

Examples:
  lockstep tools
  lockstep tools playbooks/refund.yaml --json
`

interface ToolRow {
  readonly name: string
  readonly risk: string
  readonly riskDeclared: boolean | null
  /** Null where no tool of the name is bound. */
  readonly origin: string | null
  readonly playbooks: readonly string[]
}

/** `lockstep tools`: what there is to call, and who calls it. */
export const toolsCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { config: { value: 'FILE' }, json: 'switch' })
    const beside = names[0] === undefined ? null : findConfigFor(names[0])
    const config = await openConfig(flags.get('config') ?? beside ?? undefined)
    const users = findUsers(names.length === 0 ? ['.'] : names, names.length > 0)
    const bound = await openTools(config, { onNotice: (text) => terminal.err(`${escapeControl(text)}\n`) })
    try {
      const rows = listTools(bound.tools, users)
      const missing = rows.filter(({ origin }) => origin === null)
      if (flags.has('json')) {
        terminal.out(`${JSON.stringify({ config: config?.file ?? null, tools: rows }, null, 2)}\n`)
      } else {
        terminal.out(
          `${config === null ? 'No lockstep.config.yaml here or above.' : escapeControl(config.file ?? '')}\n`,
        )
        if (rows.length > 0) terminal.out(table(rows))
        terminal.out(
          `${rows.length - missing.length} tools${missing.length === 0 ? '' : `, ${missing.length} not bound`}\n`,
        )
      }
      return missing.length === 0 || names.length === 0 ? exitCode.done : exitCode.failed
    } finally {
      await bound.close()
    }
  },
}

/** The playbooks that name each tool. A playbook with errors is left out, unless it was asked for. */
function findUsers(paths: readonly string[], named: boolean): ReadonlyMap<string, readonly string[]> {
  const found = findPlaybookFiles(paths)
  const users = new Map<string, string[]>()
  for (const path of [...found.named, ...[...found.inDirectories.values()].flat()]) {
    const source = readSourceFile(path)
    const asked = named && found.named.includes(path)
    if (source.text === null && asked) throw PlaybookLoadError.fromDiagnostics([source.problem], path)
    const playbook =
      source.text === null ? null : parsePlaybook(source.text, { format: source.format, file: path }).playbook
    if (playbook === null && asked) {
      throw new LockstepError('invalid_playbook', `${path} is not a valid playbook.`, {
        hint: `see why: lockstep check ${path}`,
      })
    }
    if (playbook === null) continue
    for (const tool of namedTools(playbook)) users.set(tool, [...(users.get(tool) ?? []), playbook.id])
  }
  return users
}

function listTools(bound: readonly BoundTool[], users: ReadonlyMap<string, readonly string[]>): ToolRow[] {
  const rows = bound.map(({ tool, origin, riskDeclared }): ToolRow => ({
    name: tool.name,
    risk: tool.risk,
    riskDeclared,
    origin,
    playbooks: users.get(tool.name) ?? [],
  }))
  const known = new Set(rows.map(({ name }) => name))
  const missing = [...users].filter(([name]) => !known.has(name))
  return [
    ...rows,
    ...missing.map(([name, playbooks]) => ({
      name,
      risk: 'unknown',
      riskDeclared: null,
      origin: null,
      playbooks,
    })),
  ]
}

function table(rows: readonly ToolRow[]): string {
  const cells = [
    ['TOOL', 'RISK', 'ORIGIN', 'PLAYBOOKS'],
    ...rows.map(({ name, risk, riskDeclared, origin, playbooks }) => [
      name,
      origin === null ? '-' : `${risk}${riskDeclared === false ? ' (not declared)' : ''}`,
      origin ?? 'NOT BOUND',
      playbooks.join(', ') || '-',
    ]),
  ].map((row) => row.map(escapeControl))
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)))
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
