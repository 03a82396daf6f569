import { describe, expect, it } from 'vitest'
import { loadPlaybook } from '../source/load-playbook.ts'
import { compilePlaybook } from './compile-playbook.ts'
import { PlaybookLoadError } from './playbook-load-error.ts'
import { PlaybookStep, type PlaybookStepDefinition } from './playbook-step.ts'
import { Playbook, type PlaybookDefinition } from './playbook.ts'

/** What a step that is no call has of what calls have. */
const noCall = {
  tool: null,
  input: {},
  requiresApproval: false,
  requiredRoles: [],
  compensate: null,
  retry: { attempts: 1, delaySeconds: 1, backoff: 2, maxDelaySeconds: 300 },
  verify: null,
  foreach: null,
  concurrency: 1,
}

const fullStep = {
  id: 'pay',
  description: 'Pay it back.',
  expectedTools: ['refund', 'notify'],
  hints: ['Use the amount of the order.'],
  required: false,
  validation: {
    minToolCalls: 1,
    requiredResultKeywords: ['paid'],
    resultSchema: { type: 'object' },
    expression: 'calls > 0',
  },
  maxToolCalls: 3,
  timeoutSeconds: 1.5,
  metadata: { owner: { team: 'billing' } },
  when: 'inputs.amount > 0',
  after: { any: ['verify', { all: ['verify', 'check'] }] },
  completeWhen: 2,
  onLimit: 'escalate',
  arguments: {
    refund: {
      schema: { type: 'object' },
      require: 'args.amount == inputs.amount',
      message: 'the whole amount',
    },
  },
  disclosure: 'step',
} as const satisfies PlaybookStepDefinition

const fullCall = {
  id: 'cordon',
  tool: 'cordon_node',
  input: { node: '{item}', by_hand: [true, { '{{': null }] },
  requiresApproval: true,
  requiredRoles: ['OnCall', 'SRE'],
  compensate: { tool: 'uncordon_node', input: { node: '{output.node}' } },
  retry: { attempts: 4, delaySeconds: 0.25, backoff: 1, maxDelaySeconds: 60 },
  verify: {
    tool: 'get_node',
    input: { node: '{item}' },
    expect: 'result.cordoned',
    retry: { attempts: 9, delaySeconds: 0 },
  },
  foreach: '{inputs.nodes}',
  concurrency: 3,
  timeoutSeconds: 30,
  when: 'len(inputs.nodes) > 0',
  required: false,
} as const satisfies PlaybookStepDefinition

const full = {
  id: 'refund',
  name: 'Refund',
  description: 'Pay customers back.',
  version: '2.1.0',
  steps: [
    { id: 'verify', description: 'Look.', expectedTools: ['lookup'] },
    { id: 'check', description: 'Check.' },
    fullStep,
  ],
  strictSequence: false,
  allowExtraTools: true,
  maxExtraCalls: 4,
  maxIterations: 20,
  metadata: { cost_centre: 7 },
  tags: ['money'],
  inputs: {
    amount: 'number',
    currency: { type: 'string', default: 'EUR', enum: ['EUR', 'USD'], description: 'ISO code' },
  },
  rules: [
    { tool: 'ref*', require: 'succeeded("lookup")', message: 'look first' },
    { tool: '*', require: 'true' },
  ],
  disclosure: 'step',
  onFailure: 'stop',
  onCancel: 'compensate',
} as const satisfies PlaybookDefinition

/** A step with several mistakes. */
function createBad(): PlaybookStep {
  return new PlaybookStep({
    id: '',
    description: 3,
    expectedTool: [],
    max_tool_calls: 1,
    maxToolCalls: -1,
  } as never)
}

/** The JSON of a playbook whose second step has the given order. */
function text(after: unknown): string {
  const steps = [
    { id: 's', description: '' },
    { id: 't', description: '', after: after as never, hints: [] },
  ]
  return JSON.stringify(new Playbook({ id: 'a', name: 'A', steps }))
}

describe('PlaybookStep', () => {
  it('needs only an id and a description; the rest has defaults', () => {
    expect({ ...new PlaybookStep({ id: 'a', description: 'b' }) }).toEqual({
      id: 'a',
      description: 'b',
      ...noCall,
      expectedTools: [],
      hints: [],
      required: true,
      validation: {},
      maxToolCalls: null,
      timeoutSeconds: null,
      metadata: {},
      when: null,
      after: null,
      completeWhen: null,
      onLimit: 'fail',
      arguments: {},
      disclosure: null,
    })
  })

  it('keeps every field it is given', () => {
    expect({ ...new PlaybookStep(fullStep) }).toEqual({
      ...noCall,
      ...fullStep,
      after: {
        kind: 'any',
        of: [
          { kind: 'step', id: 'verify' },
          {
            kind: 'all',
            of: [
              { kind: 'step', id: 'verify' },
              { kind: 'step', id: 'check' },
            ],
          },
        ],
      },
    })
  })

  it('cannot be changed, however deep', () => {
    const step = new PlaybookStep(fullStep) as never as Record<string, Record<string, unknown>>
    expect(() => Object.assign(step, { id: 'other' })).toThrow(TypeError)
    expect(() => Object.assign(step['metadata']!['owner'] as object, { team: 'x' })).toThrow(TypeError)
    expect(() => (step['expectedTools'] as never as string[]).push('x')).toThrow(TypeError)
    expect(() => Object.assign(step['validation']!, { minToolCalls: 0 })).toThrow(TypeError)
  })

  it('does not freeze or keep what it was given', () => {
    const given = { id: 'a', description: 'b', metadata: { list: [1] } }
    const step = new PlaybookStep(given)
    given.metadata.list.push(2)
    expect(step.metadata).toEqual({ list: [1] })
  })

  it.each([
    ['all', 'all'],
    ['any', 'any'],
    ['declared', 'declared'],
    [1, 1],
    ['calls > 3', { expression: 'calls > 3' }],
  ])('reads completeWhen %j as %j', (given, read) => {
    expect(
      new PlaybookStep({ id: 'a', description: '', expectedTools: ['x'], completeWhen: given }).completeWhen,
    ).toEqual(read)
  })

  it.each([
    ['a', { kind: 'step', id: 'a' }],
    [['a'], { kind: 'step', id: 'a' }],
    [
      ['a', 'b'],
      {
        kind: 'all',
        of: [
          { kind: 'step', id: 'a' },
          { kind: 'step', id: 'b' },
        ],
      },
    ],
    [
      { any: ['a', ['b', 'c']] },
      {
        kind: 'any',
        of: [
          { kind: 'step', id: 'a' },
          {
            kind: 'all',
            of: [
              { kind: 'step', id: 'b' },
              { kind: 'step', id: 'c' },
            ],
          },
        ],
      },
    ],
  ])('reads after %j in one form', (given, read) => {
    expect(new PlaybookStep({ id: 'x', description: '', after: given }).after).toEqual(read)
  })

  it('can be copied with changes', () => {
    const step = new PlaybookStep({ id: 'x', description: '', after: ['a', 'b'], completeWhen: 'calls > 1' })
    const copy = new PlaybookStep({ ...step, hints: ['new'] })
    expect(copy).toEqual({ ...step, hints: ['new'] })
  })

  it('throws every problem at once, in the spelling of code', () => {
    expect(createBad).toThrow(PlaybookLoadError)
    try {
      createBad()
    } catch (error) {
      expect(
        (error as PlaybookLoadError).diagnostics.map(({ code, path, suggestion }) => [
          code,
          path.at(-1),
          suggestion,
        ]),
      ).toEqual([
        ['unknown_key', 'expectedTool', 'did you mean `expectedTools`?'],
        ['unknown_key', 'maxToolCalls', 'did you mean `maxToolCalls`?'],
        ['invalid_name', 'id', 'it is empty'],
        ['wrong_type', 'description', 'write it in quotes: "3"'],
        ['out_of_range', 'maxToolCalls', null],
      ])
    }
  })
})

describe('Playbook', () => {
  it('needs only an id and a name; the rest has defaults', () => {
    expect({ ...new Playbook({ id: 'a', name: 'A' }) }).toEqual({
      id: 'a',
      name: 'A',
      description: '',
      version: '1.0.0',
      steps: [],
      strictSequence: true,
      allowExtraTools: false,
      maxExtraCalls: null,
      maxIterations: null,
      metadata: {},
      tags: [],
      inputs: {},
      secrets: {},
      rules: [],
      disclosure: 'outline',
      onFailure: null,
      onCancel: 'stop',
    })
  })

  it('keeps every field it is given', () => {
    const playbook = new Playbook(full)
    expect({ ...playbook, steps: [] }).toEqual({
      ...full,
      secrets: {},
      steps: [],
      inputs: {
        amount: { type: 'number', required: true },
        currency: {
          type: 'string',
          required: false,
          default: 'EUR',
          enum: ['EUR', 'USD'],
          description: 'ISO code',
        },
      },
      rules: [full.rules[0], { ...full.rules[1], message: null }],
    })
    expect(playbook.steps[2]).toEqual(new PlaybookStep(fullStep))
  })

  it('cannot be changed', () => {
    const playbook = new Playbook(full)
    expect(() => Object.assign(playbook, { name: 'x' })).toThrow(TypeError)
    expect(() => (playbook.steps as PlaybookStep[]).pop()).toThrow(TypeError)
    expect(() => Object.assign(playbook.inputs['amount']!, { type: 'string' })).toThrow(TypeError)
    expect(() => Object.assign(playbook.rules[0]!, { require: 'true' })).toThrow(TypeError)
  })

  it('finds steps and their positions by id; an unknown id gives null', () => {
    const playbook = new Playbook(full)
    expect(playbook.getStep('check')).toBe(playbook.steps[1])
    expect(playbook.getStepIndex('pay')).toBe(2)
    for (const id of ['nope', 'constructor', '__proto__', '']) {
      expect(playbook.getStep(id)).toBeNull()
      expect(playbook.getStepIndex(id)).toBeNull()
    }
  })

  it('follows the order written unless a step says after', () => {
    const step = { id: 'a', description: '' }
    const later = { id: 'b', description: '', after: 'a' }
    expect(new Playbook({ id: 'x', name: 'X', steps: [step] }).strictSequence).toBe(true)
    expect(new Playbook({ id: 'x', name: 'X', steps: [step, later] }).strictSequence).toBe(false)
    expect(() => new Playbook({ id: 'x', name: 'X', steps: [step, later], strictSequence: true })).toThrow(
      /strictSequence/,
    )
  })

  it('comes back equal from its own JSON', () => {
    for (const definition of [
      full,
      { id: 'a', name: 'A' },
      { id: 'a', name: 'A', strictSequence: false, steps: [{ id: 's', description: '' }] },
      { id: 'a', name: 'A', inputs: { nodes: 'array' as const }, steps: [fullCall] },
      { id: 'a', name: 'A', steps: [{ id: 's', tool: 't', compensate: { tool: 'u' } }] },
    ]) {
      const playbook = new Playbook(definition)
      const written = JSON.stringify(playbook)
      expect(loadPlaybook(written)).toEqual(playbook)
      expect(JSON.stringify(loadPlaybook(playbook.toJSON()))).toBe(written)
      expect(new Playbook({ ...playbook })).toEqual(playbook)
    }
  })

  it('has the digest it had in earlier versions, so that their runs go on', () => {
    const { onFailure: _failure, onCancel: _cancel, ...written } = full
    const digests = [written, { id: 'a', name: 'A' }].map(
      (definition) => compilePlaybook(new Playbook(definition)).digest,
    )
    expect(digests).toEqual([
      'sha256:0930893c2522a8400f2bf45fa105328f1c8d067b043df5d73e22bbc7e0d6e184',
      'sha256:5daecbaa43fbfcfa969a85481490097098df5783c1c1b2ad9919057a5ccb99ae',
    ])
  })

  it('says the same in JSON whatever the spelling of the same meaning', () => {
    expect(text(['s'])).toBe(text('s'))
    expect(text({ all: ['s'] })).toBe(text({ any: ['s'] }))
  })

  it('is safe with names that every object inherits', () => {
    const playbook = loadPlaybook(
      '{"id":"a","name":"A","metadata":{"__proto__":{"x":1},"constructor":2},"steps":[{"id":"s","description":"","expected_tools":["toString"],"arguments":{"toString":{"require":"true"}}}]}',
    )
    expect(Object.entries(playbook.metadata)).toEqual([
      ['__proto__', { x: 1 }],
      ['constructor', 2],
    ])
    expect((playbook.metadata as { x?: number }).x).toBeUndefined()
    expect(playbook.steps[0]!.arguments['valueOf']).toBeUndefined()
    expect(playbook.steps[0]!.arguments['toString']).toEqual({ require: 'true' })
    expect(playbook.inputs['constructor']).toBeUndefined()
  })

  it('refuses what JSON cannot hold, and values that throw when read, with a place', () => {
    const trap = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
    const cycle: Record<string, unknown> = {}
    cycle['me'] = cycle
    for (const metadata of [
      { a: Number.NaN },
      { a: 1n },
      { a: () => 1 },
      { a: new Date(0) },
      { a: '\ud800' },
      cycle,
      { a: trap },
      { a: Array(2) },
    ]) {
      expect(() => new Playbook({ id: 'a', name: 'A', metadata: metadata as never })).toThrow(
        PlaybookLoadError,
      )
    }
  })
})
