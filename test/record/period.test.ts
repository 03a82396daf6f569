import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ExportManifest } from '../../src/journal/chain-export.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import { Records } from '../../src/journal/records.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import { verifySignature } from './export-of.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-period-'))
let records: Records

beforeAll(async () => {
  const journal = new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  for (const [run, at] of [
    ['september', 100],
    ['october-1', 200],
    ['october-2', 299],
    ['november', 300],
  ] as const) {
    const facts = [
      { type: 'run.started', at, data: { playbook: 'sha256:none' } },
      { type: 'run.finished', at: at + 500, data: { status: 'succeeded', message: null } },
    ]
    await journal.append(run, facts, { tenant: 'acme', principal: 'ada', expectedSeq: 0 })
  }
  records = new Records(new FileJournal(join(folder, 'runs')), journal)
})

afterAll(async () => {
  await records.close()
  rmSync(folder, { recursive: true, force: true })
})

const judge = (lines: readonly string[]) => verifyExport(lines, { verifySignature })

test('an export of a time holds its runs, says that none is missing, and names no other', async () => {
  const lines = await records.exportPeriod({ from: 200, to: 300 }, true)
  const { verdict, findings, runs } = judge(lines)
  expect({ verdict, findings, runs }).toEqual({
    verdict: 'consistent',
    findings: [],
    runs: { opened: 2, closed: 2, missing: [], period: { from: 200, to: 300 } },
  })
  const text = lines.join('\n')
  expect(text).toContain('october-2')
  expect(text).not.toMatch(/september|november/)
  expect(JSON.parse(lines[0]!)).toMatchObject({ complete: false, checkpoints: [{}, {}] })
})

test('a run that is left out is missing, and a time that was made shorter shows the runs it leaves out', async () => {
  const lines = await records.exportPeriod({ from: 200, to: 300 }, true)
  const manifest = JSON.parse(lines[0]!) as ExportManifest
  const chains = manifest.chains.filter(({ chain }) => chain !== 'october-2')
  const without = lines.filter((line, index) => index > 0 && !line.includes('"run":"october-2","seq"'))
  expect(judge([JSON.stringify({ ...manifest, chains }), ...without]).findings).toMatchObject([
    { kind: 'missing_run', chain: 'october-2' },
  ])
  const shorter = { ...manifest, period: { from: 200, to: 250 } }
  expect(judge([JSON.stringify(shorter), ...lines.slice(1)]).findings).toMatchObject([
    { kind: 'edit', chain: 'october-2', message: expect.stringMatching(/not opened in the time/) },
  ])
  const longer = { ...manifest, period: { from: 200, to: 301 } }
  expect(judge([JSON.stringify(longer), ...lines.slice(1)]).findings).toMatchObject([
    {
      kind: 'missing_run',
      chain: 'tenant:acme',
      message: expect.stringMatching(/number 4 of the tenant is withheld/),
    },
  ])
  const odd = { ...manifest, period: { from: 'x', to: null } }
  expect(judge([JSON.stringify(odd), ...lines.slice(1)]).findings).toMatchObject([{ kind: 'unreadable' }])
})

test('the newest runs come first, and only those that are asked for are read', async () => {
  const { summaries, total } = await records.newest(2)
  expect([total, summaries.map(({ run }) => run)]).toEqual([4, ['november', 'october-2']])
})
