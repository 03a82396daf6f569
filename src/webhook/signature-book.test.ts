import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { SignatureBook } from './signature-book.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-signatures-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a signature stays with the event it came with first, for each hook, for as long as it may count, over a restart', () => {
  const path = join(folder, 'hooks.db')
  let now = 1_000_000
  const first = new SignatureBook(path, () => now)
  expect(first.eventOf('hk_1', 's1', 'dlv_1')).toBe('dlv_1')
  expect(first.eventOf('hk_1', 's1', 'dlv_2')).toBe('dlv_1')
  expect(first.eventOf('hk_1', 's2', 'dlv_2')).toBe('dlv_2')
  expect(first.eventOf('hk_2', 's1', 'dlv_3')).toBe('dlv_3')
  first.close()
  expect(statSync(path).mode & 0o077).toBe(0)
  // Signed by a clock five minutes ahead, it counts for ten.
  now += 10 * 60_000
  const second = new SignatureBook(path, () => now)
  expect(second.eventOf('hk_1', 's1', 'dlv_4')).toBe('dlv_1')
  now += 24 * 60 * 60_000
  expect(second.eventOf('hk_1', 's1', 'dlv_5')).toBe('dlv_5')
  second.close()
})
