import { hash, verify } from 'node:crypto'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { exportChains } from '../../src/journal/export-chains.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { storeVersion } from '../../src/journal/sqlite/migrations.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { loadPlaybook } from '../../src/source/load-playbook.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'

/** A copy of a store as an earlier version left it: opening it brings it to the newest form. */
function copyOf(name: string): { open: () => SqliteJournal; path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-history-'))
  cpSync(fileURLToPath(new URL(name, import.meta.url)), folder, { recursive: true })
  const path = join(folder, 'journal.db')
  return { open: () => new SqliteJournal(path, openKeyRing(join(folder, 'keys'))), path }
}

describe.each(['sqlite-1', 'sqlite-2', 'sqlite-3'])(
  'the store %s, as an earlier version wrote it',
  (name) => {
    test('is brought to the newest form, once', async () => {
      const { open, path } = copyOf(name)
      const before = new DatabaseSync(path)
      expect(before.prepare('SELECT MAX(version) AS version FROM schema_version').get()!['version']).toBe(
        Number(name.split('-')[1]),
      )
      before.close()
      await open().close()
      const journal = open()
      expect(await journal.runs()).toEqual(['r_finished', 'r_open'])
      await journal.close()
      const after = new DatabaseSync(path)
      expect(after.prepare('SELECT MAX(version) AS version FROM schema_version').get()!['version']).toBe(
        storeVersion,
      )
      after.close()
    })

    test('verifies, and every decision in it is made again', async () => {
      const { open } = copyOf(name)
      const journal = open()
      const lines = await exportChains(journal, await journal.runs(), { tenants: ['local'] })
      const publicKeys = journal.publicKeys()
      const verdict = verifyExport(lines, {
        publicKeys,
        hash: (text) => `sha256:${hash('sha256', text)}`,
        verifySignature: (key, text, signature) =>
          verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex')),
      })
      expect(verdict).toMatchObject({ verdict: 'consistent', findings: [], notRecomputable: [] })
      expect(verdict.runs).toEqual({ opened: 2, closed: 1, missing: [], period: null })
      for (const { chain, entries, recomputed } of verdict.chains) {
        if (!chain.startsWith('tenant:')) expect([chain, recomputed]).toEqual([chain, entries])
      }
      await journal.close()
    })

    test('an open run goes on where it was', async () => {
      const { open } = copyOf(name)
      const journal = open()
      const entries = await journal.read('r_open')
      const events = entries.map(({ type, at, data }) => ({ ...data, type, at }) as unknown as RunEvent)
      const playbook = loadPlaybook(
        JSON.parse((await journal.kept(String(entries[0]!.data['playbook'])))!) as object,
      )
      const enforcer = PlaybookEnforcer.fromEvents(playbook, events)
      expect(enforcer.currentStep?.id).toBe('issue_refund')
      const leaseEpoch = await journal.takeLease('r_open')
      const options = { tenant: 'local', principal: 'ada', expectedSeq: entries.length, leaseEpoch }
      const reservations = [{ kind: 'lock', key: 'ORD-42' }] as const
      await journal.append(
        'r_open',
        [{ type: 'run.finished', at: 1, data: { status: 'cancelled', message: null } }],
        {
          ...options,
          reservations,
        },
      )
      expect(await journal.read('r_open')).toHaveLength(entries.length + 1)
      await journal.close()
    })
  },
)
