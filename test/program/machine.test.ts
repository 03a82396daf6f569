import { describe, expect, test } from 'vitest'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { perform, startRun } from '../../src/run/perform.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import type { Answer, Question } from '../../src/run/program/question.ts'
import {
  computed,
  holds,
  judged,
  playbookCall,
  procedure,
  program,
  template,
  toolCall,
  variable,
} from './build-program.ts'
import { play } from './play-program.ts'

const say = (source: string) =>
  ({ kind: 'say', words: { kind: 'literal', value: template(source) } }) as const
const set = (name: string, source: string) =>
  ({ kind: 'set', target: variable(name), value: computed(source) }) as const
const begin = [{ kind: 'begin', text: 'At the beginning', line: 1 }] as const
const inTurn = (answers: readonly Answer[]) => {
  let next = 0
  return () => answers[next++]
}
const yes: Answer = { kind: 'judge', value: true, reason: '' }

describe('a program', () => {
  test('runs its bullets in order, without any model', () => {
    const played = play(
      program([procedure('Main', [set('a', '2'), set('b', '$a * 21'), say('{$b} it is'), { kind: 'end' }])]),
    )
    expect(played.status).toBe('succeeded')
    expect(played.said).toEqual(['agent: 42 it is'])
    expect(played.asked).toEqual([])
    expect(played.variables).toEqual({ a: 2, b: 42 })
  })

  test('takes the first branch whose condition holds, and only that', () => {
    const branches = (total: string) =>
      play(
        program([
          procedure('Main', [
            set('total', total),
            {
              kind: 'if',
              arms: [
                { condition: holds('$total > 100'), steps: [say('big')] },
                { condition: holds('$total > 10'), steps: [say('middle'), say('sized')] },
                { condition: null, steps: [say('small')] },
              ],
            },
            say('after'),
          ]),
        ]),
      ).said
    expect(branches('500')).toEqual(['agent: big', 'agent: after'])
    expect(branches('50')).toEqual(['agent: middle', 'agent: sized', 'agent: after'])
    expect(branches('5')).toEqual(['agent: small', 'agent: after'])
  })

  test('walks through lists and counts turns', () => {
    const played = play(
      program([
        procedure('Main', [
          set('sum', '0'),
          {
            kind: 'each',
            item: variable('x'),
            over: computed('[1, 2, 3, 4]'),
            maxTurns: 10,
            steps: [
              { kind: 'if', arms: [{ condition: holds('$x == 2'), steps: [{ kind: 'continue' }] }] },
              { kind: 'if', arms: [{ condition: holds('$x == 4'), steps: [{ kind: 'break' }] }] },
              set('sum', '$sum + $x'),
            ],
          },
          { kind: 'return', value: computed('$sum') },
        ]),
      ]),
    )
    expect(played.message).toBe('4')
    expect(played.status).toBe('succeeded')
  })

  test('fails when a loop takes more turns than it may', () => {
    const played = play(
      program([
        procedure('Main', [
          set('n', '0'),
          { kind: 'loop', form: 'while', condition: holds('true'), maxTurns: 3, steps: [set('n', '$n + 1')] },
        ]),
      ]),
    )
    expect([played.status, played.variables]).toEqual(['failed', { n: 3 }])
    expect(played.message).toContain('Main/2: the loop took 3 turns')
  })

  test('calls playbooks, nested and with their own values, and tools through the gate', () => {
    const played = play(
      program([
        procedure('Main', [
          set('r', '50'),
          {
            kind: 'set',
            target: variable('p'),
            value: computed('call_3 * call_2', [
              playbookCall('A', '10'),
              toolCall('rate', { of: 'call_1' }),
              playbookCall('A', 'call_2'),
            ]),
          },
        ]),
        procedure('A', [{ kind: 'return', value: computed('x + 1') }], {
          parameters: [{ name: 'x', type: 'int' }],
        }),
      ]),
      { tools: { rate: ({ of }) => (of as number) * 2 } },
    )
    expect(played.calls).toEqual(['rate({"of":11})'])
    expect(played.variables).toEqual({ r: 50, p: 23 * 22 })
    expect(played.state.tickets.map(({ tool, state }) => [tool, state])).toEqual([
      ['A', 'succeeded'],
      ['rate', 'succeeded'],
      ['A', 'succeeded'],
    ])
  })

  test('bounds recursion and says where it was', () => {
    const played = play(
      program([
        procedure('Main', [
          { kind: 'call', target: null, value: computed('call_1', [playbookCall('Main')]) },
        ]),
      ]),
    )
    expect(played.status).toBe('failed')
    expect(played.message).toContain('more than 64 deep: … Main → Main → Main → Main → Main')
    expect(played.state.openTickets.size).toBe(0)
  })

  test('recursion keeps each call’s own values', () => {
    const played = play(
      program([
        procedure('Main', [{ kind: 'return', value: computed('call_1', [playbookCall('Fact', '5')]) }]),
        procedure(
          'Fact',
          [
            {
              kind: 'if',
              arms: [{ condition: holds('n <= 1'), steps: [{ kind: 'return', value: computed('1') }] }],
            },
            { kind: 'return', value: computed('n * call_1', [playbookCall('Fact', 'n - 1')]) },
          ],
          { parameters: [{ name: 'n', type: 'int' }] },
        ),
      ]),
    )
    expect(played.message).toBe('120')
  })

  test('hands a failed call to the playbook that waits for it, and goes on', () => {
    const fails = {
      kind: 'fails',
      call: { kind: 'playbook', id: 'Pay' },
      text: 'When Pay fails',
      line: 1,
    } as const
    const pay = { kind: 'call', target: null, value: computed('call_1', [toolCall('pay')]) } as const
    const broken = {
      tools: {
        pay: () => {
          throw new Error('card declined')
        },
      },
    }
    const main = procedure('Main', [
      { kind: 'call', target: null, value: computed('call_1', [playbookCall('Pay')]) },
      say('after'),
    ])
    const unhandled = play(program([main, procedure('Pay', [pay])]), broken)
    expect([unhandled.status, unhandled.said]).toEqual(['failed', []])
    expect(unhandled.message).toBe('Main/1: Pay/1: card declined')
    const handled = play(
      program([main, procedure('Pay', [pay]), procedure('Sorry', [say('sorry')], { triggers: [fails] })]),
      broken,
    )
    expect([handled.status, handled.said]).toEqual(['succeeded', ['agent: sorry', 'agent: after']])
  })

  test('fires state triggers on the edge, once each time', () => {
    const negative = {
      kind: 'state',
      value: computed('$balance < 0'),
      reads: ['balance'],
      text: 'When $balance becomes negative',
      line: 1,
    } as const
    const played = play(
      program([
        procedure(
          'Main',
          [
            set('balance', '5'),
            set('balance', '-1'),
            set('balance', '-2'),
            set('balance', '3'),
            set('balance', '-4'),
            say('end'),
          ],
          {
            triggers: begin,
          },
        ),
        procedure('Alarm', [say('balance {$balance}')], { triggers: [negative] }),
      ]),
    )
    expect(played.said).toEqual(['agent: balance -1', 'agent: balance -4', 'agent: end'])
  })

  test('runs playbooks before and after a call', () => {
    const pay = { kind: 'tool', name: 'pay' } as const
    const played = play(
      program([
        procedure('Main', [
          { kind: 'call', target: null, value: computed('call_1', [toolCall('pay')]) },
          say('main'),
        ]),
        procedure('First', [say('before')], { triggers: [{ kind: 'before', call: pay, text: '', line: 1 }] }),
        procedure('Then', [say('after')], { triggers: [{ kind: 'after', call: pay, text: '', line: 1 }] }),
        procedure('Last', [say('bye')], { triggers: [{ kind: 'end', text: '', line: 1 }] }),
      ]),
    )
    expect(played.said).toEqual(['agent: before', 'agent: after', 'agent: main', 'agent: bye'])
    expect(played.calls).toEqual(['pay({})'])
  })

  test('asks a person until it is answered; a plain answer needs no model', () => {
    const ask = {
      kind: 'ask',
      words: null,
      targets: [variable('order_id', 'str')],
      until: null,
      maxTurns: 3,
    } as const
    const plain = play(program([procedure('Main', [ask, say('thanks for {$order_id}')])]), {
      says: ['ORD-42'],
    })
    expect(plain.said).toEqual([
      'agent: Please tell me: order id.',
      'person: ORD-42',
      'agent: thanks for ORD-42',
    ])
    expect(plain.asked).toEqual([])
    const wordy = play(program([procedure('Main', [ask, say('thanks for {$order_id}')])]), {
      says: ['well, let me see', 'it is ORD-7 I think'],
      answer: inTurn([
        { kind: 'extract', values: { order_id: null } },
        { kind: 'extract', values: { order_id: 'ORD-7' } },
      ]),
    })
    expect(wordy.said.at(-1)).toBe('agent: thanks for ORD-7')
    expect(wordy.asked).toEqual(['extract', 'extract'])
    const gone = play(program([procedure('Main', [ask])]))
    expect([gone.status, gone.message]).toEqual(['incomplete', 'nobody answered at Main/1'])
  })

  test('asks a model in one request what follows without an effect in between, and remembers judgements', () => {
    const written = (instruction: string) =>
      ({ kind: 'say', words: { kind: 'written', instruction, reads: [] } }) as const
    const answer = (question: Question): Answer | undefined =>
      question.kind === 'write'
        ? { kind: 'write', text: question.instruction }
        : question.kind === 'judge'
          ? yes
          : undefined
    const happy = {
      condition: { ...judged('$mood is good'), reads: ['mood'] } as never,
      steps: [say('good')],
    }
    const played = play(
      program([
        procedure('Main', [
          set('mood', '"fine"'),
          written('greet'),
          written('explain'),
          { kind: 'if', arms: [happy] },
          set('x', '1'),
          { kind: 'if', arms: [happy] },
        ]),
      ]),
      { answer },
    )
    expect(played.asked).toEqual(['write+write+judge', 'judge'])
    expect(played.said).toEqual(['agent: greet', 'agent: explain', 'agent: good', 'agent: good'])
  })

  test('a note that must hold before a call is a rule of the gate', () => {
    const note = (condition: ReturnType<typeof holds>) => [
      {
        text: 'Always confirm that $token is valid before calling status',
        line: 1,
        rule: { before: { kind: 'tool', name: 'status' }, require: { kind: 'holds', condition } },
      } as const,
    ]
    const main = (condition: ReturnType<typeof holds>) =>
      program([
        procedure(
          'Main',
          [
            set('token', '"x"'),
            { kind: 'call', target: variable('s'), value: computed('call_1', [toolCall('status')]) },
          ],
          { notes: note(condition) },
        ),
      ])
    const fuzzy = { kind: 'judged', text: '$token is valid', reads: ['token'] } as const
    const no = play(main(fuzzy), { answer: () => ({ kind: 'judge', value: false, reason: '' }) })
    expect([no.status, no.asked]).toEqual(['failed', ['judge']])
    expect(no.message).toContain('Always confirm')
    expect(no.state.tickets).toEqual([])
    const ok = play(main(fuzzy), { answer: () => yes, tools: { status: () => 'shipped' } })
    expect([ok.status, ok.variables]).toEqual(['succeeded', { token: 'x', s: 'shipped' }])
    expect(play(main(holds('$token == "y"')), {}).status).toBe('failed')
  })

  test('listens for messages after its beginning, until the person leaves', () => {
    const pricing = [{ kind: 'message', text: 'When user asks about pricing', line: 1 }] as const
    const played = play(
      program([
        procedure('Main', [say('hello')], { triggers: begin }),
        procedure('Pricing', [say('ten dollars')], { triggers: pricing }),
      ]),
      {
        says: ['what does it cost?', 'and the weather?'],
        answer: inTurn([
          { kind: 'match', matched: [0] },
          { kind: 'match', matched: [] },
        ]),
      },
    )
    expect(played.said).toEqual([
      'agent: hello',
      'person: what does it cost?',
      'agent: ten dollars',
      'person: and the weather?',
      'agent: None of my playbooks is about that.',
    ])
    expect(played.status).toBe('succeeded')
  })

  test('an interrupted question is asked again', () => {
    const pricing = [{ kind: 'message', text: 'When user asks about pricing', line: 1 }] as const
    const ask = {
      kind: 'ask',
      words: null,
      targets: [variable('name', 'str')],
      until: null,
      maxTurns: 5,
    } as const
    const played = play(
      program([
        procedure('Main', [ask, say('hi {$name}')], { triggers: begin }),
        procedure('Pricing', [say('ten dollars')], { triggers: pricing }),
      ]),
      {
        says: ['what does it cost?', 'my name is Ann'],
        answer: inTurn([
          { kind: 'extract', values: { name: null } },
          { kind: 'match', matched: [0] },
          { kind: 'extract', values: { name: 'Ann' } },
          { kind: 'match', matched: [] },
        ]),
      },
    )
    expect(played.asked).toEqual(['extract+match', 'extract+match'])
    expect(played.said.slice(0, 5)).toEqual([
      'agent: Please tell me: name.',
      'person: what does it cost?',
      'agent: ten dollars',
      'agent: I still need name.',
      'person: my name is Ann',
    ])
    expect(played.said).toContain('agent: hi Ann')
  })

  test('a playbook without steps is one piece of work for a model, a raw one is one question', () => {
    const get = (id: string) =>
      ({
        kind: 'call',
        target: variable(id.toLowerCase()),
        value: computed('call_1', [playbookCall(id)]),
      }) as const
    const played = play(
      program([
        procedure('Main', [get('Free'), get('Raw'), get('Alone')]),
        procedure('Free', [], { mode: 'react', tools: ['look'] }),
        procedure('Raw', [], { mode: 'raw' }),
        procedure('Alone', [], { mode: 'react' }),
      ]),
      { answer: () => ({ kind: 'write', text: 'written' }) },
    )
    expect(played.variables).toEqual({ free: 'done', raw: 'written', alone: 'written' })
    expect(played.asked).toEqual(['write', 'write'])
  })

  test('nothing but the call that is due is let through, exactly as it was worked out', () => {
    const pay = {
      kind: 'call',
      target: null,
      value: computed('call_1', [toolCall('pay', { amount: '30' })]),
    } as const
    const compiled = compilePlaybook(programPlaybook(program([procedure('Main', [pay])]), 'test'))
    const start = { run: 'r', inputs: {}, enforced: true, finishAttempts: 2 }
    const { state } = startRun(compiled, start, { now: 0 })
    const attempt = (callId: string | null, tool: string, args: JsonObject) =>
      perform(state, { type: 'call', callId, tool, args }, { now: 0, registered: true }).answer[0]
    expect(attempt('step-1', 'pay', { amount: 31 })).toMatchObject({ code: 'out_of_sequence' })
    expect(attempt(null, 'pay', { amount: 30 })).toMatchObject({ code: 'out_of_sequence' })
    expect(attempt('step-1', 'steal', { amount: 30 })).toMatchObject({ code: 'out_of_sequence' })
    for (const type of ['complete', 'skip', 'fail'] as const) {
      const move = { type, by: 'model', step: 'Main/1', result: null, reason: null, error: '' } as never
      expect(perform(state, move, { now: 0 }).answer[0]).toMatchObject({ type: 'step.refused' })
    }
    expect(perform(state, { type: 'finish', message: 'done' }, { now: 0 }).answer[0]).toMatchObject({
      type: 'finish.refused',
    })
  })
})
