import { createHash, verify } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../shared/canonical-json.ts'
import { tenantChain, writeLink } from '../chain.ts'
import { checkpointText } from '../chain-checkpoint.ts'
import { openKeyRing, rotateKeys } from '../chain-keys.ts'
import { SqliteJournal } from './sqlite-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string, data = {}) => ({ type, at: 1000, data })
const sha = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

function store() {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-sqlite-'))
  const keys = join(folder, 'keys')
  const path = join(folder, 'journal.db')
  const open = () => new SqliteJournal(path, openKeyRing(keys))
  const bytes = () =>
    readdirSync(folder)
      .filter((name) => name.startsWith('journal.db'))
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('')
  /** Changes the store behind the journal's back, as somebody with the file could. */
  const tamper = (sql: string) => {
    const database = new DatabaseSync(path)
    database.exec(
      'DROP TRIGGER batches_are_not_changed; DROP TRIGGER batches_are_not_removed; DROP TRIGGER payloads_are_only_erased',
    )
    database.exec(sql)
    database.close()
  }
  return { folder, keys, path, open, bytes, tamper }
}

async function threeEntries(open: () => SqliteJournal): Promise<void> {
  const journal = open()
  await journal.append('r1', [fact('a', { n: 1 }), fact('b', { n: 2 })], { ...by, expectedSeq: 0 })
  await journal.append('r1', [fact('c', { n: 3 })], { ...by, expectedSeq: 2 })
  await journal.close()
}

describe('the chain in SQLite', () => {
  test('C1, C2: every entry is hashed with the one before it, salted, and authenticated', async () => {
    const { open, keys } = store()
    await threeEntries(open)
    const journal = open()
    const sealed = await journal.sealed('r1')
    let prev: string | null = null
    for (const { link, hash, mac, payload, key } of sealed) {
      expect(link.prev).toBe(prev)
      expect(sha(writeLink(link))).toBe(hash)
      expect(sha(payload!.salt + canonicalJson(payload!.data))).toBe(link.payload)
      expect(openKeyRing(keys).all.get(key)!.mac(hash)).toBe(mac)
      prev = hash
    }
    expect(sealed.map(({ payload }) => payload!.data)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    expect(new Set(sealed.map(({ payload }) => payload!.salt)).size).toBe(3)
    await journal.close()
  })

  test('Q2: nothing of a payload is readable in the files, nor is a key', async () => {
    const { open, bytes, keys, path } = store()
    const journal = open()
    const secret = 'hunter2-hunter2-hunter2'
    await journal.append('r1', [fact('a', { [secret]: { text: secret } })], { ...by, expectedSeq: 0 })
    expect(bytes()).toContain('SQLite format')
    expect(bytes()).not.toContain(secret)
    const { mac, wrap } = JSON.parse(readFileSync(join(keys, '0001.json'), 'utf8')) as Record<string, string>
    for (const key of [mac!, wrap!]) {
      expect(bytes()).not.toContain(key)
      expect(bytes()).not.toContain(Buffer.from(key, 'hex').toString('latin1'))
    }
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
    await journal.close()
  })

  test.each([
    ['a payload', 'UPDATE batches SET body = zeroblob(60) WHERE facts LIKE \'%"c"%\'', 3],
    ['the payload of all', 'UPDATE batches SET body = NULL', 1],
    ['a time', `UPDATE batches SET facts = replace(facts, '[1000,"b"]', '[2,"b"]')`, 2],
    ['a type', `UPDATE batches SET facts = replace(facts, '"a"', '"x"')`, 1],
    ['the list of types', `UPDATE batches SET facts = '[[' WHERE facts LIKE '%"a"%'`, 1],
    ['a principal', "UPDATE batches SET principal = 'eve' WHERE facts LIKE '%\"c\"%'", 3],
    [
      'an authentication',
      "UPDATE batches SET proof = unhex(substr(hex(proof), 1, 320) || printf('%064d', 0)) WHERE facts LIKE '%\"b\"%'",
      2,
    ],
    ['a hash', 'UPDATE batches SET proof = zeroblob(96) WHERE facts LIKE \'%"c"%\'', 3],
    ['a place', 'DELETE FROM batches WHERE facts LIKE \'%"b"%\'', 1],
    ['a tenant', "UPDATE chains SET tenant = 'eve' WHERE name = 'r1'", 1],
  ])('J4: refuses to read a run of which %s was changed, and says where', async (_, sql, seq) => {
    const { open, tamper } = store()
    await threeEntries(open)
    tamper(sql)
    const journal = open()
    await expect(journal.read('r1')).rejects.toMatchObject({
      code: 'journal_unreadable',
      message: expect.stringMatching(new RegExp(`^Entry ${seq} of r1 `)),
    })
    await journal.close()
  })

  test('J4: the store itself refuses to change or remove an entry', async () => {
    const { open, path } = store()
    await threeEntries(open)
    const database = new DatabaseSync(path)
    expect(() => database.exec("UPDATE batches SET facts = 'x'")).toThrow(/never changed/)
    expect(() => database.exec('UPDATE batches SET body = zeroblob(1)')).toThrow(/never changed/)
    expect(() => database.exec('DELETE FROM batches')).toThrow(/never removed/)
    database.close()
  })

  test('Q3: the tenant chain numbers every run, and says where it stood when it was closed', async () => {
    const { open } = store()
    const journal = open()
    await Promise.all(
      ['r1', 'r2', 'r3'].map((run) => journal.append(run, [fact('a')], { ...by, expectedSeq: 0 })),
    )
    await journal.append('r2', [fact('run.finished')], { ...by, expectedSeq: 1 })
    await journal.append('r2', [fact('late')], { ...by, expectedSeq: 2 })
    await journal.append('x', [fact('a')], { tenant: 'other', principal: 'eve', expectedSeq: 0 })
    const facts = (await journal.sealed(tenantChain('acme'))).map(({ link, payload }) => [
      link.type,
      payload!.data,
    ])
    const heads = (await journal.sealed('r2')).map(({ hash }) => hash)
    expect(facts).toEqual([
      ['run.opened', { run: 'r1', number: 1 }],
      ['run.opened', { run: 'r2', number: 2 }],
      ['run.opened', { run: 'r3', number: 3 }],
      ['run.closed', { run: 'r2', number: 2, entries: 2, head: heads[1] }],
      ['run.closed', { run: 'r2', number: 2, entries: 3, head: heads[2] }],
    ])
    expect(await journal.tenants()).toEqual(['acme', 'other'])
    expect(await journal.runs()).toEqual(['r1', 'r2', 'r3', 'x'])
    await journal.administer([fact('policy.published', { digest: 'd' })], by)
    expect((await journal.sealed(tenantChain('acme'))).at(-1)!.link).toMatchObject({
      type: 'policy.published',
    })
    await journal.close()
  })

  test('Q4: signs where a run stands when it ends, when something is granted, and on demand', async () => {
    const { open } = store()
    const journal = open()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    expect(await journal.checkpoints('r1')).toEqual([])
    await journal.append('r1', [fact('approval.granted')], { ...by, expectedSeq: 1 })
    await journal.append('r1', [fact('run.finished')], { ...by, expectedSeq: 2 })
    await journal.checkpoint('r1', 5000)
    await expect(journal.checkpoint('r9', 1)).rejects.toMatchObject({ code: 'invalid_value' })
    const checkpoints = await journal.checkpoints('r1')
    const hashes = (await journal.sealed('r1')).map(({ hash }) => hash)
    expect(checkpoints.map(({ heads }) => heads.find(({ chain }) => chain === 'r1'))).toEqual([
      { chain: 'r1', seq: 2, hash: hashes[1] },
      { chain: 'r1', seq: 3, hash: hashes[2] },
      { chain: 'r1', seq: 3, hash: hashes[2] },
    ])
    for (const checkpoint of checkpoints) {
      const publicKey = journal.publicKeys()[checkpoint.key]!
      const signature = Buffer.from(checkpoint.signature, 'hex')
      expect(verify(null, Buffer.from(checkpointText(checkpoint)), publicKey, signature)).toBe(true)
    }
    await journal.close()
  })

  test('C3: erasing takes payloads, key and salts out of the files for good, and leaves the chain valid', async () => {
    const { open, bytes, path } = store()
    const journal = open()
    await journal.append('r1', [fact('a', { n: 1 })], { ...by, expectedSeq: 0 })
    await journal.append('r2', [fact('a', { n: 2 })], { ...by, expectedSeq: 0 })
    const look = new DatabaseSync(path)
    const row = look
      .prepare("SELECT wrapped_key, body FROM chains c JOIN batches b ON b.chain = c.id WHERE c.name = 'r1'")
      .get()!
    look.close()
    const parts = [row['wrapped_key'], row['body']].map((part) =>
      Buffer.from(part as Uint8Array).toString('latin1'),
    )
    for (const part of parts) expect(bytes()).toContain(part)
    await journal.erase('r1', { ...by, at: 9 })
    for (const part of parts) expect(bytes()).not.toContain(part)
    const [entry] = await journal.sealed('r1')
    expect(entry!.payload).toBeNull()
    expect(sha(writeLink(entry!.link))).toBe(entry!.hash)
    await expect(journal.read('r1')).rejects.toMatchObject({ message: expect.stringMatching(/was erased/) })
    await expect(journal.append('r1', [fact('b')], { ...by, expectedSeq: 1 })).rejects.toMatchObject({
      code: 'journal_unwritable',
    })
    expect((await journal.sealed(tenantChain('acme'))).at(-1)!.link.type).toBe('run.erased')
    expect(await journal.read('r2')).toHaveLength(1)
    await journal.close()
  })

  test('K2: after a rotation old runs are read with the old key, and go on with the new one', async () => {
    const { open, keys } = store()
    await threeEntries(open)
    const { current } = rotateKeys(keys)
    const journal = open()
    await journal.append('r1', [fact('d')], { ...by, expectedSeq: 3 })
    expect(await journal.read('r1')).toHaveLength(4)
    expect((await journal.sealed('r1'))[3]!.key).toBe(current.id)
    expect(Object.keys(journal.publicKeys())).toHaveLength(2)
    await journal.close()
  })

  test('keeps documents by their digest', async () => {
    const { open } = store()
    const journal = open()
    const name = await journal.keep('{"id":"x"}')
    expect(name).toBe(sha('{"id":"x"}'))
    expect(await journal.keep('{"id":"x"}')).toBe(name)
    expect(await journal.kept(name)).toBe('{"id":"x"}')
    expect(await journal.kept(sha('other'))).toBeNull()
    await journal.close()
  })
})
