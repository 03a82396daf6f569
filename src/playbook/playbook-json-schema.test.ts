import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileJsonSchema } from '../shared/json-schema.ts'
import { playbookJsonSchema, playbookSchemaFile } from './playbook-json-schema.ts'
import { Playbook } from './playbook.ts'

describe('the JSON Schema of playbook files', () => {
  const schema = playbookJsonSchema()

  it('is the one in the package: run `node scripts/write-playbook-schema.ts` after a change', () => {
    const written = readFileSync(new URL(`../../${playbookSchemaFile}`, import.meta.url), 'utf8')
    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(schema)))
  })

  it('accepts a playbook and refuses what the parser refuses', () => {
    const { check } = compileJsonSchema(schema)
    const playbook = new Playbook({
      id: 'a',
      name: 'A',
      inputs: { x: 'string', y: { type: 'number', default: 1 } },
      steps: [
        { id: 's', description: '', expectedTools: ['x', '*'], validation: { resultSchema: true } },
        { id: 't', description: '', after: { any: ['s', ['s']] }, completeWhen: 'calls > 0' },
      ],
      rules: [{ tool: 'x*', require: 'true' }],
    })
    expect(check(playbook.toJSON())).toEqual([])
    expect(check({ id: 'a' })).toEqual(['lacks `name`'])
    expect(check({ id: 'a', name: 'A', stepz: [] })).toEqual(['`stepz` is not allowed'])
    expect(
      check({ id: 'a', name: 'A', steps: [{ id: 's', description: '', max_tool_calls: -1 }] }),
    ).not.toEqual([])
    expect(check({ id: 'a', name: 'A', steps: [{ id: 's', description: '', after: {} }] })).not.toEqual([])
  })

  it('describes every key for editors', () => {
    const { properties } = JSON.parse(JSON.stringify(schema)) as {
      properties: Record<string, { description?: string }>
    }
    expect(Object.entries(properties).filter(([, property]) => (property.description ?? '') === '')).toEqual(
      [],
    )
  })
})
