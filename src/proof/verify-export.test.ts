import { hash, verify } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openKeyRing } from '../journal/chain-keys.ts'
import { writeLink, type ChainLink } from '../journal/chain.ts'
import type { ExportManifest } from '../journal/chain-export.ts'
import { exportChains } from '../journal/export-chains.ts'
import { SqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import type { JsonObject } from '../shared/json.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { RunRecord } from '../tool/run-record.ts'
import { verifyExport, type VerifyOptions } from './verify-export.ts'

const playbook = definePlaybook({
  id: 'refund',
  name: 'Refund',
  description: 'Pays back.',
  steps: [
    { id: 'look', description: 'Look.', expectedTools: ['lookup'] },
    { id: 'note', description: 'Note.', expectedTools: ['note'], required: false },
    { id: 'pay', description: 'Pay.', expectedTools: ['refund'], maxToolCalls: 1 },
  ],
  rules: [{ tool: 'refund', require: 'args.amount <= 100', message: 'too much' }],
})

const verifySignature: VerifyOptions['verifySignature'] = (key, text, signature) =>
  verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))

type Line = { link: ChainLink; hash: string; mac: string; key: string; salt: string; data: JsonObject }

async function record(runs: readonly string[], finish = true) {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-proof-'))
  const keys = openKeyRing(join(folder, 'keys'))
  const journal = new SqliteJournal(join(folder, 'journal.db'), keys)
  await journal.keep(canonicalJson(playbook.toJSON()))
  let now = 1_000
  for (const run of runs) {
    const written = new RunRecord(run, journal, { tenant: 'acme', principal: 'ada' })
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
      run,
      clock: () => (now += 10),
      onEvents: (events) => written.write(events),
    })
    const call = (tool: string, args: JsonObject) => enforcer.call(tool, args, async () => ({ ok: true }))
    await call('refund', { amount: 5 })
    await call('lookup', { order: 'ORD-42' })
    await call('refund', { amount: 300 })
    await call('refund', { amount: 30 })
    if (finish) enforcer.finish('done')
    await enforcer.written()
  }
  return { journal, keys }
}

async function exported(runs: readonly string[] = ['r1'], complete = false, finish = true) {
  const { journal, keys } = await record(runs, finish)
  const lines = await exportChains(journal, runs, complete ? { tenants: ['acme'] } : {})
  const [checkpoint] = (await journal.checkpoints(runs.at(-1)!)).slice(-1)
  const publicKeys = { [keys.current.id]: keys.current.publicKey }
  const redacted = await exportChains(journal, runs, {
    redact: (data) => (JSON.stringify(data).includes('ORD-42') ? { gone: '[redacted]' } : data),
  })
  await journal.erase(runs[0]!, { tenant: 'acme', principal: 'ada', at: 1 })
  const erased = await exportChains(journal, runs)
  await journal.close()
  return { lines, checkpoint: checkpoint!, publicKeys, erased, redacted, keys }
}

const check = (lines: readonly string[], options: Partial<VerifyOptions> = {}) =>
  verifyExport(lines, { verifySignature, ...options })
const kinds = (lines: readonly string[], options?: Partial<VerifyOptions>) =>
  check(lines, options).findings.map(({ kind, chain, seq }) => [kind, chain, seq])
const placeOf = (lines: readonly string[], type: string) =>
  lines.findIndex((line) => line.includes(`"type":"${type}"`))

/** Changes payloads or links and makes everything fit again, as somebody who knows the format but not the keys would. */
function rewrite(lines: readonly string[], change: (line: Line) => Line | null): string[] {
  const sha = (text: string) => `sha256:${hash('sha256', text)}`
  let prev: string | null = null
  const kept = lines
    .slice(1)
    .map((line) => change(JSON.parse(line) as Line))
    .filter((line) => line !== null)
    .map((line, index) => {
      const payload = sha(line.salt + canonicalJson(line.data))
      const link = { ...line.link, seq: index + 1, payload, prev }
      prev = sha(writeLink(link))
      return JSON.stringify({ ...line, link, hash: prev })
    })
  const manifest = JSON.parse(lines[0]!) as ExportManifest
  const chains = [{ ...manifest.chains[0]!, entries: kept.length, hash: prev }]
  return [JSON.stringify({ ...manifest, chains, checkpoints: [] }), ...kept]
}

describe('verifyExport', () => {
  test('finds a good export consistent, and decides everything again', async () => {
    const { lines } = await exported()
    const verdict = check(lines)
    expect(verdict).toMatchObject({ verdict: 'consistent', findings: [], notRecomputable: [] })
    expect(verdict.chains).toEqual([
      expect.objectContaining({
        chain: 'r1',
        entries: lines.length - 1,
        recomputed: lines.length - 1,
        status: 'succeeded',
      }),
    ])
    expect(verdict.notProven.join()).toMatch(/kept elsewhere/)
    // Its denials and passed-over steps are there: this was no empty exercise.
    for (const type of ['tool.denied', 'step.skipped', 'tool.admitted'])
      expect(placeOf(lines, type)).toBeGreaterThan(0)
  })

  test('V1: is proven only with a checkpoint and a public key from elsewhere', async () => {
    const { lines, checkpoint, publicKeys } = await exported()
    expect(check(lines, { publicKeys, checkpoints: [checkpoint] }).verdict).toBe('proven')
    expect(check(lines, { publicKeys }).verdict).toBe('consistent')
    expect(check(lines, { checkpoints: [checkpoint] }).verdict).toBe('consistent')
    const other = await exported()
    expect(check(lines, { publicKeys: other.publicKeys, checkpoints: [checkpoint] })).toMatchObject({
      verdict: 'broken',
      findings: [{ kind: 'forged_signature' }],
    })
    const moved = { ...checkpoint, at: checkpoint.at + 1 }
    expect(kinds(lines, { publicKeys, checkpoints: [moved] })).toEqual([['forged_signature', 'r1', null]])
  })

  test('finds every byte that is changed', async () => {
    const { lines } = await exported()
    const text = lines.join('\n')
    for (let at = lines[0]!.length + 1; at < text.length; at += 7) {
      if (text[at] === '\n') continue
      const changed = text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1)
      const { verdict } = check(changed.split('\n'))
      // The authentication codes and the name of their key take the secret key to check.
      const within = text.lastIndexOf('"mac":"', at)
      const inMac = within > text.lastIndexOf('\n', at) && at < text.indexOf('","salt"', within)
      if (!inMac) expect([at, verdict]).toEqual([at, 'broken'])
    }
  })

  test('names the entry that was edited', async () => {
    const { lines } = await exported()
    const at = lines.findIndex((line) => line.includes('"amount":30}'))
    const edited = lines.with(at, lines[at]!.replace('"amount":30}', '"amount":31}'))
    expect(kinds(edited)).toEqual([['edit', 'r1', at]])
    const retimed = lines.with(3, lines[3]!.replace(/"at":\d+/, '"at":1'))
    expect(kinds(retimed)).toEqual([['edit', 'r1', 3]])
  })

  test('names what was deleted, moved or cut off', async () => {
    const { lines } = await exported()
    const last = lines.length - 1
    expect(kinds(lines.toSpliced(4, 2))).toEqual([
      ['deletion', 'r1', 4],
      ['truncation', 'r1', last - 1],
    ])
    const [third, fourth] = [lines[3]!, lines[4]!]
    expect(kinds(lines.with(3, fourth).with(4, third))).toEqual([['reordering', 'r1', 4]])
    expect(kinds(lines.slice(0, -1))[0]).toEqual(['truncation', 'r1', last])
    expect(kinds(lines.slice(0, 1))[0]).toEqual(['missing_run', 'r1', null])
  })

  test('a chain that was rewritten whole is found out by a signature', async () => {
    const { lines, checkpoint, publicKeys } = await exported()
    const shorter = rewrite(lines, (line) => (line.link.type === 'run.finished' ? null : line))
    expect(check(shorter).verdict).toBe('consistent')
    expect(kinds(shorter, { publicKeys, checkpoints: [checkpoint] })).toEqual([
      ['truncation', 'r1', shorter.length],
    ])
    const withSignature = JSON.parse(lines[0]!) as ExportManifest
    const manifest = {
      ...(JSON.parse(shorter[0]!) as ExportManifest),
      checkpoints: withSignature.checkpoints,
    }
    expect(kinds(shorter.with(0, JSON.stringify(manifest)))).toEqual([['truncation', 'r1', shorter.length]])
  })

  test('names a decision that the playbook would not have made, although the chain fits', async () => {
    const { lines } = await exported()
    const denial = lines.findIndex((line) => line.includes('"code":"rule"'))
    const forged = rewrite(lines, (line) => {
      if (line.data['code'] !== 'rule') return line
      const { callId, tool, args } = line.data as { callId: string; tool: string; args: JsonObject }
      const data = { callId: callId ?? 'call-9', tool, args, step: 'pay', extra: false, observed: null }
      return { ...line, link: { ...line.link, type: 'tool.admitted' }, data }
    })
    const verdict = check(forged)
    expect(verdict.findings).toMatchObject([{ kind: 'forged_decision', chain: 'r1', seq: denial }])
    expect(verdict.findings[0]!.message).toMatch(/leads to tool\.denied \(rule, refund, note\)/)
    // A denial that was taken out changes nothing else, so only the chain and its signatures can tell.
    expect(check(rewrite(lines, (line) => (line.data['code'] === 'rule' ? null : line))).findings).toEqual([])
    const skipped = rewrite(lines, (line) => (line.link.type === 'step.skipped' ? null : line))
    expect(check(skipped).findings).toMatchObject([{ kind: 'forged_decision' }])
    const unearned = rewrite(lines, (line) => (line.data['tool'] === 'lookup' ? null : line))
    expect(check(unearned).findings).toMatchObject([{ kind: 'forged_decision' }])
  })

  test('does not take another playbook than the one the run names', async () => {
    const { lines } = await exported()
    const manifest = JSON.parse(lines[0]!) as ExportManifest
    const [digest] = Object.keys(manifest.documents)
    const other = { ...(manifest.documents[digest!] as JsonObject), name: 'Other' }
    const changed = lines.with(0, JSON.stringify({ ...manifest, documents: { [digest!]: other } }))
    expect(kinds(changed)).toEqual([['forged_decision', 'r1', 1]])
    const none = lines.with(0, JSON.stringify({ ...manifest, documents: {} }))
    expect(check(none)).toMatchObject({
      verdict: 'consistent',
      notRecomputable: [{ chain: 'r1', why: /playbook/ }],
    })
  })

  test('counts the runs of a tenant, and names the one that is missing', async () => {
    const { lines, publicKeys, checkpoint } = await exported(['r1', 'r2', 'r3'], true)
    const good = check(lines, { publicKeys, checkpoints: [checkpoint] })
    expect(good).toMatchObject({ verdict: 'proven', runs: { opened: 3, closed: 3, missing: [] } })
    const manifest = JSON.parse(lines[0]!) as ExportManifest
    const chains = manifest.chains.filter(({ chain }) => chain !== 'r2')
    const without = [
      JSON.stringify({ ...manifest, chains }),
      ...lines.slice(1).filter((line) => !line.includes('"run":"r2","seq"')),
    ]
    const bad = check(without)
    expect(bad).toMatchObject({ verdict: 'broken', runs: { opened: 3, missing: ['r2'] } })
    expect(bad.findings).toMatchObject([{ kind: 'missing_run', chain: 'r2', message: /number 2/ }])
  })

  test('C3: an erased run stays consistent, and its decisions are listed as not recomputable', async () => {
    const { erased, checkpoint, publicKeys } = await exported()
    expect(check(erased, { publicKeys, checkpoints: [checkpoint] })).toMatchObject({
      verdict: 'proven',
      notRecomputable: [{ chain: 'r1', seq: 1 }],
    })
  })

  test('a withheld payload stands as its digest, and what hangs on it is not recomputable', async () => {
    const { redacted } = await exported()
    expect(redacted.join('\n')).not.toContain('ORD-42')
    const verdict = check(redacted)
    expect(verdict.verdict).toBe('consistent')
    expect(verdict.notRecomputable.length).toBeGreaterThan(0)
    expect(verdict.chains[0]!.recomputed).toBeGreaterThan(1)
  })

  test('V2: never throws, whatever the lines hold', async () => {
    const { lines } = await exported()
    const junk = [
      '',
      '{}',
      'null',
      '[]',
      '{"link":null,"hash":""}',
      '{"entry":{}}',
      '{"lockstep":"export","v":2}',
    ]
    for (const line of junk) {
      expect(check([line]).verdict).toBe('broken')
      if (line !== '') expect(check([...lines, line]).verdict).toBe('broken')
      expect(() => check([lines[0]!, line, ...lines.slice(1)])).not.toThrow()
    }
    const manifest = JSON.parse(lines[0]!) as ExportManifest
    const odd = { ...manifest, checkpoints: [{}, { heads: 3, key: 'x', signature: 5 }] }
    expect(check(lines.with(0, JSON.stringify(odd))).verdict).toBe('broken')
  })

  test('reads an export that a program has spelled anew', async () => {
    const { lines } = await exported()
    const reversed = lines.map((line) => {
      const members = Object.entries(JSON.parse(line) as JsonObject).toReversed()
      return JSON.stringify(Object.fromEntries(members)).replaceAll(',"', ', "')
    })
    expect(check(reversed)).toMatchObject({ verdict: 'consistent', notRecomputable: [] })
  })
})
