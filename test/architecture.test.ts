import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checkArchitecture } from './architecture/check-architecture.ts'
import { checkConsole } from './architecture/check-console.ts'
import { folderRules } from './architecture/folder-rules.ts'
import { readSourceTree } from './architecture/source-tree.ts'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const packages = {
  production: Object.keys({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  }),
  development: Object.keys(manifest.devDependencies),
}

test('every file under src keeps the rules of its folder', () => {
  const tree = readSourceTree(fileURLToPath(new URL('../src', import.meta.url)))
  const violations = checkArchitecture(tree, folderRules, packages)
  expect(
    violations.map(({ file, line, rule, message }) => `src/${file}:${line} ${rule}: ${message}`),
  ).toEqual([])
})

test('every file of the console keeps to the contract, the client and the pure core', () => {
  const tree = readSourceTree(fileURLToPath(new URL('../console/src', import.meta.url)))
  const violations = checkConsole(tree, packages)
  expect(
    violations.map(({ file, line, rule, message }) => `console/src/${file}:${line} ${rule}: ${message}`),
  ).toEqual([])
})
