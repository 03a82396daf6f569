import { writeFileSync } from 'node:fs'
import { openRecords, type Records } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { quote } from './next-command.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep export RUN [OPTIONS]
       lockstep export --all [OPTIONS]

Writes a run as lines of JSON that anybody can verify without this machine: a manifest with the playbook, the public keys and the signed
checkpoints, then every entry with its place in the chain.

Options:
  -o, --output FILE    where to; otherwise standard output
  --all                every run of the chained store, with the chains of the tenants: shows if one is missing
  --redacted           withhold payloads that hold a secret; their digests stay, so that the chain can still be verified
  --checkpoint FILE    also write a checkpoint, signed now: keep it elsewhere, and verify proves what was before it
  --public-key FILE    also write the public key: keep it elsewhere, too

Exit codes: 0 done, 1 it cannot be exported so, 2 wrong usage.

Examples:
  lockstep export r_5d9c -o refund.jsonl
  lockstep export r_5d9c -o refund.jsonl --checkpoint refund.checkpoint --public-key lockstep.pem
`

const rules = {
  output: { value: 'FILE' },
  all: 'switch',
  redacted: 'switch',
  checkpoint: { value: 'FILE' },
  'public-key': { value: 'FILE' },
} as const

/** `lockstep export`: a record to hand on. */
export const exportCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(
      args.map((arg) => (arg === '-o' ? '--output' : arg)),
      rules,
    )
    const [wanted, ...more] = names
    const all = flags.has('all')
    if (all ? names.length > 0 : wanted === undefined || more.length > 0)
      throw new LockstepError('usage', 'export takes one run, or --all', {
        hint: 'see which there are: lockstep runs',
      })
    const records = await openRecords(runFolder())
    try {
      const run = all ? null : await findRecord(records, wanted!)
      // The checkpoint comes first, so that the export holds it too.
      const proof = await writeProof(records, run, flags.get('checkpoint'), flags.get('public-key'))
      const redacted = flags.has('redacted')
      const lines = run === null ? await records.exportAll(redacted) : await records.export(run, redacted)
      const text = lines.map((line) => `${line}\n`).join('')
      const output = flags.get('output')
      if (output === undefined) {
        terminal.out(text)
        return exitCode.done
      }
      writeFile(output, text)
      terminal.out(`${lines.length - 1} entries written to ${escapeControl(output)}\n`)
      const given = proof.map((option) => ` ${option}`).join('')
      terminal.out(`Next: npx lockstep verify ${escapeControl(quote(output))}${escapeControl(given)}\n`)
      return exitCode.done
    } finally {
      await records.close()
    }
  },
}

/** Writes what is to be kept elsewhere, and gives the options with which `verify` takes it. */
async function writeProof(
  records: Records,
  run: string | null,
  checkpointFile: string | undefined,
  keyFile: string | undefined,
): Promise<string[]> {
  const options: string[] = []
  if (checkpointFile !== undefined) {
    const signed = run ?? (await records.runs()).at(-1)
    const checkpoint = signed === undefined ? null : await records.checkpoint(signed, Date.now())
    if (checkpoint === null) throw unchained(run)
    writeFile(checkpointFile, `${JSON.stringify(checkpoint)}\n`)
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

function writeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600 })
  } catch (cause) {
    throw new LockstepError('usage', `${path} cannot be written: ${(cause as Error).message}`, { cause })
  }
}
