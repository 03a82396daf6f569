import fc from 'fast-check'
import type { Call, Condition, Program, Target, Trigger, ValueType } from '../../src/playbook/program.ts'
import {
  computed,
  playbookCall,
  procedure,
  program,
  template,
  toolCall,
  type DraftStep,
} from './build-program.ts'

const names = ['a', 'b', 'c'] as const
const playbooks = ['Main', 'One', 'Two'] as const
const tools = ['look', 'pay'] as const

const name = fc.constantFrom(...names)
const type = fc.constantFrom<ValueType>('any', 'any', 'int', 'str')
const target: fc.Arbitrary<Target> = fc.record({ name, type, scope: fc.constantFrom('state', 'local') })

/** Some of them have no value: names that nothing sets, a division by zero, a wrong type. */
const expression = fc.oneof(
  fc.constantFrom('1', '0', '-3', '"x"', 'null', '[1, 2, 3]', '[]', '{"a": 1}', '1 / 0', 'len($a)'),
  fc
    .tuple(name, fc.constantFrom('+ 1', '- 1', '> 1', '== "x"', '/ 2'))
    .map(([left, rest]) => `$${left} ${rest}`),
  name.map((each) => `default($${each}, 1)`),
)

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.constantFrom(...tools), expression).map(([tool, n]) => toolCall(tool, { n })),
  fc.constantFrom(...playbooks.slice(1)).map((id) => playbookCall(id)),
)

const value = fc.oneof(
  { weight: 3, arbitrary: expression.map((source) => computed(source)) },
  { weight: 1, arbitrary: call.map((each) => computed('call_1', [each])) },
)

const condition: fc.Arbitrary<Condition> = fc.oneof(
  value.map((each) => ({ kind: 'computed', value: each }) as const),
  fc.subarray([...names]).map((reads) => ({ kind: 'judged', text: 'it is so', reads }) as const),
)

const words = fc.oneof(
  fc
    .constantFrom('hello', '{$a}', 'so {default($b, 0)}')
    .map((source) => ({ kind: 'literal', value: template(source) }) as const),
  fc.subarray([...names]).map((reads) => ({ kind: 'written', instruction: 'say so', reads }) as const),
)

const leaf: fc.Arbitrary<DraftStep> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), target, value }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('call' as const), target: fc.option(target), value }),
  },
  fc.record({
    kind: fc.constant('extract' as const),
    targets: fc.array(target, { minLength: 1, maxLength: 2 }),
    instruction: fc.constant('read it'),
    from: fc.subarray([...names], { maxLength: 1 }),
  }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('say' as const), words }) },
  fc.record({
    kind: fc.constant('ask' as const),
    words: fc.option(words),
    targets: fc.array(target, { maxLength: 2 }),
    until: fc.option(condition),
    maxTurns: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ kind: fc.constantFrom('break' as const, 'continue' as const, 'end' as const) }),
  fc.record({ kind: fc.constant('return' as const), value: fc.option(value) }),
  fc.constant({ kind: 'answer', instruction: 'answer', reads: [] } as const),
  fc.record({
    kind: fc.constant('wait' as const),
    for: fc.constantFrom({ kind: 'message' } as const, { kind: 'time', seconds: 30 } as const),
  }),
  fc.record({
    kind: fc.constant('act' as const),
    instruction: fc.constant('do it'),
    targets: fc.array(target, { maxLength: 1 }),
    reads: fc.constant([]),
    tools: fc.subarray([...tools]),
    reach: fc.constantFrom('named' as const, 'reads only' as const),
    maxCalls: fc.constant(3),
  }),
)

const { steps } = fc.letrec<{ steps: readonly DraftStep[]; step: DraftStep }>((tie) => ({
  steps: fc.array(tie('step'), { minLength: 0, maxLength: 4, depthIdentifier: 'steps' }),
  step: fc.oneof(
    { depthIdentifier: 'steps', maxDepth: 3 },
    leaf,
    leaf,
    leaf,
    fc.record({
      kind: fc.constant('if' as const),
      arms: fc
        .array(fc.record({ condition, steps: tie('steps') }), { minLength: 1, maxLength: 2 })
        .chain((arms) =>
          tie('steps').map((last) => [
            ...arms,
            ...(last.length > 2 ? [{ condition: null, steps: last }] : []),
          ]),
        ),
    }),
    fc.record({
      kind: fc.constant('loop' as const),
      form: fc.constantFrom('while' as const, 'until' as const),
      condition,
      maxTurns: fc.integer({ min: 1, max: 4 }),
      steps: tie('steps'),
    }),
    fc.record({
      kind: fc.constant('each' as const),
      item: target,
      over: value,
      maxTurns: fc.integer({ min: 1, max: 4 }),
      steps: tie('steps'),
    }),
  ) as fc.Arbitrary<DraftStep>,
}))

const called = fc.oneof(
  fc.constantFrom(...tools).map((each): Call['target'] => ({ kind: 'tool', name: each })),
  fc.constantFrom(...playbooks.slice(1)).map((id): Call['target'] => ({ kind: 'playbook', id })),
)

const trigger: fc.Arbitrary<Trigger> = fc.oneof(
  fc
    .constantFrom('begin' as const, 'end' as const, 'message' as const)
    .map((kind) => ({ kind, text: kind, line: 1 })),
  fc
    .integer({ min: 0, max: 100 })
    .map((seconds) => ({ kind: 'time', seconds, text: 'After', line: 1 }) as const),
  name.map(
    (each) =>
      ({ kind: 'state', value: computed(`$${each} > 0`), reads: [each], text: 'When', line: 1 }) as const,
  ),
  fc
    .tuple(fc.constantFrom('before' as const, 'after' as const, 'fails' as const), called)
    .map(([kind, each]) => ({
      kind,
      call: each,
      text: kind,
      line: 1,
    })),
)

/** Small programs of every kind of bullet and trigger, most of which go wrong somewhere. */
export const randomProgram: fc.Arbitrary<Program> = fc
  .tuple(...playbooks.map(() => fc.tuple(steps, fc.array(trigger, { maxLength: 2 }), fc.boolean())))
  .map((bodies) =>
    program(
      bodies.map(([body, triggers, described], index) =>
        procedure(playbooks[index]!, body, {
          triggers,
          ...(described ? { description: { ...template('about {call_1}'), calls: [toolCall('look')] } } : {}),
        }),
      ),
    ),
  )
