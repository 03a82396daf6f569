import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { builtinFunctions } from './builtin-function.ts'
import { builtinMethods } from './builtin-method.ts'
import { compileExpression } from './compile-expression.ts'
import { ExpressionError, expressionErrorCodes } from './expression-error.ts'
import { expressionLimit } from './expression-limit.ts'
import type { ExpressionValue } from './expression-value.ts'

const page = readFileSync(new URL('../../docs/reference/expressions.md', import.meta.url), 'utf8')
const data = JSON.parse(/```json\n([^`]*)```/.exec(page)![1]!) as Record<string, ExpressionValue>

function examplesOf(profile: 'condition' | 'template'): [string, string][] {
  const blocks = page.matchAll(new RegExp(`\`\`\`${profile}\\n([^]*?)\`\`\``, 'g'))
  const lines = Array.from(blocks, (block) => block[1]!.trim().split('\n')).flat()
  return lines.map((line) => line.split(' → ') as [string, string])
}

describe.each(['condition', 'template'] as const)('the examples of a %s hold', (profile) => {
  const examples = examplesOf(profile)

  test('there are some', () => {
    expect(examples.length).toBeGreaterThan(20)
  })

  test.each(examples)('%s → %s', (source, wanted) => {
    const { expression, errors } = compileExpression<null>(source, { profile, names: Object.keys(data) })
    const value = expression === null ? errors[0] : expression.evaluate(Object.values(data), null)
    if (wanted.startsWith('error: ')) {
      expect(value).toBeInstanceOf(ExpressionError)
      expect((value as ExpressionError).code).toBe(wanted.slice('error: '.length))
    } else expect(JSON.parse(JSON.stringify(value))).toEqual(JSON.parse(wanted))
  })
})

const formats = Array.from(
  page.matchAll(/\| `(f"[^`]*")` \| `([^`]*)` \|/g),
  (match) => [match[1]!, match[2]!] as const,
)

test.each(formats)('the table of formats holds: %s gives %s', (source, wanted) => {
  const { expression } = compileExpression<null>(source, { profile: 'template', names: [] })
  expect(expression!.evaluate([], null)).toBe(wanted)
})

test('the table of formats is found', () => {
  expect(formats.length).toBe(7)
})

test('the page lists every function with its profile, and no other', () => {
  const listed = page.split('## Functions')[1]!.split('## Methods')[0]!.split('\n')
  const rows = listed.filter((line) => line.startsWith('| `')).map((line) => line.split(' | '))
  const names = rows.flatMap((row) =>
    Array.from(new Set(row[0]!.match(/[a-z]+(?=\()/g)), (name) => ({
      name,
      condition: row[2]!.startsWith('yes'),
    })),
  )
  const special = ['has', 'default', 'any', 'all'].map((name) => ({ name, condition: true }))
  const known = Array.from(builtinFunctions, ([name, { condition }]) => ({ name, condition }))
  expect(names.toSorted(byName)).toEqual([...special, ...known].toSorted(byName))
})

test('the page lists every method with its profile, and no other', () => {
  const listed = page.split('## Methods')[1]!.split('## What')[0]!.split('\n')
  const rows = listed.filter((line) => /^\|.*`\./.test(line))
  const names = rows.flatMap((row) =>
    Array.from(new Set(row.split('|')[2]!.match(/[a-z]+(?=\()/g)), (name) => ({
      name,
      condition: row.endsWith('| yes |'),
    })),
  )
  const known = Array.from(builtinMethods, ([name, { condition }]) => ({ name, condition }))
  expect(names.toSorted(byName)).toEqual(known.toSorted(byName))
})

test('the page links every code, and tells the limits', () => {
  const linked = Array.from(page.matchAll(/errors\/([a-z_]+)\.md/g), (match) => match[1]!)
  expect(linked.toSorted()).toEqual(expressionErrorCodes.toSorted())
  for (const limit of Object.values(expressionLimit)) {
    expect(page).toMatch(new RegExp(`${limit.toLocaleString('en')}|${limit}`))
  }
})

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1
}
