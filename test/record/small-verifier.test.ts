import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the verifier stays small enough to be read: under 1,000 lines, comments included', () => {
  const folder = new URL('../../src/proof/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  expect(files.length).toBeGreaterThan(5)
  const lines = files.map((name) => readFileSync(new URL(name, folder), 'utf8').split('\n').length - 1)
  expect(lines.reduce((sum, each) => sum + each, 0)).toBeLessThan(1_000)
})
