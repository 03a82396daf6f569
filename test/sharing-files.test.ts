import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sharingFiles } from './sharing-files.ts'

test('a file that changes its process, or lies where processes are started, shares none', () => {
  const root = mkdtempSync(join(tmpdir(), 'lockstep-sharing-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const files = {
    'src/run/pure.test.ts': 'expect(1).toBe(1)',
    'src/run/env.test.ts': "process.env['HOME'] = ''",
    'src/run/mock.test.ts': "vi.mock('./decide.ts')",
    'src/run/clock.test.ts': 'vi.useFakeTimers()',
    'src/run/pure.ts': '',
    'src/engine/pure.test.ts': '',
    'test/e2e/pure.test.ts': '',
    'test/gate/pure.test.ts': '',
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const found = sharingFiles(root, ['src/**/*.test.ts', 'test/**/*.test.ts'])
  expect(found).toEqual(['src/run/pure.test.ts', 'test/gate/pure.test.ts'])
})
