import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folderRules } from './folder-rules.ts'

const page = readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8')
const lintConfig = readFileSync(new URL('../../.oxlintrc.json', import.meta.url), 'utf8')

function foldersOnPage(): Record<string, unknown> {
  const section = page.split(/^## /m).find((part) => part.startsWith('Folders\n')) ?? ''
  const rows = [...section.matchAll(/^\| `([^`]+)` \| [^|]+ \| ([^|]+) \|$/gm)]
  return Object.fromEntries(
    rows.map(([, folder, cell]) => [
      folder,
      cell === 'anything' ? cell : [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    ]),
  )
}

test('the table in ARCHITECTURE.md is the table that is enforced', () => {
  expect(foldersOnPage()).toEqual(folderRules.mayImport)
})

test('every name in the rules is a folder of the table', () => {
  const known = Object.keys(folderRules.mayImport)
  const { mayImport, pure, packages, backends, assemblers, computedImports } = folderRules
  const used = [Object.values(mayImport), pure, Object.keys(packages), backends, assemblers, computedImports]
  const unknown = used.flat(2).filter((name) => name !== 'anything' && !known.includes(name))
  expect(unknown).toEqual([])
})

test('the linter watches the same pure core', () => {
  expect(lintConfig).toContain(`"src/{${folderRules.pure.join(',')}}/**/*.ts"`)
})
