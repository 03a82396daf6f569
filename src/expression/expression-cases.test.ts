import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { compileExpression } from './compile-expression.ts'
import type { ExpressionErrorCode } from './expression-error.ts'
import { ExpressionError } from './expression-error.ts'
import type { ExpressionValue } from './expression-value.ts'

interface Case {
  note: string
  expression: string
  profile?: 'condition' | 'template'
  sigil?: boolean
  names?: string[]
  values?: Record<string, ExpressionValue>
  want?: ExpressionValue
  want_error?: {
    code: ExpressionErrorCode
    contains?: string
    start?: number
    end?: number
    at?: 'load' | 'run'
  }
}

interface CaseFile {
  profile: 'condition' | 'template'
  values?: Record<string, ExpressionValue>
  cases: Case[]
}

const folder = new URL('../../test/cases/expression/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

function outcomeOf(given: Case, file: CaseFile): { value: unknown; at: 'load' | 'run' } {
  const values = given.values ?? file.values ?? {}
  const names = given.names ?? Object.keys(values)
  const profile = given.profile ?? file.profile
  const { expression, errors } = compileExpression<null>(given.expression, {
    profile,
    names,
    sigil: given.sigil ?? false,
  })
  if (expression === null) return { value: errors[0], at: 'load' }
  return {
    value: expression.evaluate(
      names.map((name) => values[name]),
      null,
    ),
    at: 'run',
  }
}

test('there are cases', () => {
  expect(files.length).toBeGreaterThan(5)
})

describe.each(files)('%s', (name) => {
  const file = parse(readFileSync(new URL(name, folder), 'utf8')) as CaseFile
  test.each(file.cases.map((each) => [`${each.note}: ${each.expression.slice(0, 80)}`, each] as const))(
    '%s',
    (_, each) => {
      const { value, at } = outcomeOf(each, file)
      const wanted = each.want_error
      if (wanted === undefined) {
        expect(each).toHaveProperty('want')
        // Dicts are made without a prototype, which is not what is compared here.
        expect(value instanceof ExpressionError ? value : JSON.parse(JSON.stringify(value))).toEqual(
          each.want,
        )
        return
      }
      expect(value).toBeInstanceOf(ExpressionError)
      const error = value as ExpressionError
      expect(error.code).toBe(wanted.code)
      if (wanted.contains !== undefined) expect(error.message).toContain(wanted.contains)
      if (wanted.start !== undefined) expect(error.start).toBe(wanted.start)
      if (wanted.end !== undefined) expect(error.end).toBe(wanted.end)
      if (wanted.at !== undefined) expect(at).toBe(wanted.at)
      expect(error.start).toBeLessThanOrEqual(error.end)
      expect(error.end).toBeLessThanOrEqual(each.expression.length)
    },
  )
})
