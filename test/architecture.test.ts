import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checkArchitecture } from './architecture/check-architecture.ts'
import { folderRules } from './architecture/folder-rules.ts'
import { readSourceTree } from './architecture/source-tree.ts'

test('every file under src keeps the rules of its folder', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const packages = {
    production: Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.peerDependencies,
    }),
    development: Object.keys(manifest.devDependencies),
  }
  const tree = readSourceTree(fileURLToPath(new URL('../src', import.meta.url)))
  const violations = checkArchitecture(tree, folderRules, packages)
  expect(
    violations.map(({ file, line, rule, message }) => `src/${file}:${line} ${rule}: ${message}`),
  ).toEqual([])
})
