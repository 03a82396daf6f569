import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { openRecords, type Records } from '../app.ts'
import { reports } from '../report/reports.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { quote } from './next-command.ts'
import { readFlags } from './read-flags.ts'
import { readPeriod, type Period } from './read-period.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep export RUN [OPTIONS]
       lockstep export --from DATE --to DATE -o FILE.zip [OPTIONS]
       lockstep export --all [OPTIONS]

Writes a record that anybody can verify without this machine: a manifest with the playbooks, the policies, the public keys and the signed
checkpoints, then every entry with its place in the chain, as lines of JSON. Into a file that ends in .zip, an archive for auditors: the
same lines, the texts, tables of runs, approvals and exceptions (CSV), and a report. Payloads that hold a secret are withheld.

Options:
  -o, --output FILE    where to; otherwise standard output
  --from DATE          the runs that were begun on this day or later (UTC): 2026-10-01, or a time with its offset
  --to DATE            the runs that were begun on this day or before
  --all                every run of the store, with the chains of the tenants: shows if one is missing
  --html               one run as a page for people, with a timeline
  --whole              withhold nothing: with every secret that is in the record
  --checkpoint FILE    also write a checkpoint, signed now: keep it elsewhere, and verify proves what was before it
  --public-key FILE    also write the public key: keep it elsewhere, too

Exit codes: 0 done, 1 it cannot be exported so, 2 wrong usage, 5 written, and something in the store was destroyed.

Examples:
  lockstep export r_5d9c -o refund.jsonl
  lockstep export r_5d9c --html -o refund.html
  lockstep export --from 2026-10-01 --to 2026-10-31 -o october.zip --checkpoint october.checkpoint --public-key lockstep.pem
`

const rules = {
  output: { value: 'FILE' },
  from: { value: 'DATE' },
  to: { value: 'DATE' },
  all: 'switch',
  html: 'switch',
  whole: 'switch',
  checkpoint: { value: 'FILE' },
  'public-key': { value: 'FILE' },
} as const

/** What is exported: one run, those of a time, or all. */
type Subject = { readonly run: string } | { readonly period: Period } | 'all'

/** `lockstep export`: a record to hand on. */
export const exportCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(
      args.map((arg) => (arg === '-o' ? '--output' : arg)),
      rules,
    )
    const output = flags.get('output')
    const asPage = flags.has('html')
    const records = await openRecords(runFolder())
    try {
      const subject = await readSubject(names, flags, records)
      if (asPage && (subject === 'all' || 'period' in subject))
        throw new LockstepError('usage', '--html takes one run', {
          hint: 'an archive (-o FILE.zip) holds a report',
        })
      // The checkpoint comes first, so that the export holds it too.
      const proof = await writeProof(records, subject, flags.get('checkpoint'), flags.get('public-key'))
      const lines = await linesOf(records, subject, !flags.has('whole'))
      // What is left is written all the same: it is evidence.
      const damage = reports.describeDamage(lines)
      for (const line of damage) terminal.err(`lockstep: ${escapeControl(line)}\n`)
      const code = damage.length === 0 ? exitCode.done : exitCode.verificationFailed
      if (output === undefined) {
        terminal.out(asPage ? reports.writePage(lines) : lines.map((line) => `${line}\n`).join(''))
        return code
      }
      if (asPage) {
        writeFile(output, reports.writePage(lines))
        terminal.out(`Written to ${escapeControl(output)}: a page for people, which proves nothing\n`)
        terminal.out(`Next: npx lockstep verify ${escapeControl(quote(names[0]!))}\n`)
        return code
      }
      terminal.out(`${reports.summarize(lines)}\n`)
      if (/\.zip$/i.test(output)) writeArchive(output, lines)
      else writeFile(output, lines.map((line) => `${line}\n`).join(''))
      const given = proof.map((option) => ` ${option}`).join('')
      terminal.out(`${lines.length - 1} entries written to ${escapeControl(output)}\n`)
      terminal.out(`Next: npx lockstep verify ${escapeControl(quote(output))}${escapeControl(given)}\n`)
      return code
    } finally {
      await records.close()
    }
  },
}

async function readSubject(
  names: readonly string[],
  flags: ReadonlyMap<string, string>,
  records: Records,
): Promise<Subject> {
  const [wanted, ...more] = names
  const timed = flags.has('from') || flags.has('to')
  const ways = Number(wanted !== undefined) + Number(timed) + Number(flags.has('all'))
  if (ways !== 1 || more.length > 0)
    throw new LockstepError('usage', 'export takes one run, or --from and --to, or --all', {
      hint: 'see which there are: lockstep runs',
    })
  if (wanted !== undefined) return { run: await findRecord(records, wanted) }
  return timed ? { period: readPeriod(flags.get('from'), flags.get('to')) } : 'all'
}

async function linesOf(records: Records, subject: Subject, redacted: boolean): Promise<string[]> {
  if (subject === 'all') return await records.exportAll(redacted)
  if ('run' in subject) return await records.export(subject.run, redacted)
  return await records.exportPeriod(subject.period, redacted)
}

/** Writes what is to be kept elsewhere, and gives the options with which `verify` takes it. */
async function writeProof(
  records: Records,
  subject: Subject,
  checkpointFile: string | undefined,
  keyFile: string | undefined,
): Promise<string[]> {
  const options: string[] = []
  const run = subject !== 'all' && 'run' in subject ? subject.run : null
  if (checkpointFile !== undefined) {
    const signed = await records.checkpoints(run, Date.now())
    if (signed.length === 0) throw unchained(run)
    writeFile(checkpointFile, signed.map((each) => `${JSON.stringify(each)}\n`).join(''))
    options.push(`--checkpoint ${quote(checkpointFile)}`)
  }
  if (keyFile !== undefined) {
    const keys = Object.values(records.publicKeys())
    if (keys.length === 0) throw unchained(run)
    writeFile(keyFile, keys.join(''))
    options.push(`--public-key ${quote(keyFile)}`)
  }
  return options
}

function unchained(run: string | null): LockstepError {
  const what = run === null ? 'There is no chained run here' : `Run ${run} was kept without a chain`
  return new LockstepError('not_available', `${what}, so nothing can be signed.`)
}

/** Written aside first, so that an archive that has its name is whole. */
function writeArchive(path: string, lines: readonly string[]): void {
  const aside = `${path}.part`
  try {
    reports.writeArchive(aside, lines)
    renameSync(aside, path)
  } catch (cause) {
    rmSync(aside, { force: true })
    throw LockstepError.isInstance(cause) ? cause : unwritable(path, cause)
  }
}

function writeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600 })
  } catch (cause) {
    throw unwritable(path, cause)
  }
}

function unwritable(path: string, cause: unknown): LockstepError {
  return new LockstepError('usage', `${path} cannot be written: ${(cause as Error).message}`, { cause })
}
