import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readPlaybookReference } from './playbook-reference.ts'

const folder = mkdtempSync(join(tmpdir(), 'ls-ref-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const home = join(folder, 'home')
mkdirSync(join(home, 'keys'), { recursive: true })
writeFileSync(join(home, 'keys', 'secrets.json'), 'key')
writeFileSync(join(folder, 'token'), 'token')
symlinkSync(home, join(folder, 'link'))

test('reads what a playbook may refer to', () => {
  expect(readPlaybookReference('store:api-token', home)).toEqual({ from: 'store', name: 'api-token' })
  expect(readPlaybookReference('env:TOKEN', home)).toEqual({ from: 'env', name: 'TOKEN' })
  const path = join(folder, 'token')
  expect(readPlaybookReference(`file:${path}`, home)).toEqual({ from: 'file', path })
  expect(readPlaybookReference(`file:${home}-other`, home)).toMatchObject({ from: 'file' })
})

test.each(['exec:pass', 'Bearer env:TOKEN', 'hunter2', 'file:token', 'env:LOCKSTEP_SECRET_KEY', 'store:'])(
  'refuses %s',
  (text) => {
    expect(() => readPlaybookReference(text, home)).toThrow('no reference to a secret')
  },
)

test('refuses the files of Lockstep itself, however they are reached', () => {
  for (const path of [
    join(home, 'keys', 'secrets.json'),
    `${folder}/other/../home/keys/secrets.json`,
    join(folder, 'link', 'keys', 'secrets.json'),
    home,
  ])
    expect(() => readPlaybookReference(`file:${path}`, home)).toThrow('lies in the data folder of Lockstep')
})
