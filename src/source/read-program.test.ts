import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writePlaybookLock } from './playbook-lock.ts'
import { readProgram } from './read-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-read-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.for([
  ['Load user account', 'the hash of "Load user account" (Main/1) is not that of the bullet'],
  ['Load nothing', 'no bullet says "Load nothing" any more'],
] as const)('says what is wrong with an entry for %s that fits no bullet', ([text, said]) => {
  const path = join(folder, 'a.md')
  writeFileSync(path, '## Main\n### Steps\n- Load user account\n')
  writePlaybookLock(path, [{ step: 'Main/1', text, hash: 'wrong', call: null, by: 'me', at: 'today' }])
  const stale = readProgram(path).diagnostics.find(({ code }) => code === 'stale_resolution')
  expect(stale?.message).toContain(said)
})
