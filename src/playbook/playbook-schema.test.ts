import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePlaybook } from './parse-playbook.ts'
import { playbookJsonSchema } from './playbook-json-schema.ts'

const page = readFileSync(new URL('../../docs/reference/playbook.md', import.meta.url), 'utf8')

type Shape = {
  properties?: Record<string, Shape>
  items?: Shape
  $defs?: Record<string, Shape>
  additionalProperties?: Shape | boolean
  anyOf?: Shape[]
  default?: unknown
}

/** The keys of a schema that are its own, by the section of the page that explains them. */
function keysBySection(): [section: string, keys: string[]][] {
  const root = JSON.parse(JSON.stringify(playbookJsonSchema())) as Shape
  const step = root.$defs!['step']!
  const inner = (shape: Shape | undefined) => Object.keys(shape?.properties ?? {})
  const input = (root.properties!['inputs']!.additionalProperties as Shape).anyOf!.find(
    (each) => each.properties,
  )
  return [
    ['## The playbook', inner(root)],
    // The shorter spelling has a page of its own.
    ['## A step', inner(step).filter((key) => !['name', 'args', 'type'].includes(key))],
    ['### Validation', inner(step.properties!['validation'])],
    ['### Arguments', inner(step.properties!['arguments']!.additionalProperties as Shape)],
    ['## Inputs', inner(input)],
    ['## Rules', inner(root.properties!['rules']!.items)],
  ]
}

function section(title: string): string {
  const start = page.indexOf(`\n${title}\n`)
  expect(start).toBeGreaterThan(-1)
  const end = page.slice(start + 2).search(/\n##+ /)
  return end === -1 ? page.slice(start) : page.slice(start, start + 2 + end)
}

describe('docs/reference/playbook.md', () => {
  it.each(keysBySection())('%s has a row for every key of the schema and for no other', (title, keys) => {
    const rows = [...section(title).matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1])
    expect(keys.length).toBeGreaterThan(2)
    expect(rows.toSorted()).toEqual(keys.toSorted())
  })

  it('shows the default of every key that has a simple one', () => {
    const root = JSON.parse(JSON.stringify(playbookJsonSchema())) as Shape
    for (const [title, shape] of [
      ['## The playbook', root],
      ['## A step', root.$defs!['step']!],
    ] as const) {
      for (const [key, { default: value }] of Object.entries(shape.properties!)) {
        if (value === undefined) continue
        const row = section(title)
          .split('\n')
          .find((line) => line.startsWith(`| \`${key}\``))
        const shown = row?.split('|').at(-2)?.trim() ?? ''
        const quoted = typeof value !== 'string' || value === '' || key === 'version'
        expect(`${key}: ${shown}`.startsWith(`${key}: \`${quoted ? JSON.stringify(value) : value}\``)).toBe(
          true,
        )
      }
    }
  })

  const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!)

  it.each(examples.map((text, index) => [index + 1, text] as const))(
    'example %i loads without a warning',
    (_, text) => {
      expect(parsePlaybook(text, { format: 'yaml' }).diagnostics).toEqual([])
    },
  )
})
