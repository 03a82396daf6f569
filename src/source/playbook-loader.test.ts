import {
  anything,
  assert,
  constantFrom,
  dictionary,
  jsonValue,
  letrec,
  oneof,
  property,
  string,
} from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PlaybookLoadError } from '../playbook/playbook-load-error.ts'
import { PlaybookStep } from '../playbook/playbook-step.ts'
import { Playbook } from '../playbook/playbook.ts'
import { loadPlaybook } from './load-playbook.ts'
import { tool } from '../tool/tool.ts'
import { type LoadOptions, PlaybookLoader } from './playbook-loader.ts'

/** Lets PlaybookLoadError pass and nothing else. */
function onlyLoadErrors(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof PlaybookLoadError)) throw error
    expect(error.errors.length).toBeGreaterThan(0)
  }
}

describe('whatever comes in', () => {
  const keys = constantFrom(
    ...'id name description version steps strict_sequence allow_extra_tools metadata inputs rules expected_tools hints validation when after any all complete_when arguments schema require tool type default enum input args parallel foreach concurrency verify expect compensate retry attempts required_roles requires_approval on_failure __proto__ constructor'.split(
      ' ',
    ),
  )
  const words = oneof(
    constantFrom(
      'a',
      'b',
      '*',
      'all',
      'string',
      'inputs.x == 1',
      'succeeded("a")',
      '{inputs.x}',
      '{steps.a.output}',
      '{',
      '',
    ),
    string(),
  )
  const { value } = letrec((tie) => ({
    value: oneof({ depthSize: 'small' }, words, jsonValue({ maxDepth: 1 }), tie('list'), tie('map')),
    list: jsonValue({ maxDepth: 0 }).chain((first) => tie('value').map((second) => [first, second])),
    map: dictionary(keys, tie('value'), { maxKeys: 6 }),
  }))

  it('an object gives a playbook or PlaybookLoadError', () => {
    assert(
      property(value, (data) => onlyLoadErrors(() => loadPlaybook(data as object))),
      { numRuns: 500 },
    )
    assert(
      property(value, (data) => onlyLoadErrors(() => new Playbook(data as never))),
      { numRuns: 300 },
    )
    assert(
      property(value, (data) =>
        onlyLoadErrors(() => new Playbook({ id: 'a', name: 'A', steps: [data as never] })),
      ),
      { numRuns: 300 },
    )
    assert(
      property(value, (data) => onlyLoadErrors(() => new PlaybookStep(data as never))),
      { numRuns: 300 },
    )
    assert(
      property(
        anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSparseArray: true,
          withNullPrototype: true,
        }),
        (data) => onlyLoadErrors(() => new PlaybookLoader().loadDict(data)),
      ),
      { numRuns: 500 },
    )
  })

  it('steps side by side give a playbook or PlaybookLoadError', () => {
    const loader = new PlaybookLoader({ tools: [{ name: 'a', risk: 'read', input: { required: ['b'] } }] })
    assert(
      property(value, (data) => {
        const call = { name: 'a', tool: 'a', input: data }
        onlyLoadErrors(() => loader.loadDict({ name: 'A', steps: [{ parallel: data }, call] }))
        onlyLoadErrors(() =>
          loader.loadDict({ name: 'A', steps: [call, { ...call, compensate: data, verify: data }] }),
        )
      }),
      { numRuns: 500 },
    )
  })

  it('an object that throws when looked at gives PlaybookLoadError', () => {
    for (const trap of ['getPrototypeOf', 'ownKeys', 'get', 'getOwnPropertyDescriptor']) {
      const hostile = new Proxy(
        { id: 'a' },
        {
          [trap]: () => {
            throw new Error('no')
          },
        },
      )
      onlyLoadErrors(() => loadPlaybook(hostile))
      onlyLoadErrors(() => new Playbook(hostile as never))
      onlyLoadErrors(() => new PlaybookStep(hostile as never))
      onlyLoadErrors(() => new Playbook({ id: 'a', name: 'A', steps: [hostile as never] }))
    }
    onlyLoadErrors(() => loadPlaybook({ id: 'a', name: 'A', tags: Array(10_000_000) }))
  })

  it('a text gives a playbook or PlaybookLoadError', () => {
    const loader = new PlaybookLoader()
    assert(
      property(
        oneof(
          string({ unit: 'binary' }),
          value.map((data) => JSON.stringify(data) ?? ''),
        ),
        (text) => onlyLoadErrors(() => loader.loadYamlString(text)),
      ),
      { numRuns: 500 },
    )
    assert(
      property(
        oneof(
          string(),
          value.map((data) => JSON.stringify(data) ?? ''),
        ),
        (text) => onlyLoadErrors(() => loader.loadJsonString(text)),
      ),
      { numRuns: 500 },
    )
  })
})

describe('the calls of a playbook', () => {
  const cordon = tool({
    name: 'cordon',
    description: 'Cordons a node.',
    risk: 'write',
    input: { type: 'object', properties: { node: { type: 'string' } }, required: ['node'] },
    execute: () => null,
  })

  it('must fit the tools that there are', () => {
    const problems = (step: object, tools: LoadOptions['tools'] = [cordon]) => {
      try {
        loadPlaybook({ name: 'r', steps: [{ name: 'a', tool: 'cordon', ...step }] }, { tools })
        return []
      } catch (error) {
        return (error as PlaybookLoadError).diagnostics.map(({ code }) => code)
      }
    }
    expect(problems({ input: { node: 'n' } })).toEqual([])
    expect(problems({})).toEqual(['wrong_arguments'])
    expect(problems({ input: { node: 1 } })).toEqual(['wrong_arguments'])
    expect(problems({ tool: 'drain' })).toEqual(['unknown_tool'])
    expect(
      problems({ input: { node: 'n' }, verify: { tool: 'cordon', input: { node: 'n' }, expect: 'true' } }),
    ).toEqual(['not_read_only'])
    // Of a name nothing is known, so nothing is said.
    expect(problems({}, ['cordon'])).toEqual([])
  })
})
