import { execFile } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { openKeyRing } from '../chain-keys.ts'
import type { DatabaseOptions } from './open-database.ts'
import { SqliteJournal } from './sqlite-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string, data = {}) => ({ type, at: 1000, data })

function store() {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-sqlite-'))
  const path = join(folder, 'journal.db')
  const keys = join(folder, 'keys')
  const open = (options?: DatabaseOptions) => new SqliteJournal(path, openKeyRing(keys), options)
  return { folder, path, keys, open }
}

describe('a SQLite journal in trouble', () => {
  test('a full disk refuses the append, loses nothing, and goes on when there is room', async () => {
    const { open } = store()
    const small = open({ maxPages: 60 })
    let written = 0
    const fill = async () => {
      for (; written < 1000; written++) {
        await small.append('r1', [fact('a', { text: 'x'.repeat(2000) })], { ...by, expectedSeq: written })
      }
    }
    await expect(fill()).rejects.toMatchObject({
      code: 'journal_unwritable',
      consequence: 'pause',
      message: expect.stringMatching(/is full/),
    })
    expect(written).toBeGreaterThan(3)
    expect(await small.read('r1')).toHaveLength(written)
    await small.close()
    const again = open()
    await again.append('r1', [fact('b')], { ...by, expectedSeq: written })
    expect(await again.read('r1')).toHaveLength(written + 1)
    await again.close()
  })

  test('a group of which one does not fit is refused as a whole, and can be tried again', async () => {
    const { open } = store()
    const small = open({ maxPages: 60 })
    const huge = fact('a', { text: 'x'.repeat(1_000_000) })
    const ended = await Promise.allSettled([
      small.append('r1', [fact('a')], { ...by, expectedSeq: 0 }),
      small.append('r2', [huge], { ...by, expectedSeq: 0 }),
    ])
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await small.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    expect(await small.runs()).toEqual(['r1'])
    await small.close()
  })

  test('a file that is no database is said to be none, and left alone', () => {
    const { open, path } = store()
    const text = 'not a database, '.repeat(100)
    writeFileSync(path, text)
    expect(() => open()).toThrow(
      expect.objectContaining({
        code: 'journal_unreadable',
        message: expect.stringMatching(/is no database/),
      }),
    )
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('a store of a newer version is not touched', async () => {
    const { open, path } = store()
    await open().close()
    const database = new DatabaseSync(path)
    database.exec("INSERT INTO schema_version VALUES (99, 'later')")
    database.close()
    expect(() => open()).toThrow(expect.objectContaining({ message: expect.stringMatching(/has form 99/) }))
  })

  test('a file that cannot be written is named', async ({ skip }) => {
    if (process.getuid?.() === 0) skip('root may write to every file')
    const { open, path } = store()
    await open().close()
    chmodSync(path, 0o400)
    expect(() => open()).toThrow(expect.objectContaining({ code: 'journal_unwritable' }))
  })

  test('a store that becomes read-only refuses what cannot be written, and is read as before', async () => {
    const { open, path } = store()
    const journal = open()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    const blocker = new DatabaseSync(path)
    blocker.exec("CREATE TRIGGER frozen BEFORE INSERT ON batches BEGIN SELECT RAISE(ABORT, 'frozen'); END")
    blocker.close()
    await expect(journal.append('r1', [fact('b')], { ...by, expectedSeq: 1 })).rejects.toMatchObject({
      code: 'journal_unwritable',
    })
    expect(await journal.read('r1')).toHaveLength(1)
    await journal.close()
  })

  test('J3: whatever is cut off the log, the whole commits before the cut are there and nothing else', async () => {
    const { open, path, folder, keys } = store()
    const journal = open()
    for (let seq = 0; seq < 12; seq++) {
      await journal.append('r1', [fact('a', { seq }), fact('b')], { ...by, expectedSeq: seq * 2 })
    }
    const wal = readFileSync(`${path}-wal`)
    let most = 0
    for (let cut = 0; cut <= wal.length; cut += 1777) {
      const copy = join(folder, 'cut.db')
      for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
      copyFileSync(path, copy)
      writeFileSync(`${copy}-wal`, wal.subarray(0, cut))
      const again = new SqliteJournal(copy, openKeyRing(keys))
      const entries = await again.read('r1')
      expect(entries.length % 2).toBe(0)
      expect(entries.length).toBeGreaterThanOrEqual(most)
      most = entries.length
      await again.append('r1', [fact('c')], { ...by, expectedSeq: entries.length })
      await again.close()
    }
    expect(most).toBeGreaterThan(10)
    await journal.close()
  })

  test('a file cut in the middle is damaged, not empty', async () => {
    const { open, path } = store()
    const journal = open()
    for (let seq = 0; seq < 50; seq++)
      await journal.append('r1', [fact('a', { text: 'x'.repeat(3000) })], { ...by, expectedSeq: seq })
    await journal.close()
    truncateSync(path, 40_000)
    let error: unknown
    try {
      const again = open()
      await again.read('r1')
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'journal_unreadable' })
  })

  test('a journal whose keys are gone says so, and does not mix new keys into old runs', async () => {
    const { open, keys } = store()
    const journal = open()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    await journal.close()
    rmSync(keys, { recursive: true })
    const again = open()
    await expect(again.read('r1')).rejects.toMatchObject({ message: expect.stringMatching(/another key/) })
    await expect(again.append('r1', [fact('b')], { ...by, expectedSeq: 1 })).rejects.toMatchObject({
      code: 'journal_unreadable',
    })
    await again.close()
  })
})

describe('several processes on one store', () => {
  const program = (path: string, keys: string) => `
    import { SqliteJournal } from ${JSON.stringify(new URL('./sqlite-journal.ts', import.meta.url).href)}
    import { openKeyRing } from ${JSON.stringify(new URL('../chain-keys.ts', import.meta.url).href)}
    const [name, at, end] = process.argv.slice(1)
    while (Date.now() < Number(at)) {}
    const journal = new SqliteJournal(${JSON.stringify(path)}, openKeyRing(${JSON.stringify(keys)}))
    const by = { tenant: 'acme', principal: name }
    let conflicts = 0
    for (let seq = 0; seq < 40; seq++) {
      await journal.append(name, [{ type: 'a', at: 1, data: { seq } }], { ...by, expectedSeq: seq })
      await journal.append('shared', [{ type: 'a', at: 1, data: { name } }], { ...by, expectedSeq: seq })
        .catch((error) => { if (error.code !== 'journal_conflict') throw error; conflicts++ })
    }
    process.stdout.write(String(conflicts))
    if (end === 'crash') process.kill(process.pid, 'SIGKILL')
    await journal.close()`
  const start = (path: string, keys: string, name: string, at: number, end = '') =>
    promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program(path, keys),
      name,
      String(at),
      end,
    ]).then(
      ({ stdout }) => stdout,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    )

  test('J1, J2: many processes keep one chain per run and one per tenant, also when one is killed', async () => {
    const { path, keys, open } = store()
    const at = Date.now() + 700
    const said = await Promise.all(
      ['p1', 'p2', 'p3'].map((name) => start(path, keys, name, at, name === 'p2' ? 'crash' : '')),
    )
    for (const text of said) expect(text).toMatch(/^\d+$/)
    const journal = open()
    for (const name of ['p1', 'p2', 'p3']) expect(await journal.read(name)).toHaveLength(40)
    expect((await journal.read('shared')).length).toBe(
      40 * 3 - said.reduce((sum, text) => sum + Number(text), 0),
    )
    const tenant = await journal.sealed('tenant:acme')
    expect(tenant.map(({ payload }) => payload!.data['number'])).toEqual([1, 2, 3, 4])
    await journal.close()
  })
})
