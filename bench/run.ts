import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { BenchOptions, Row } from './measure.ts'

const suites: Readonly<
  Record<string, () => Promise<{ run: (options: BenchOptions) => Row[] | Promise<Row[]> }>>
> = {
  agent: () => import('./agent.ts'),
  enforcer: () => import('./enforcer.ts'),
  gateway: () => import('./gateway.ts'),
  journal: () => import('./journal.ts'),
  markdown: () => import('./markdown.ts'),
  mcp: () => import('./mcp.ts'),
  policy: () => import('./policy.ts'),
  runs: () => import('./runs.ts'),
}

const given = process.argv.slice(2).filter((argument) => argument !== '--')
const json = given.includes('--json')
const scale = Number(given.find((argument) => argument.startsWith('--scale='))?.slice('--scale='.length) ?? 1)
const names = given.filter((argument) => argument !== '--json' && !argument.startsWith('--scale='))
const unknown = names.find((name) => !(name in suites))
if (unknown !== undefined) {
  process.stderr.write(`There is no suite '${unknown}'. There are: ${Object.keys(suites).join(', ')}.\n`)
  process.exit(2)
}

if (!(scale > 0 && scale <= 1)) {
  process.stderr.write('--scale is a number from more than 0 to 1: --scale=0.1 is for a quick look.\n')
  process.exit(2)
}

for (const name of names.length === 0 ? Object.keys(suites) : names) {
  const rows = await (await suites[name]!()).run({ scale })
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length }
  if (json) for (const row of rows) process.stdout.write(`${JSON.stringify({ suite: name, ...row })}\n`)
  else
    process.stdout.write(
      `\n${name} · Node ${machine.node} · ${machine.cpu} × ${machine.cores}\n\n${table(rows)}`,
    )
  // A quick look is no result.
  if (scale !== 1) continue
  const file = new URL(`results/${name}.json`, import.meta.url)
  mkdirSync(new URL('results/', import.meta.url), { recursive: true })
  writeFileSync(
    file,
    `${JSON.stringify({ suite: name, at: new Date().toISOString(), machine, rows }, null, 2)}\n`,
  )
  if (!json) process.stdout.write(`\nWritten to bench/results/${name}.json\n`)
}

function table(rows: readonly Row[]): string {
  const lines = [['what', 'p50', 'p99', 'goal'], ...rows.map(cells)]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) =>
      line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))),
    )
    .map((line) => `  ${line.join('  ').trimEnd()}\n`)
    .join('')
}

function cells(row: Row): string[] {
  const digits = (value: number) => (row.unit === 'requests' ? String(value) : value.toPrecision(3))
  const number = (value: number | null) => (value === null ? '' : `${digits(value)} ${row.unit}`)
  const reached = row.atLeast === true ? row.p50 >= row.goal! : row.p50 <= row.goal!
  const sign = row.atLeast === true ? '≥' : '≤'
  const met = row.goal === null ? '' : `${reached ? 'met' : 'MISSED'} (${sign} ${row.goal} ${row.unit})`
  return [row.what, number(row.p50), number(row.p99), met]
}
