/** What holds for every runbook: it says the same when it is read back, and no text makes the checks throw. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import { Playbook } from '../../src/playbook/playbook.ts'

const json = fc.jsonValue({ maxDepth: 2 })
const text = fc.constantFrom('plain', '{inputs.node}', 'on {inputs.node}', '{{', '{inputs.nodes}', 'a}} b')
const input = fc.dictionary(
  fc.constantFrom('node', 'x_y', '__proto__', 'constructor'),
  fc.oneof(text, fc.array(text), fc.integer(), fc.constant(null)),
)
const retry = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 100 }),
    delay_seconds: fc.constantFrom(0, 0.5, 86_400),
    backoff: fc.constantFrom(1, 2.5, 10),
    max_delay_seconds: fc.constantFrom(0, 60),
  },
  { requiredKeys: [] },
)
const after = fc.constantFrom('{output}', '{output.id}', '{inputs.node}').map((value) => ({ id: value }))
const call = fc.record(
  {
    tool: fc.constantFrom('k8s.cordon', 'drain'),
    input,
    required_roles: fc.uniqueArray(fc.constantFrom('SRE', 'OnCall', 'Admin')),
    requires_approval: fc.constant(true),
    retry,
    compensate: fc.record({ tool: fc.constant('undo'), input: after }, { requiredKeys: ['tool'] }),
    verify: fc.record(
      { tool: fc.constant('get'), input: after, expect: fc.constant('result.ok == true'), retry },
      { requiredKeys: ['tool', 'expect'] },
    ),
    foreach: fc.constantFrom('{inputs.nodes}', '{[1, 2]}'),
    when: fc.constantFrom('inputs.node == "a"', 'len(inputs.nodes) > 0'),
    timeout_seconds: fc.constantFrom(0.5, 30),
    required: fc.boolean(),
  },
  { requiredKeys: ['tool'] },
)
const element = fc.oneof(
  { weight: 4, arbitrary: call },
  { weight: 1, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }).map((parallel) => ({ parallel })) },
  { weight: 1, arbitrary: fc.constant({ description: 'Look.', expected_tools: ['look'] }) },
)
const runbook = fc
  .record(
    {
      name: fc.constantFrom('r', 'Roll back', 'Zurück!'),
      inputs: fc.constant({ node: 'string', nodes: 'array' }),
      on_failure: fc.constantFrom('compensate', 'stop'),
      on_cancel: fc.constantFrom('compensate', 'stop'),
      steps: fc.array(element, { minLength: 1, maxLength: 5 }),
    },
    { requiredKeys: ['name', 'inputs', 'steps'] },
  )
  .map((value) => {
    let count = 0
    const named = (step: object) => ({ name: `step ${++count}`, ...step })
    const steps = value.steps.map((step) =>
      'parallel' in step ? { parallel: step.parallel.map(named) } : named(step),
    )
    return { ...value, steps }
  })

const read = (value: unknown) => parsePlaybook(JSON.stringify(value), { format: 'json' })

describe('a runbook', () => {
  test('says the same when it is read back, whatever it says', () => {
    fc.assert(
      fc.property(runbook, (value) => {
        const { playbook, diagnostics } = read(value)
        expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
        const again = read(playbook).playbook
        expect(again).toEqual(playbook)
        expect(JSON.stringify(again)).toBe(JSON.stringify(playbook))
        expect(new Playbook({ ...playbook! })).toEqual(playbook)
      }),
    )
  })

  test('never makes the checks throw, whatever stands in the place of a value; each problem has a place', () => {
    const paths = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(runbook, paths, json, (value, path, other) => {
        const document = JSON.parse(JSON.stringify(value)) as never
        replaceAt(document, path, other)
        const { playbook, diagnostics } = read(document)
        expect(playbook === null).toBe(diagnostics.some(({ severity }) => severity === 'error'))
        for (const { line, column } of diagnostics) expect([line, (column ?? 0) > 0]).toEqual([1, true])
      }),
    )
  })
})

/** Puts another value in the place of one somewhere inside. */
function replaceAt(value: Record<string, unknown>, path: readonly number[], other: unknown): void {
  const keys = Object.keys(value)
  const key = keys[path[0]! % keys.length]!
  const inside = value[key]
  if (path.length === 1 || typeof inside !== 'object' || inside === null || Object.keys(inside).length === 0)
    value[key] = other
  else replaceAt(inside as Record<string, unknown>, path.slice(1), other)
}
