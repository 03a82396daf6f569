import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeAdministering } from '../administer.suite.ts'
import { openKeyRing, rotateKeys } from '../chain-keys.ts'
import { SqliteJournal } from './sqlite-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string, data = {}) => ({ type, at: 1000, data })

let folder: string
let path: string
const open = () => new SqliteJournal(path, openKeyRing(join(folder, 'keys')))
const change = (sql: string) => {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-acts-'))
  path = join(folder, 'journal.db')
})

describe('administrative acts in SQLite', () => describeAdministering(open))

test('a store of the form before has its acts indexed when it is opened', async () => {
  const before = open()
  await before.append('r1', [fact('a'), fact('run.finished')], { ...by, expectedSeq: 0 })
  await Promise.all([
    before.administer([fact('a.b', { n: 1 })], by),
    before.append('r2', [fact('a')], { ...by, expectedSeq: 0 }),
    before.administer([fact('c.d', { n: 2 })], by),
  ])
  const expected = await before.administered('acme')
  expect(expected.map(({ type }) => type)).toEqual(['a.b', 'c.d'])
  await before.close()
  change('DROP TABLE acts; DROP TABLE credentials; DELETE FROM schema_version WHERE version > 6')
  const after = open()
  expect(await after.administered('acme')).toEqual(expected)
  await after.close()
})

test.each([
  ['its payload', 'UPDATE batches SET body = NULL WHERE facts LIKE \'%"c.d"%\''],
  ['its type', `UPDATE batches SET facts = replace(facts, 'c.d', 'e.f')`],
  ['the one before it', 'DELETE FROM batches WHERE facts LIKE \'%"a.b"%\'; DELETE FROM acts WHERE seq = 1'],
  ['the index', 'INSERT INTO acts (chain, seq) SELECT chain, 99 FROM acts LIMIT 1'],
])('J4: refuses to read an act when %s was changed', async (_, sql) => {
  const before = open()
  await before.administer([fact('a.b')], by)
  await before.administer([fact('c.d')], by)
  await before.close()
  change(
    `DROP TRIGGER batches_are_not_changed; DROP TRIGGER batches_are_not_removed; DROP TRIGGER payloads_are_only_erased; ${sql}`,
  )
  const after = open()
  await expect(after.administered('acme')).rejects.toMatchObject({ code: 'journal_unreadable' })
  await after.close()
})

test('credentials are unreadable in the file, survive a rotation of keys, and cannot be moved or made up', async () => {
  const secret = 'hunter2-hunter2-hunter2'
  const before = open()
  await before.administer([], by, { keep: [{ id: 'c1', kind: 'password', body: { secret } }] })
  for (const name of ['', '-wal']) expect(readFileSync(`${path}${name}`, 'latin1')).not.toContain(secret)
  await before.close()
  rotateKeys(join(folder, 'keys'))
  const rotated = open()
  expect(await rotated.credentials('password')).toMatchObject([{ body: { secret } }])
  await rotated.close()
  change("UPDATE credentials SET tenant = 'other'")
  const after = open()
  await expect(after.credentials('password')).rejects.toMatchObject({ code: 'journal_unreadable' })
  await after.close()
})
