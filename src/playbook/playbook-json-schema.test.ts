import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileJsonSchema } from '../shared/json-schema.ts'
import { parsePlaybook } from './parse-playbook.ts'
import { playbookJsonSchema, playbookSchemaFile } from './playbook-json-schema.ts'
import { Playbook } from './playbook.ts'

type Properties = Readonly<Record<string, { readonly description?: string }>>

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

  it('takes the shorter spelling of runbooks, and nothing that the parser refuses', () => {
    const { check } = compileJsonSchema(schema)
    const call = { name: 'a', tool: 't', args: { x: 1 }, type: 'tool', retry: { attempts: 2 } }
    const runbook = (...steps: readonly unknown[]) => ({ name: 'R', inputs: { x: 'array' }, steps })
    const accepted = [
      runbook(call),
      runbook({ id: 'a', tool: 't', input: {} }),
      runbook(
        { parallel: [call, { name: 'b', tool: 't' }] },
        { name: 'c', tool: 't', foreach: '{inputs.x}' },
      ),
      runbook({ name: 'Find out why', expected_tools: ['t'] }),
    ]
    const refused = [
      runbook({ tool: 't' }),
      runbook({ id: 'a' }),
      runbook({ parallel: [] }),
      runbook({ parallel: [call], when: 'true' }),
      runbook({ parallel: [{ parallel: [call] }] }),
      runbook({ ...call, type: 'llm' }),
      runbook({ ...call, inputs: {} }),
      { steps: [call] },
    ]
    const read = (document: unknown) => parsePlaybook(JSON.stringify(document), { format: 'json' }).playbook
    for (const document of accepted) {
      expect([check(document), read(document) === null]).toEqual([[], false])
    }
    for (const document of refused) {
      expect([document, check(document).length > 0, read(document)]).toEqual([document, true, null])
    }
  })

  it('describes every key for editors', () => {
    const { properties, $defs } = JSON.parse(JSON.stringify(schema)) as {
      properties: Properties
      $defs: { step: { properties: Properties } }
    }
    const undescribed = (keys: Properties) =>
      Object.keys(keys).filter((key) => (keys[key]!.description ?? '') === '')
    expect(undescribed(properties)).toEqual([])
    expect(undescribed($defs.step.properties)).toEqual([])
  })
})
