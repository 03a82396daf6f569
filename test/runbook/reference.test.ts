import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { diagnosticCodes } from '../../src/document/diagnostic-code.ts'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import { playbookJsonSchema } from '../../src/playbook/playbook-json-schema.ts'

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
const page = read('reference/runbooks.md')

type Shape = { readonly properties: Readonly<Record<string, Shape>>; readonly anyOf: readonly Shape[] }

const { step } = (playbookJsonSchema() as never as { $defs: { step: Shape } }).$defs

/** The keys in the first column of the table that begins with a heading. */
function rowsBelow(head: string): string[] {
  const start = page.indexOf(`\n| ${head} |`)
  expect(start).toBeGreaterThan(-1)
  const table = page.slice(start + 1, page.indexOf('\n\n', start))
  return [...table.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]!)
}

const innerKeys = (key: string): string[] => {
  const { properties, anyOf = [] } = step.properties[key]!
  return Object.keys(properties ?? anyOf.find((each) => each.properties)!.properties)
}

describe('docs/reference/runbooks.md', () => {
  test('has a row for every key of a call, and for no other', () => {
    const forModels = ['expected_tools', 'hints', 'max_tool_calls', 'complete_when', 'disclosure']
    const spelling = ['id', 'description', 'name', 'args', 'type']
    const keys = Object.keys(step.properties).filter((key) => ![...forModels, ...spelling].includes(key))
    expect(page.slice(page.indexOf('## A call'))).toContain('| `tool` |')
    const start = page.indexOf('## A call')
    const table = page.slice(start, page.indexOf('`expected_tools`, `hints`', start))
    const rows = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]!)
    expect(rows.toSorted()).toEqual(keys.toSorted())
    expect(rowsBelow('key of `retry`').toSorted()).toEqual(innerKeys('retry').toSorted())
    expect(rowsBelow('key of `verify`').toSorted()).toEqual(innerKeys('verify').toSorted())
  })

  test('names codes that there are', () => {
    const told = page.slice(page.indexOf('## What is refused before a run'))
    const codes = [...told.matchAll(/\| ((?:`[a-z_]+`(?:, )?)+) \|$/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`([a-z_]+)`/g)].map((match) => match[1]!),
    )
    expect(codes.length).toBeGreaterThan(12)
    for (const code of codes) expect(diagnosticCodes).toContain(code)
  })
})

describe.each(['reference/runbooks.md', 'guide/runbooks.md'])('the examples of docs/%s', (name) => {
  const examples = [...read(name).matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!)

  test.each(examples.map((text, index) => [index + 1, text] as const))(
    '%i loads without a warning',
    (_, text) => {
      expect(parsePlaybook(text, { format: 'yaml' }).diagnostics).toEqual([])
      expect(parsePlaybook(text, { format: 'yaml' }).playbook?.steps.length).toBeGreaterThan(0)
    },
  )

  test('are some', () => expect(examples.length).toBeGreaterThan(0))
})
