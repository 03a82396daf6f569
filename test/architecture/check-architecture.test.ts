import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkArchitecture } from './check-architecture.ts'
import { folderRules } from './folder-rules.ts'
import { readSourceTree } from './source-tree.ts'

const packages = { production: ['yaml', 'zod', '@noble/hashes', 'fastify'], development: ['vitest'] }

/** A small tree without a breach; each test below spoils it in one place. */
const clean = {
  'index.ts': "export { app } from './app.ts'\nexport type { Step } from './playbook/step.ts'",
  'app.ts':
    "import { serve } from './gateway/serve.ts'\nimport './engine/embedded/queue.ts'\nexport const app = serve",
  'shared/digest.ts': "import { sha256 } from '@noble/hashes/sha2.js'\nexport const digest = sha256",
  'document/parse.ts': "import { parse } from 'yaml'\nexport { parse }",
  'playbook/step.ts':
    "import { parse } from '../document/parse.ts'\nexport type Step = ReturnType<typeof parse>",
  'run/decide.ts':
    "import type { Step } from '../playbook/step.ts'\nexport const decide = (step: Step) => step",
  'journal/journal.ts': 'export type Journal = { append(): void }',
  'journal/sqlite/open.ts': "import { DatabaseSync } from 'node:sqlite'\nexport const open = DatabaseSync",
  'journal/memory/open.ts':
    "import type { Journal } from '../journal.ts'\nexport const open = (): Journal | null => null",
  'engine/engine.ts': "import type { Journal } from '../journal/journal.ts'\nexport type Engine = Journal",
  'engine/embedded/queue.ts': "import type { Engine } from '../engine.ts'\nexport type Queue = Engine",
  'gateway/serve.ts': "import fastify from 'fastify'\nexport const serve = fastify",
  'cli/main.ts': "import { app } from '../app.ts'\nexport const main = () => app(process.argv)",
  'run/decide.test.ts':
    "import { test } from 'vitest'\nimport '../testing/clock.ts'\ntest('now', () => Date.now())",
  'testing/clock.ts': 'export const clock = () => Date.now()',
}

function breaches(changes: Record<string, string>, rules = folderRules): string[] {
  const tree = new Map(Object.entries({ ...clean, ...changes }))
  return checkArchitecture(tree, rules, packages).map(({ rule, file }) => `${rule} ${file}`)
}

test('accepts a tree that keeps the rules', () => {
  expect(breaches({})).toEqual([])
})

describe('it never passes blindly', () => {
  test('refuses a tree without code', () => {
    expect(checkArchitecture(new Map(), folderRules, packages)).toMatchObject([{ rule: 'no-code' }])
  })

  test('refuses code in which it sees no import', () => {
    const tree = new Map([['shared/ids.ts', 'export const id = 1']])
    expect(checkArchitecture(tree, folderRules, packages)).toMatchObject([{ rule: 'no-code' }])
  })

  test('refuses a file it cannot parse', () => {
    expect(breaches({ 'run/decide.ts': 'export const = 1' })).toEqual(['unreadable run/decide.ts'])
  })

  test('throws when the source folder is missing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lockstep-'))
    try {
      expect(readSourceTree(folder).size).toBe(0)
      expect(() => readSourceTree(join(folder, 'src'))).toThrow('ENOENT')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a folder imports only what the table allows, however the import is spelled', () => {
  const spellings = {
    'a plain import': "import { open } from '../journal/journal.ts'",
    'a type-only import': "import type { Journal } from '../journal/journal.ts'",
    'a type-only member': "import { type Journal } from '../journal/journal.ts'",
    'an import over several lines': "import {\n  open,\n} from\n  '../journal/journal.ts'",
    'an import for its effect': "import '../journal/journal.ts'",
    'a namespace import': "import * as journal from '../journal/journal.ts'",
    'a dynamic import': "const late = () => import('../journal/journal.ts')",
    'a dynamic import in backticks': 'const late = () => import(`../journal/journal.ts`)',
    'a re-export': "export { open } from '../journal/journal.ts'",
    'a re-export of everything': "export * from '../journal/journal.ts'",
    'a re-export of types': "export type { Journal } from '../journal/journal.ts'",
    'an import type': "type Late = import('../journal/journal.ts').Journal",
    'an import assignment': "import journal = require('../journal/journal.ts')",
    'a require call': "const journal = require('../journal/journal.ts')",
    'a reference directive': '/// <reference path="../journal/journal.ts" />\nexport const x = 1',
    'a module augmentation': "declare module '../journal/journal.ts' { const x: 1 }",
    'a detour through the path': "import '../run/../journal/journal.ts'",
  }
  test.each(Object.entries(spellings))('%s', (_, code) => {
    expect(breaches({ 'policy/decide.ts': code })).toEqual(['folder policy/decide.ts'])
  })

  test('text that only looks like an import is none', () => {
    const code = [
      "// import '../journal/journal.ts'",
      "/* import '../journal/journal.ts' */",
      'const quoted = "import \'../journal/journal.ts\'"',
      "const template = `\n${1}\nimport '../journal/journal.ts'\n/// <reference path='../journal/journal.ts' />\n`",
      "const expression = /import '..\\/journal'/",
    ]
    expect(breaches({ 'policy/decide.ts': code.join('\n') })).toEqual([])
  })

  test('the gateway never imports an adapter', () => {
    const changes = { 'adapter/http/send.ts': '', 'gateway/serve.ts': "import '../adapter/http/send.ts'" }
    expect(breaches(changes)).toContain('folder gateway/serve.ts')
  })

  test('nobody but the command line imports app.ts, and nobody imports index.ts', () => {
    expect(breaches({ 'tool/call.ts': "import '../app.ts'" })).toEqual(['folder tool/call.ts'])
    expect(breaches({ 'cli/main.ts': "import '../index.ts'" })).toEqual(['folder cli/main.ts'])
  })

  test('a unit test may use any folder, for it does not ship', () => {
    expect(breaches({ 'policy/decide.test.ts': "import '../run/decide.ts'" })).toEqual([])
  })

  test('code that ships never imports a test', () => {
    const changes = { 'run/all.test.ts': '', 'run/evolve.ts': "import './all.test.ts'" }
    expect(breaches(changes)).toEqual(['test-import run/evolve.ts'])
    expect(breaches({ 'run/all.suite.ts': '', 'run/evolve.ts': "import './all.suite.ts'" })).toEqual([
      'test-import run/evolve.ts',
    ])
  })

  test.each(['../../test/cases.ts', '../../bench/run.ts', '../../examples/refund.ts', '../../package.json'])(
    'nothing in src imports %s',
    (path) => {
      expect(breaches({ 'cli/main.ts': `import '${path}'` })).toEqual(['leaves-src cli/main.ts'])
    },
  )

  test('an import that leads nowhere is reported, not passed over', () => {
    expect(breaches({ 'run/decide.ts': "import './gone.ts'" })).toEqual(['unresolved run/decide.ts'])
    expect(breaches({ 'run/decide.ts': "import '../journal/journal'" })).toEqual(['unresolved run/decide.ts'])
  })
})

describe('folders form no ring', () => {
  test('through app.ts, which may import anything', () => {
    const changes = { 'app.ts': "import './cli/main.ts'" }
    expect(breaches(changes)).toEqual(['cycle app.ts', 'cycle cli/main.ts'])
  })

  test('even where a careless table would allow it', () => {
    const mayImport = { ...folderRules.mayImport, document: ['run'] }
    const changes = { 'document/span.ts': "import type { decide } from '../run/decide.ts'" }
    const rings = breaches(changes, { ...folderRules, mayImport })
    expect(rings).toEqual(['cycle playbook/step.ts', 'cycle run/decide.ts', 'cycle document/span.ts'])
  })
})

describe('implementations of one contract do not know each other', () => {
  test.each([
    ['engine/temporal/start.ts', '../embedded/queue.ts'],
    ['journal/memory/open.ts', '../sqlite/open.ts'],
    ['adapter/http/send.ts', '../exec/spawn.ts'],
  ])('%s does not import %s', (file, path) => {
    expect(breaches({ 'adapter/exec/spawn.ts': '', [file]: `import '${path}'` })).toEqual([`backend ${file}`])
  })

  test('a contract does not import its implementation', () => {
    const changes = { 'journal/journal.ts': "import './memory/open.ts'" }
    expect(breaches(changes)).toEqual(['backend journal/journal.ts'])
  })

  test('another folder knows the contract only', () => {
    const changes = { 'overview/follow.ts': "import '../journal/memory/open.ts'" }
    expect(breaches(changes)).toEqual(['backend overview/follow.ts'])
  })
})

describe('the pure core does not touch the machine', () => {
  const spoilers = [
    "import { readFileSync } from 'node:fs'",
    "import type { Stats } from 'node:fs'",
    "const fs = () => import('node:fs')",
    "import fs = require('node:fs')",
    'const now = Date.now()',
    'const now = new Date()',
    'type Moment = Date',
    'const now = performance.now()',
    'setTimeout(() => 1, 10)',
    'queueMicrotask(() => 1)',
    'const signal = AbortSignal.timeout(5)',
    'const here = process.cwd()',
    'const { env } = process',
    'const given = { process }',
    "fetch('x')",
    "console.log('x')",
    "const clock = globalThis['Da' + 'te']",
    'const id = crypto.randomUUID()',
    'const dice = Math.random()',
    "const dice = Math['random']()",
    'const { random } = Math',
    'const maths = Math',
    "const dice = Math['ran' + 'dom']()",
    "const run = new Function('return 1')",
    "eval('1')",
    'const here = import.meta.url',
    "['b', 'a'].sort((a, b) => a.localeCompare(b))",
    'const text = (1234.5).toLocaleString()',
    "const order = new Intl.Collator('de')",
  ]
  test.each(spoilers)('%s', (code) => {
    expect(new Set(breaches({ 'run/evolve.ts': code }))).toEqual(new Set(['impure run/evolve.ts']))
  })

  test('not even through a module whose name is computed', () => {
    const code = 'const late = (name: string) => import(name)'
    expect(breaches({ 'run/evolve.ts': code })).toContain('impure run/evolve.ts')
  })

  test('names of members and labels are no references', () => {
    const code = [
      'type Step = { process: string; Date: number; fetch(): void }',
      'class Queue { fetch = 1; get process() { return 1 } }',
      'const step = { process: 1, Date: 2 }',
      'const sum = step.process + step.Date + Math.max(1, 2) + Math.floor(Math.PI)',
      "const text = 'Date process Math.random()' // Date.now()",
      'export { sum as performance }',
    ]
    expect(breaches({ 'run/evolve.ts': code.join('\n') })).toEqual([])
  })

  test('nor does a file that the core reaches in another folder', () => {
    const changes = {
      'proof/verify.ts': "import type { Event } from '../journal/event.ts'\nexport type Proof = Event",
      'journal/event.ts': "import { now } from './moment.ts'\nexport type Event = typeof now",
      'journal/moment.ts': 'export const now = Date.now()',
    }
    expect(breaches(changes)).toEqual(['impure journal/moment.ts'])
  })

  test('a platform module reached through another folder is found too', () => {
    const changes = { 'proof/verify.ts': "import '../journal/sqlite/open.ts'" }
    expect(breaches(changes)).toEqual(['backend proof/verify.ts', 'impure journal/sqlite/open.ts'])
  })
})

describe('packages', () => {
  test('the pure core imports only packages its folder is given', () => {
    expect(breaches({ 'document/lex.ts': "import 'zod'" })).toEqual(['package document/lex.ts'])
    expect(breaches({ 'playbook/schema.ts': "import 'zod/v4'" })).toEqual([])
  })

  test.each(['expression', 'run', 'policy', 'proof'])('%s imports none', (folder) => {
    expect(breaches({ [`${folder}/load.ts`]: "import 'yaml'" })).toEqual([`package ${folder}/load.ts`])
  })

  test('code that ships imports declared production packages and nothing else', () => {
    for (const name of ['vitest', 'left-pad', 'fs', 'lockstep', '#inside', '/tmp/x.ts', 'file:///x.ts']) {
      expect(breaches({ 'gateway/serve.ts': `import '${name}'` })).toEqual(['package gateway/serve.ts'])
    }
  })

  test('only a loader of users’ files imports a module whose name is not written out', () => {
    const code = 'const load = (name: string) => import(name)'
    expect(breaches({ 'gateway/serve.ts': code })).toEqual(['computed-import gateway/serve.ts'])
    expect(breaches({ 'source/load.ts': code })).toEqual([])
  })
})

describe('names', () => {
  test('a folder the table does not know is refused', () => {
    expect(breaches({ 'plugin/load.ts': '' })).toEqual(['unknown-folder plugin/load.ts'])
    expect(breaches({ 'server.ts': '' })).toEqual(['unknown-folder server.ts'])
    expect(breaches({ 'constructor/load.ts': '' })).toEqual(['unknown-folder constructor/load.ts'])
  })

  test.each([
    'utils',
    'helpers',
    'common',
    'types',
    'misc',
    'manager',
    'run-manager',
    'string-utils',
    'types.test',
  ])('no file is named %s.ts', (name) => {
    expect(breaches({ [`run/${name}.ts`]: '' })).toEqual([`file-name run/${name}.ts`])
  })

  test('no folder inside is named so either', () => {
    expect(breaches({ 'run/utils/merge.ts': '' })).toEqual(['file-name run/utils/merge.ts'])
  })

  test('files are kebab-case TypeScript', () => {
    expect(breaches({ 'run/admitCall.ts': '' })).toEqual(['file-name run/admitCall.ts'])
    expect(breaches({ 'run/admit.call.ts': '' })).toEqual(['file-name run/admit.call.ts'])
    expect(breaches({ 'run/admit-call.limits.test.ts': '' })).toEqual([])
    expect(breaches({ 'run/table.json': '{}' })).toEqual(['file-name run/table.json'])
    expect(breaches({ 'run/globals.d.ts': '' })).toEqual(['file-name run/globals.d.ts'])
  })
})

describe('an index.ts only re-exports, by name', () => {
  test.each([
    "export * from './app.ts'",
    "export * as app from './app.ts'",
    "import { app } from './app.ts'\nexport { app }",
    "import './app.ts'",
    'export const version = 1',
    'export default 1',
  ])('%s', (code) => {
    expect(breaches({ 'index.ts': `export { serve } from './gateway/serve.ts'\n${code}` })).toContain(
      'index index.ts',
    )
  })
})
