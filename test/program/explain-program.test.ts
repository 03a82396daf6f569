import { describe, expect, it } from 'vitest'
import {
  computed,
  type DraftStep,
  holds,
  judged,
  playbookCall,
  procedure,
  program,
  template,
  toolCall,
  variable,
} from './build-program.ts'
import type { Procedure, Step } from '../../src/playbook/program.ts'
import { explainProgram } from '../../src/playbook/explain/explain-program.ts'

const say: DraftStep = { kind: 'say', words: { kind: 'written', instruction: 'Cheer them up', reads: [] } }
const ask: DraftStep = { kind: 'ask', words: null, targets: [variable('name')], until: null, maxTurns: 3 }
const listen: DraftStep = { kind: 'wait', for: { kind: 'message' } }

function asking(words: string, type: 'bool' | 'list'): DraftStep {
  return {
    ...ask,
    words: { kind: 'literal', value: template(words) },
    targets: [variable('x', type)],
  } as DraftStep
}

function callOf(id: string): DraftStep {
  return { kind: 'call', value: computed('call_1', [playbookCall(id)]), target: null }
}

function explain(...playbooks: Procedure[]) {
  return explainProgram(program(playbooks))
}

function boundOf(steps: readonly DraftStep[]) {
  return explain(procedure('Main', steps)).modelCalls
}

function sentences(steps: readonly DraftStep[]): readonly string[] {
  return explain(procedure('Main', steps)).playbooks[0]!.steps.map(({ sentence }) => sentence)
}

describe('the readback', () => {
  it('says what was understood in plain words', () => {
    expect(
      sentences([
        { kind: 'set', target: variable('order_total'), value: computed('$price * ($quantity + 1)') },
        {
          kind: 'call',
          value: computed('call_1', [toolCall('lookup_order', { order_id: '$orderId' })]),
          target: variable('order'),
        },
        { kind: 'say', words: { kind: 'literal', value: template('Hello, {name}!') } },
        ask,
        {
          kind: 'if',
          arms: [{ condition: holds('$order.total > 500 and not $paid'), steps: [{ kind: 'end' }] }],
        },
        { kind: 'wait', for: { kind: 'time', seconds: 300 } },
        { kind: 'return', value: computed('len($items)') },
      ]),
    ).toEqual([
      'Set the order total to the price times (the quantity plus 1).',
      'Call lookup_order with order_id = the order id, and keep the answer as the order.',
      'Say "Hello, {name}!"',
      'Ask for the name.',
      "If the order's total is over 500 and paid does not hold:",
      'Wait 5 minutes.',
      'Return the number of items.',
    ])
  })

  it('reads back what the parser writes for plain words in plain words', () => {
    const decide = (source: string): DraftStep => ({
      kind: 'if',
      arms: [{ condition: holds(source), steps: [] }],
    })
    const add = '$sum + [$a] if str([$sum])[:2] == "[[" else $sum + $a'
    const question: DraftStep = {
      kind: 'ask',
      words: { kind: 'written', instruction: 'Ask for $email until it is valid, up to 3 times', reads: [] },
      targets: [variable('email')],
      until: judged('it is valid'),
      maxTurns: 3,
    }
    expect(
      sentences([
        decide('default($name, null) in [null, "", [], {}]'),
        decide('default($name, null) not in [null, "", [], {}]'),
        decide('has($name)'),
        decide('not has($name)'),
        { kind: 'set', target: variable('sum'), value: computed(add) },
        question,
      ]),
    ).toEqual([
      'If the name is empty:',
      'If the name is not empty:',
      'If the name is set:',
      'If the name is not set:',
      'Set the sum to the sum plus a, or with it as a further item where that is a list.',
      'Ask for $email until it is valid, up to 3 times.',
    ])
  })

  it.each([
    ['false', 'refund is always refused'],
    ['not ($total > 3)', 'refund is refused if the total is over 3'],
    ['$total > 3', 'refund is refused unless the total is over 3'],
  ])('reads a note that demands %s back', (source, rule) => {
    const require = { kind: 'holds', condition: holds(source) } as const
    const note = { text: 'x', line: 1, rule: { before: { kind: 'tool', name: 'refund' }, require } } as const
    expect(explain(procedure('Main', [], { notes: [note] })).playbooks[0]!.notes[0]!.rule).toBe(rule)
  })

  it('says how often a loop over a list or a count runs, as it was written', () => {
    const each = (name: string, over: string, maxTurns = 10_000): DraftStep => ({
      kind: 'each',
      item: variable(name),
      over: computed(over),
      maxTurns,
      steps: [say],
    })
    expect(
      sentences([
        each('turn', 'range(1, 3 + 1)'),
        each('turn', 'range(1, 1 + 1)'),
        each('turn', 'range(1, $count + 1)'),
        each('i', 'range($low, len([1, 2]) + 1)'),
        each('item', '$items', 5),
        each('item', '$items'),
        each('i', 'range(1, 2, 3 + 1)'),
      ]),
    ).toEqual([
      'Repeat 3 times:',
      'Repeat 1 time:',
      'Repeat the count times:',
      'For each i from the low to the number of [1, 2]:',
      'For each item in the items, at most 5 times:',
      'For each item in the items:',
      'For each i in range(1, 2, 3 + 1):',
    ])
  })

  it('keeps an expression as written where there are no plain words for it, and one that is none', () => {
    const value = (source: string): DraftStep => ({ kind: 'return', value: computed(source) })
    expect(sentences([value('1 < $x < 3'), value('[x for x in $y if x]'), value('$$$ (')])).toEqual([
      'Return 1 < $x < 3.',
      'Return [x for x in $y if x].',
      'Return $$$ (.',
    ])
  })

  it.each<[DraftStep, Step['kind'], string, string]>([
    [{ kind: 'set', target: variable('a'), value: computed('1') }, 'set', 'guaranteed', 'never'],
    [callOf('Main'), 'call', 'guaranteed', 'never'],
    [say, 'say', 'left to the model', 'always'],
    [{ kind: 'say', words: { kind: 'literal', value: template('Hi') } }, 'say', 'guaranteed', 'never'],
    [ask, 'ask', 'asks a person', 'sometimes'],
    [{ ...ask, targets: [] } as DraftStep, 'ask', 'asks a person', 'never'],
    [{ ...ask, until: judged('it is polite') } as DraftStep, 'ask', 'asks a person', 'always'],
    [asking('Happy?', 'bool'), 'ask', 'asks a person', 'sometimes'],
    [asking('Are you not happy?', 'bool'), 'ask', 'asks a person', 'always'],
    [asking('Which ones?', 'list'), 'ask', 'asks a person', 'always'],
    [listen, 'wait', 'asks a person', 'never'],
    [{ kind: 'extract', targets: [], instruction: 'x', from: [] }, 'extract', 'left to the model', 'always'],
    [{ kind: 'answer', instruction: 'x', reads: [] }, 'answer', 'left to the model', 'always'],
    [
      { kind: 'if', arms: [{ condition: judged('it rains'), steps: [] }] },
      'if',
      'left to the model',
      'always',
    ],
    [{ kind: 'if', arms: [{ condition: holds('$x'), steps: [] }] }, 'if', 'guaranteed', 'never'],
    [{ kind: 'end' }, 'end', 'guaranteed', 'never'],
  ])('marks %j', (step, _kind, mark, needsModel) => {
    expect(explain(procedure('Main', [step])).playbooks[0]!.steps[0]).toMatchObject({ mark, needsModel })
  })

  it('counts every bullet once, and what stands on one line as one', () => {
    const arm = { condition: holds('$x'), steps: [say, { kind: 'end' } as DraftStep] }
    expect(explain(procedure('Main', [{ kind: 'if', arms: [arm] }])).steps).toEqual({
      total: 3,
      withoutModel: 2,
    })
    const inline = { kind: 'if', arms: [{ ...arm, inline: true }] } as const
    expect(explain(procedure('Main', [inline])).steps).toEqual({ total: 1, withoutModel: 0 })
  })

  it('lists what a description calls as the first step, with its tools, whatever the playbook is', () => {
    const description = { ...template('About {call_1}'), calls: [toolCall('refund', { order_id: '$order' })] }
    const first = {
      id: 'Main/0',
      number: '0',
      sentence: 'Fill in the description with refund(order_id = the order).',
      mark: 'guaranteed',
      tools: ['refund'],
    }
    const steps = explain(procedure('Main', [{ kind: 'end' }], { description }))
    expect(steps.playbooks[0]!.steps).toMatchObject([first, { id: 'Main/1' }])
    expect(steps.steps).toEqual({ total: 2, withoutModel: 2 })
    const raw = explain(procedure('Main', [], { description, mode: 'raw' }))
    expect(raw.playbooks[0]!.steps).toMatchObject([first, { mark: 'left to the model' }])
  })

  it('lists only the tools that a model is offered, where it is known what they do', () => {
    const act = (reach: 'named' | 'reads only'): DraftStep => ({
      kind: 'act',
      instruction: 'See to it',
      targets: [],
      reads: [],
      tools: ['refund', 'add_note', 'lookup'],
      reach,
      maxCalls: 3,
    })
    const risks = new Map([
      ['refund', 'irreversible'],
      ['add_note', 'write'],
      ['lookup', 'read'],
    ] as const)
    const main = program([procedure('Main', [act('reads only'), act('named')])])
    expect(explainProgram(main, risks).playbooks[0]!.steps).toMatchObject([
      { tools: ['lookup'], reach: 'named' },
      { tools: ['add_note', 'lookup'], reach: 'named' },
    ])
    expect(explainProgram(main).playbooks[0]!.steps[0]).toMatchObject({
      tools: ['refund', 'add_note', 'lookup'],
      reach: 'reads only',
    })
  })

  it('tells a rule from advice', () => {
    const tool = (name: string) => ({ kind: 'tool', name }) as const
    const notes = [
      { text: 'Be kind', line: 1, rule: null },
      {
        text: 'Always look up first',
        line: 2,
        rule: { before: tool('refund'), require: { kind: 'succeeded', call: tool('lookup') } },
      },
    ] as const
    expect(explain(procedure('Main', [], { notes })).playbooks[0]!.notes).toMatchObject([
      { kind: 'advice', rule: null },
      { kind: 'enforced', rule: 'refund is refused unless lookup has succeeded' },
    ])
  })
})

describe('the most model calls', () => {
  it('are none where nothing asks a model', () => {
    expect(boundOf([{ kind: 'set', target: variable('a'), value: computed('1') }, { kind: 'end' }])).toEqual({
      most: 0,
      because: [],
      limit: null,
      besides: [],
    })
  })

  it('take the dearest branch, and every condition on the way to it', () => {
    const arms = [
      { condition: judged('a'), steps: [say] },
      { condition: judged('b'), steps: [say, say, say] },
      { condition: null, steps: [] },
    ]
    expect(boundOf([{ kind: 'if', arms }]).most).toBe(5)
  })

  it('count loops by their bounds, and the judgement that ends one', () => {
    const loop = {
      kind: 'loop',
      form: 'while',
      maxTurns: 4,
      condition: judged('it rains'),
      steps: [say],
    } as const
    expect(boundOf([loop as never]).most).toBe(9)
    const each = {
      kind: 'each',
      item: variable('x'),
      over: computed('$xs'),
      maxTurns: 10,
      steps: [say, say],
    } as const
    expect(boundOf([each as never]).most).toBe(20)
  })

  it('tell a list of any length by the item', () => {
    const each = {
      kind: 'each',
      item: variable('x'),
      over: computed('$xs'),
      maxTurns: 10_000,
      steps: [say, say],
    } as const
    expect(boundOf([each as never, say])).toMatchObject({
      most: 1,
      besides: [{ each: 'item of Main/1', most: 2 }],
    })
  })

  it('tell rounds in which a person speaks besides, also when they speak in a playbook that is run', () => {
    const loop = (steps: DraftStep[]) =>
      ({ kind: 'loop', form: 'while', maxTurns: 4, condition: judged('it goes on'), steps }) as never
    expect(boundOf([loop([listen, say])])).toEqual({
      most: 1,
      because: [],
      limit: null,
      besides: [{ each: 'round of Main/1 in which a person speaks', most: 2 }],
    })
    const through = explain(procedure('Main', [loop([callOf('Other')])]), procedure('Other', [listen]))
    expect(through.modelCalls).toMatchObject({ most: 5, besides: [{ most: 1 }] })
  })

  it('count an answer for every turn of a question, with what it may set off, and a match for every other message', () => {
    expect(boundOf([ask]).most).toBe(3)
    const other = procedure('Other', [say], { triggers: [{ kind: 'message', text: 'When asked', line: 1 }] })
    expect(explain(procedure('Main', [ask, listen]), other).modelCalls).toEqual({
      most: 4,
      because: [],
      limit: null,
      besides: [
        { each: 'time "When asked" starts Other', most: 1 },
        { each: 'message that comes while no playbook runs', most: 1 },
      ],
    })
  })

  it('follow calls, and triggers around calls', () => {
    const after = {
      kind: 'after',
      text: 'After calling B',
      line: 1,
      call: { kind: 'playbook', id: 'B' },
    } as const
    const all = [
      procedure('A', [callOf('B'), callOf('B')]),
      procedure('B', [say]),
      procedure('C', [say, say], { triggers: [after] }),
    ]
    expect(explain(...all).modelCalls.most).toBe(6)
  })

  it('have no bound through recursion, unless nothing in the circle asks a model', () => {
    const circle = (step: DraftStep) =>
      explain(procedure('A', [callOf('B')]), procedure('B', [step, callOf('A')]))
    expect(circle(say).modelCalls).toMatchObject({ most: null, because: ['recursion through A, B'] })
    expect(circle({ kind: 'end' }).modelCalls.most).toBe(0)
  })

  it('count a long chain of playbooks without running out of stack', () => {
    const chain = Array.from({ length: 20_000 }, (_, at) => procedure(`P${at}`, [callOf(`P${at + 1}`)]))
    expect(explain(...chain, procedure('P20000', [say])).modelCalls.most).toBe(1)
  })

  it('are unknown where loops multiply beyond counting', () => {
    let step: DraftStep = say
    for (let depth = 0; depth < 12; depth++)
      step = {
        kind: 'each',
        item: variable('x'),
        over: computed('$xs'),
        maxTurns: 999,
        steps: [step],
      } as never
    expect(boundOf([step])).toMatchObject({ most: null, because: ['the loops multiply beyond counting'] })
  })
})
