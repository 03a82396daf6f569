import { hash, verify } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { openRecords, publicKeyId, type Checkpoint } from '../app.ts'
import { verifyExport } from '../proof/verify-export.ts'
import type { Verdict } from '../proof/verdict.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findRecord } from './find-record.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep verify RUN|FILE [--public-key FILE] [--checkpoint FILE] [--json]

Verifies a recorded run, or an export: that no entry was changed, removed or moved, that the signatures are right, and that every
decision follows from the playbook by deciding it again. Says proven, consistent or broken, and what that does not prove.

Options:
  --public-key FILE   the server's public key, kept elsewhere
  --checkpoint FILE   a checkpoint, kept elsewhere; may stand often
  --json              the whole verdict as one JSON document

Exit codes: 0 proven or consistent, 1 the file cannot be read, 2 wrong usage, 5 broken.

Examples:
  lockstep verify r_5d9c
  lockstep verify refund.jsonl --public-key lockstep.pem --checkpoint refund.checkpoint
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
    const verdict = verifyExport(await linesOf(subject), {
      publicKeys,
      checkpoints,
      hash: (text) => `sha256:${hash('sha256', text, 'hex')}`,
      verifySignature: (key, text, signature) =>
        verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex')),
    })
    terminal.out(flags.has('json') ? `${JSON.stringify(verdict, null, 2)}\n` : describe(verdict, subject))
    return verdict.verdict === 'broken' ? exitCode.verificationFailed : exitCode.done
  },
}

/** A file wins over a run of the same name: it is the more exact word. */
async function linesOf(subject: string): Promise<readonly string[]> {
  if (existsSync(subject)) return readText(subject).split('\n')
  const records = await openRecords(runFolder())
  try {
    return await records.export(await findRecord(records, subject))
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
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new LockstepError('usage', `${path} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function describe(verdict: Verdict, subject: string): string {
  const { findings, notRecomputable, runs, chains } = verdict
  const recomputed = chains.reduce((sum, chain) => sum + chain.recomputed, 0)
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
  const lines = [
    `${verdict.verdict.toUpperCase()} · ${subject} · ${entries} entries, ${recomputed} events decided again`,
    ...findings.slice(0, mostShown).map(({ kind, chain, seq, message }) => {
      const where = [chain, seq === null ? null : `entry ${seq}`].filter((part) => part !== null).join(', ')
      return `  ✗ ${kind.replaceAll('_', ' ')}${where === '' ? '' : ` in ${where}`}: ${message}`
    }),
    ...cut(findings.length),
    ...(runs === null
      ? []
      : [
          `${runs.opened} runs opened, ${runs.closed} closed, ${runs.missing.length === 0 ? 'none' : runs.missing.length} missing`,
        ]),
    ...(notRecomputable.length === 0 ? [] : ['Not decided again:']),
    ...notRecomputable
      .slice(0, mostShown)
      .map(({ chain, seq, why }) => `  - ${chain}${seq === null ? '' : `, entry ${seq}`}: ${why}`),
    ...cut(notRecomputable.length),
    ...(verdict.notProven.length === 0 ? [] : ['Not proven:']),
    ...verdict.notProven.map((limit) => `  - ${limit}`),
  ]
  return lines.map((line) => `${escapeControl(line)}\n`).join('')
}

function cut(count: number): string[] {
  return count <= mostShown ? [] : [`  … and ${count - mostShown} more: --json shows all`]
}
