import { verify, createPublicKey, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { openRecords, publicKeyId, type Checkpoint } from '../app.ts'
import type { Finding, Verdict } from '../proof/verdict.ts'
import type { VerifyOptions } from '../proof/verify-export.ts'
import { figure } from '../report/audit-archive.ts'
import { writeTime } from '../report/csv.ts'
import { reports } from '../report/reports.ts'
import { verifyBytes } from '../report/verify-bytes.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep verify RUN | FILE [OPTIONS]

Checks a run, or an export of runs (lines of JSON, or an archive): that nothing was changed, taken out, added or moved, that the signatures
are right, and that every decision follows from the playbook, the policies and the facts by deciding it again; who approved what. Says
proven, consistent or broken, and what that does not prove.

Options:
  --public-key FILE   the server's public key, kept elsewhere
  --checkpoint FILE   a checkpoint, kept elsewhere; may stand often
  --json              the whole verdict as one JSON document

Exit codes: 0 proven or consistent, 1 the file cannot be read, 2 wrong usage, 5 broken.

Examples:
  lockstep verify r_5d9c
  lockstep verify refund.jsonl --public-key lockstep.pem --checkpoint refund.checkpoint
  lockstep verify october.zip
`

const rules = {
  'public-key': { value: 'FILE' },
  checkpoint: { value: 'FILE', often: true },
  json: 'switch',
} as const

const mostShown = 20

/** `lockstep verify`: what a record proves. */
export const verifyCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags, lists } = readFlags(args, rules)
    const [subject, ...more] = names
    if (subject === undefined || more.length > 0)
      throw new LockstepError('usage', 'verify takes one run or one file', {
        hint: 'see which runs there are: lockstep runs',
      })
    const keyFile = flags.get('public-key')
    const publicKeys = keyFile === undefined ? null : await readKeys(keyFile)
    const checkpoints = (lists.get('checkpoint') ?? []).flatMap(readCheckpoints)
    const { journal, findings } = await read(subject)
    const options = { publicKeys, checkpoints, verifySignature: checkSignature() }
    const verdict = judge(await verifyBytes(journal, options), findings)
    terminal.out(flags.has('json') ? `${JSON.stringify(verdict, null, 2)}\n` : describe(verdict, subject))
    return verdict.verdict === 'broken' ? exitCode.verificationFailed : exitCode.done
  },
}

/** What is wrong with an archive counts as much as what is wrong with the journal in it. */
function judge(verdict: Verdict, found: readonly Finding[]): Verdict {
  if (found.length === 0) return verdict
  // Of an archive that could not be opened there is nothing else to say.
  const others = verdict.chains.length === 0 ? [] : verdict.findings
  return { ...verdict, verdict: 'broken', findings: [...found, ...others] }
}

/** Reading a key takes longer than checking with it. */
function checkSignature(): VerifyOptions['verifySignature'] {
  const keys = new Map<string, KeyObject>()
  return (pem, text, signature) => {
    const key = keys.get(pem) ?? createPublicKey(pem)
    keys.set(pem, key)
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
  }
}

/** A file wins over a run of the same name: it is the more exact word. */
async function read(
  subject: string,
): Promise<{ readonly journal: Buffer; readonly findings: readonly Finding[] }> {
  if (existsSync(subject)) {
    const found = reports.read(readBytes(subject))
    if (found === null)
      throw new LockstepError('usage', `${subject} is no export of Lockstep`, {
        hint: 'make one: lockstep export RUN -o FILE',
      })
    return found
  }
  const records = await openRecords(runFolder())
  try {
    const lines = await records.export(await findRecord(records, subject), false)
    return { journal: Buffer.concat(lines.map((line) => Buffer.from(`${line}\n`))), findings: [] }
  } finally {
    await records.close()
  }
}

async function readKeys(path: string): Promise<Record<string, string>> {
  const blocks = readText(path).match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? []
  const keys: Record<string, string> = {}
  try {
    for (const pem of blocks) keys[await publicKeyId(pem)] = pem
  } catch (cause) {
    throw new LockstepError('usage', `${path} holds something that is no public key`, { cause })
  }
  if (blocks.length === 0)
    throw new LockstepError('usage', `${path} holds no public key`, { hint: 'it is a PEM file' })
  return keys
}

function readCheckpoints(path: string): Checkpoint[] {
  try {
    return readText(path)
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => readCheckpoint(JSON.parse(line)))
  } catch (cause) {
    if (LockstepError.isInstance(cause)) throw cause
    throw new LockstepError('usage', `${path} holds no checkpoint`, { cause })
  }
}

function readCheckpoint(value: unknown): Checkpoint {
  const { heads, key, signature } = value as Partial<Checkpoint>
  if (!Array.isArray(heads) || typeof key !== 'string' || typeof signature !== 'string')
    throw new Error('no checkpoint')
  return value as Checkpoint
}

function readText(path: string): string {
  return readBytes(path).toString('utf8')
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new LockstepError('usage', `${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function describe(verdict: Verdict, subject: string): string {
  const { findings, notRecomputable, runs, chains } = verdict
  const recomputed = chains.reduce((sum, chain) => sum + chain.recomputed, 0)
  const places = findings.map(({ kind, chain, seq, message }) => {
    const where = [chain, seq === null ? null : `entry ${seq}`].filter((part) => part !== null).join(' ')
    return `${where === '' ? '' : `${where}: `}${message} (${kind.replaceAll('_', ' ')})`
  })
  const unchecked =
    notRecomputable.length === 0 ? '' : ` · ${figure(notRecomputable.length)} not recomputable (listed)`
  const lines = [
    findings.length === 0
      ? `${verdict.verdict} · ${subject} · ${figure(recomputed)} decisions recomputed${unchecked}`
      : `broken · ${places[0]}`,
    ...places.slice(1, mostShown).map((place) => `       · ${place}`),
    ...cut(findings.length),
    ...(runs === null ? [] : [describeRuns(runs)]),
    ...(notRecomputable.length === 0 ? [] : ['Not recomputable:']),
    ...notRecomputable
      .slice(0, mostShown)
      .map(({ chain, seq, why }) => `  - ${chain}${seq === null ? '' : ` entry ${seq}`}: ${why}`),
    ...cut(notRecomputable.length),
    ...(verdict.notProven.length === 0 ? [] : ['Not proven:']),
    ...verdict.notProven.map((limit) => `  - ${limit}`),
  ]
  return lines.map((line) => `${escapeControl(line)}\n`).join('')
}

function describeRuns({ opened, closed, missing, period }: NonNullable<Verdict['runs']>): string {
  const time = period === null ? '' : ` (${span(period)})`
  return `${figure(opened)} run${opened === 1 ? '' : 's'} opened, ${figure(closed)} closed, ${missing.length === 0 ? 'none' : figure(missing.length)} missing${time}`
}

function span({ from, to }: { readonly from: number; readonly to: number }): string {
  // An open end lies behind the last day there is.
  const end = Number.isNaN(new Date(to).getTime()) ? '' : ` to before ${writeTime(to)}`
  return `from ${writeTime(from)}${end}`
}

function cut(count: number): string[] {
  return count <= mostShown ? [] : [`  … and ${count - mostShown} more: --json shows all`]
}
