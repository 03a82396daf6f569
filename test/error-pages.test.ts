import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { diagnosticCodes } from '../src/document/diagnostic-code.ts'
import { expressionErrorCodes } from '../src/expression/expression-error.ts'
import { denialCodes } from '../src/run/denial-code.ts'
import { policyCodes } from '../src/policy/policy-code.ts'
import { errorCodes } from '../src/shared/error-code.ts'

const lists = { errorCodes, expressionErrorCodes, diagnosticCodes, denialCodes, policyCodes }
/** How a page says, in italics, where its code turns up. */
const kinds = {
  errorCodes: /^\*Thrown/m,
  expressionErrorCodes: /^\*In an expression/m,
  diagnosticCodes: /^\*.*diagnostic.*\*/im,
  denialCodes: /^\*.*denial.*\*/im,
  policyCodes: /^\*A policy verdict: .*\*/m,
}
const folder = new URL('../docs/errors/', import.meta.url)
const pages = readdirSync(folder).filter((file) => file !== 'README.md')

test.each(Object.entries(lists))('%s names each code once, in snake case', (_, codes) => {
  expect(codes.length).toBeGreaterThan(0)
  expect(codes.length).toBe(new Set(codes).size)
  expect(codes.filter((code) => !/^[a-z]+(?:_[a-z]+)*$/.test(code))).toEqual([])
})

test('every code has a page in docs/errors, and every page a code', () => {
  const codes = new Set<string>(Object.values(lists).flat())
  expect(pages.toSorted()).toEqual(Array.from(codes, (code) => `${code}.md`).sort())
})

test.each(pages)('%s says where the code turns up, what it means, and how to mend it', (page) => {
  const text = readFileSync(new URL(page, folder), 'utf8')
  const code = page.slice(0, -'.md'.length)
  expect(text).toMatch(new RegExp(`^# ${code}\n\n\\*.+\\* .+`))
  expect(text).toContain('\n## Example\n')
  expect(text).toContain('\n## How to mend it\n')
  for (const [list, codes] of Object.entries(lists)) {
    const kind = kinds[list as keyof typeof lists]
    if ((codes as readonly string[]).includes(code)) expect(text).toMatch(kind)
  }
})
