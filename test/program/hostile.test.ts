/** What people, tools, models and clocks may do to a program, on the machine alone. */
import { describe, expect, test } from 'vitest'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { passTime, perform, startRun } from '../../src/run/perform.ts'
import { questionBatch } from '../../src/run/program/question-batch.ts'
import { computed, procedure, program, template, variable, type DraftStep } from './build-program.ts'

const start = { run: 'r', inputs: {}, enforced: true, finishAttempts: 2 }
const begin = [{ kind: 'begin', text: 'At the beginning', line: 1 }] as const
const say = (source: string) =>
  ({ kind: 'say', words: { kind: 'literal', value: template(source) } }) as const
const written = { kind: 'say', words: { kind: 'written', instruction: 'answer', reads: [] } } as const
const wait = { kind: 'wait', for: { kind: 'message' } } as const

function started(steps: readonly DraftStep[], more: Parameters<typeof procedure>[2] = {}) {
  const compiled = compilePlaybook(programPlaybook(program([procedure('Main', steps, more)]), 'test'))
  return startRun(compiled, start, { now: 0 }).state
}

describe('a program', () => {
  test('takes what is said only when it waits for it, and answers only to what it asked', () => {
    const state = started([written])
    const { pending } = state.program!
    expect(perform(state, { type: 'message', text: 'now' }, { now: 0 }).answer).toEqual([])
    expect(perform(state, { type: 'leave' }, { now: 0 }).answer).toEqual([])
    const id = pending?.kind === 'questions' ? pending.id : ''
    const wrong = [
      { type: 'answer', id: 'q-99', answers: { 'Main/1': { kind: 'write', text: 'x' } } },
      { type: 'answer', id, answers: {} },
      { type: 'answer', id, answers: { 'Main/1': { kind: 'judge', value: true, reason: '' } } },
      { type: 'answer', id, answers: Object.create({ 'Main/1': { kind: 'write', text: 'x' } }) as never },
      { type: 'unanswered', id: 'q-99', error: 'no' },
    ] as const
    for (const request of wrong) expect(perform(state, request, { now: 0 }).answer).toEqual([])
    expect(state.program!.pending).toBe(pending)
  })

  test('shows a model the last 80 things that were said, and not more of them than fits', () => {
    const more = { kind: 'computed', value: computed('len($list) < 100') } as const
    const count = { kind: 'set', target: variable('list'), value: computed('$list + [1]') } as const
    const state = started([
      { kind: 'set', target: variable('list'), value: computed('[]') },
      { kind: 'loop', form: 'while', condition: more, maxTurns: 3, steps: [wait, count] },
      written,
    ])
    for (let turn = 1; turn <= 100; turn++)
      perform(state, { type: 'message', text: `${turn} ${'x'.repeat(10_000)}` }, { now: 0 })
    const { conversation } = questionBatch(state)
    expect(conversation.length).toBeLessThan(30)
    expect(conversation.at(-1)!.text).toMatch(/^100 /)
    expect(conversation[0]!.text).toMatch(/more characters are left out\]$/)
    expect(JSON.stringify(conversation).length).toBeLessThan(210_000)
    expect(state.program!.conversation.length).toBe(100)
  })

  test('a clock that goes back makes nothing happen twice or too early', () => {
    const time = [{ kind: 'time', seconds: 60, text: 'After a minute', line: 1 }] as const
    const compiled = compilePlaybook(
      programPlaybook(
        program([
          procedure('Main', [wait, say('main')], { triggers: begin }),
          procedure('Later', [say('later')], { triggers: time }),
        ]),
        'test',
      ),
    )
    const { state } = startRun(compiled, start, { now: 1_000_000 })
    const said = () => state.program!.conversation.map(({ text }) => text)
    passTime(state, { now: 1_059_999 })
    passTime(state, { now: 0 })
    expect(said()).toEqual([])
    passTime(state, { now: 9_000_000 })
    passTime(state, { now: 1_060_000 })
    expect(said()).toEqual(['later'])
    perform(state, { type: 'message', text: 'hello' }, { now: 5 })
    expect(said()).toEqual(['later', 'hello', 'main'])
    expect(state.clock).toBe(9_000_000)
  })

  test('a wait that is interrupted takes no longer for it', () => {
    const time = [{ kind: 'time', seconds: 60, text: 'After a minute', line: 1 }] as const
    const compiled = compilePlaybook(
      programPlaybook(
        program([
          procedure(
            'Main',
            [{ kind: 'wait', for: { kind: 'time', seconds: 100 } }, say('waited'), { kind: 'end' }],
            { triggers: begin },
          ),
          procedure('Later', [say('later')], { triggers: time }),
        ]),
        'test',
      ),
    )
    const { state } = startRun(compiled, start, { now: 0 })
    passTime(state, { now: 60_000 })
    expect(state.program!.pending).toMatchObject({ kind: 'time', until: 100_000 })
    passTime(state, { now: 100_000 })
    expect(state.ended).toBe('succeeded')
  })

  test('a loop without bullets in a loop without end is stopped', () => {
    const long = Array.from({ length: 400 }, (_, index) => index)
    const list = computed(JSON.stringify(long))
    const state = started([
      {
        kind: 'each',
        item: variable('a'),
        over: list,
        maxTurns: 10_000,
        steps: [{ kind: 'each', item: variable('b'), over: list, maxTurns: 10_000, steps: [] }],
      },
    ])
    expect(state.ended).toBe('failed')
    expect(state.message).toContain('more than 100000 steps')
  })
})
