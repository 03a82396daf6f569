import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { isConsoleStale } from '../../scripts/stale-console.ts'

const root = mkdtempSync(join(tmpdir(), 'lockstep-stale-'))
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, seconds: number): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '')
  utimesSync(file, seconds, seconds)
  for (let folder = dirname(file); folder !== root; folder = dirname(folder)) utimesSync(folder, 1, 1)
}

test('the console is built when it is missing or one of its sources is younger, and not otherwise', () => {
  write('console/src/page/a.tsx', 100)
  write('src/playbook/b.ts', 100)
  write('src/gateway/c.ts', 100)
  expect(isConsoleStale(root)).toBe(true)
  write('dist/console/index.html', 200)
  expect(isConsoleStale(root)).toBe(false)
  write('src/gateway/c.ts', 300)
  expect(isConsoleStale(root)).toBe(false)
  write('src/playbook/b.ts', 300)
  expect(isConsoleStale(root)).toBe(true)
  write('src/playbook/b.ts', 100)
  utimesSync(join(root, 'console/src/page'), 300, 300)
  expect(isConsoleStale(root)).toBe(true)
})
