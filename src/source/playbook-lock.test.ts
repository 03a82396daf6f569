import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  lstatSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { type LockEntry, lockPathOf, readPlaybookLock, writePlaybookLock } from './playbook-lock.ts'
import { writeWholeFile } from './write-whole-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-lock-'))
afterAll(() => rmSync(folder, { recursive: true }))

const entry: LockEntry = {
  step: 'Main/2',
  text: 'Load user account',
  hash: 'abc',
  call: 'LoadAccount($email)',
  by: 'me',
  at: '2026-11-15',
}

describe('the lock file of a playbook', () => {
  it('is read as it was written, whatever a bullet says', () => {
    const file = join(folder, 'a.md')
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.option(fc.string({ unit: 'grapheme-ascii' })),
        (text, call) => {
          writePlaybookLock(file, [{ ...entry, text, call }])
          expect(readPlaybookLock(file)).toEqual({ entries: [{ ...entry, text, call }], diagnostics: [] })
        },
      ),
      { numRuns: 50 },
    )
  })

  it('is no entries where there is none, and none where it is empty', () => {
    expect(readPlaybookLock(join(folder, 'none.md'))).toEqual({ entries: [], diagnostics: [] })
    writePlaybookLock(join(folder, 'empty.md'), [])
    expect(readPlaybookLock(join(folder, 'empty.md')).entries).toEqual([])
  })

  it.each(['steps: [', 'version: 2\nsteps: []\n', 'version: 1\nsteps: [{ step: a, rights: all }]\n', ''])(
    'is an error with its place, never nothing, where it is broken: %j',
    (text) => {
      const file = join(folder, 'broken.md')
      writeFileSync(lockPathOf(file), text)
      const { entries, diagnostics } = readPlaybookLock(file)
      expect(entries).toEqual([])
      expect(diagnostics[0]).toMatchObject({ severity: 'error', file: lockPathOf(file) })
    },
  )
})

describe('writing a whole file', () => {
  it('keeps permissions and links, and leaves nothing beside it', () => {
    const target = join(folder, 'target.txt')
    writeFileSync(target, 'old')
    chmodSync(target, 0o640)
    const link = join(folder, 'link.txt')
    symlinkSync(target, link)
    writeWholeFile(link, 'new')
    expect(readFileSync(target, 'utf8')).toBe('new')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(statSync(target).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})
