import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { exportChains } from '../../src/journal/export-chains.ts'
import { readExport } from '../../src/journal/read-export.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import { auditExceptions } from '../../src/report/audit-exception.ts'
import { auditRuns } from '../../src/report/audit-run.ts'
import { verifySignature } from './export-of.ts'

const author = { tenant: 'acme', principal: 'ada' }

test('a call that was let through between a halt and its end is found, and is an exception', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-halted-'))
  const journal = new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  try {
    const started = { type: 'run.started', at: 10_000, data: { playbook: 'sha256:none' } }
    await journal.append('r1', [started], { ...author, expectedSeq: 0 })
    await journal.halt(author, { at: 20_000, reason: 'wrong region' })
    await journal.unhalt(author, { at: 30_000, reason: 'mended' })
    await journal.halt(author, { at: 50_000, reason: 'again' })
    // Before, at the very time of the halt, within, after its end, and within one that has no end.
    const calls = [19_000, 20_500, 25_000, 40_000, 60_000].map((at, index) => ({
      type: 'tool.admitted',
      at,
      data: { callId: `call-${index}`, tool: 'pay', args: {} },
    }))
    await journal.append('r1', calls, { ...author, expectedSeq: 1 })
    // A halt of others is none.
    await journal.append('r2', [started, calls[2]!], { tenant: 'other', principal: 'eve', expectedSeq: 0 })
    const whole = await exportChains(journal, ['r1', 'r2'], { tenants: ['acme', 'other'] })
    const period = { from: 0, to: 90_000 }
    const timed = await exportChains(journal, ['r1', 'r2'], { tenants: ['acme', 'other'], period })
    for (const lines of [whole, timed]) {
      const { verdict, findings } = verifyExport(lines, { verifySignature })
      expect([verdict, findings]).toEqual([
        'broken',
        [
          [4, 'tenant:acme', 2],
          [6, 'tenant:acme', 4],
        ].map(([seq, chain, halt]) => ({
          kind: 'halted_call',
          chain: 'r1',
          seq,
          message: `the call was let through while all runs were halted, by entry ${halt} of ${chain}`,
        })),
      ])
      const exceptions = auditExceptions(auditRuns(readExport(lines)))
      expect(exceptions).toMatchObject([
        { kind: 'halted_call', run: 'r1', seq: 4, tool: 'pay', who: 'ada' },
        { kind: 'halted_call', run: 'r1', seq: 6 },
      ])
    }
  } finally {
    await journal.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
