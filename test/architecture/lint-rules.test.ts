import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-lint-'))
const tooLong = Array.from({ length: 401 }, (_, i) => `export const v${i} = ${i}`).join('\n')
let reports: string[] = []

const files = {
  'src/run/clock.ts': 'export const clock = () => Date.now()',
  'src/run/chance.ts': 'export const chance = () => Math.random()',
  'src/run/platform.ts': 'export const here = () => process.cwd()',
  'src/run/clock.test.ts': 'export const clock = () => [Date.now(), Math.random()]',
  'src/cli/clock.ts': 'export const clock = () => [Date.now(), Math.random()]',
  'src/cli/left.ts': "import { right } from './right.ts'\nexport const left = () => right",
  'src/cli/right.ts': "import { left } from './left.ts'\nexport const right = (): unknown => left",
  'src/cli/long.ts': tooLong,
}

beforeAll(() => {
  cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint')
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format', 'unix'], {
    cwd: folder,
    encoding: 'utf8',
  })
  reports = stdout.split('\n').flatMap((line) => {
    const found = /^(?<path>[^:]+):\d+:\d+: .*\[Error\/\w+\((?<rule>.+)\)\]$/.exec(line)?.groups
    return found === undefined ? [] : [`${found['path']} ${found['rule']}`]
  })
})

afterAll(() => rmSync(folder, { recursive: true }))

test('the linter reports clocks, chance and platform in the pure core, rings of files, and long files', () => {
  expect(reports.sort()).toEqual([
    'src/cli/left.ts no-cycle',
    'src/cli/long.ts max-lines',
    'src/cli/right.ts no-cycle',
    'src/run/chance.ts no-restricted-properties',
    'src/run/clock.ts no-restricted-globals',
    'src/run/platform.ts no-restricted-globals',
  ])
})
