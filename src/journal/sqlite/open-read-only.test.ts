import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { openKeyRing } from '../chain-keys.ts'
import { migrate } from './migrations.ts'
import { openReadOnly } from './open-read-only.ts'
import { SqliteJournal } from './sqlite-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = { type: 'run.started', at: 1, data: { run: 'r1' } }
const locked: string[] = []

afterEach(() => {
  for (const path of locked.splice(0)) execFileSync('chattr', ['-i', path])
})

/** Takes away the right to change it, also from root; false where this system cannot. */
function lock(folder: string): boolean {
  try {
    for (const path of [...readdirSync(folder).map((name) => join(folder, name)), folder]) {
      execFileSync('chattr', ['+i', path], { stdio: 'ignore' })
      locked.push(path)
    }
    return true
  } catch {
    return false
  }
}

/** A folder with a store whose newest entries are still in the log, as a process that was cut off leaves it; or moved into the file. */
async function store(
  closed: boolean,
): Promise<{ readonly path: string; readonly folder: string; readonly keys: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-read-'))
  const other = mkdtempSync(join(tmpdir(), 'lockstep-read-'))
  const keys = join(other, 'keys')
  const journal = new SqliteJournal(join(other, 'journal.db'), openKeyRing(keys))
  await journal.append('r1', [fact], { ...by, expectedSeq: 0 })
  if (closed) await journal.close()
  for (const name of readdirSync(other).filter((each) => /^journal\.db(-wal)?$/.test(each)))
    copyFileSync(join(other, name), join(folder, name))
  if (!closed) await journal.close()
  return { path: join(folder, 'journal.db'), folder, keys }
}

test.each([true, false])(
  'reads what is in a store that nobody may change (all of it in the file: %s)',
  async (closed) => {
    const { path, keys, folder } = await store(closed)
    const isLocked = lock(folder)
    // Where nothing can be locked, the way is still taken: by the one who cannot write.
    const before = readdirSync(folder)
    const rows = openReadOnly(path)
    expect(rows.prepare('SELECT name FROM chains WHERE number > 0').all()).toEqual([{ name: 'r1' }])
    expect(() => rows.exec('DELETE FROM chains')).toThrow(/readonly/)
    rows.close()
    if (isLocked) {
      const journal = new SqliteJournal(path, openKeyRing(keys), { orReadOnly: true })
      expect((await journal.read('r1')).map(({ type }) => type)).toEqual(['run.started'])
      expect(await journal.sealed('r1')).toHaveLength(1)
      const more = journal.append('r1', [fact], { ...by, expectedSeq: 1 })
      await expect(more).rejects.toMatchObject({ code: 'journal_unwritable' })
      await journal.close()
      expect(() => new SqliteJournal(path, openKeyRing(keys))).toThrow(
        expect.objectContaining({ code: 'journal_unwritable' }),
      )
      expect(readdirSync(folder)).toEqual(before)
    }
  },
)

test('reads a store of an older form by a copy in the newest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-read-'))
  const path = join(folder, 'journal.db')
  const old = new DatabaseSync(path)
  migrate(old, path, 3)
  old.close()
  const rows = openReadOnly(path)
  expect(rows.prepare('SELECT COUNT(*) AS n FROM made_calls').get()).toEqual({ n: 0 })
  rows.close()
  const left = new DatabaseSync(path, { readOnly: true })
  expect(left.prepare('SELECT MAX(version) AS version FROM schema_version').get()).toEqual({ version: 3 })
  left.close()
})

test('says what is wrong with a file that is no store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-read-'))
  const path = join(folder, 'journal.db')
  copyFileSync(new URL(import.meta.url), path)
  expect(() => openReadOnly(path)).toThrow(/not a database/)
})
