import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { permissions, permissionsOfRole, roles } from '../api/permission.ts'
import { factShapes } from './fact.ts'

const page = readFileSync(new URL('../../docs/reference/access.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  )

test('the page on access shows every permission with the roles that have it', () => {
  const head = rows.findIndex(([first]) => first === 'permission')
  expect(rows[head]!.slice(1)).toEqual(roles)
  const shown = rows.slice(head + 2, head + 2 + permissions.length)
  const right = permissions.map((each) => [
    `\`${each}\``,
    ...roles.map((role) => (permissionsOfRole[role].includes(each) ? 'yes' : 'no')),
  ])
  expect(shown).toEqual(right)
})

test('the page on access names every fact that the directory writes', () => {
  const head = rows.findIndex(([first]) => first === 'facts')
  const named = rows
    .slice(head + 2)
    .flatMap(([first]) => [...first!.matchAll(/`([a-z.]+)`/g)].map(([, name]) => name))
  expect(named.sort()).toEqual(Object.keys(factShapes).sort())
})
