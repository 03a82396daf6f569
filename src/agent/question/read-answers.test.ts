import { describe, expect, test } from 'vitest'
import type { ValueType } from '../../playbook/program.ts'
import type { Answer, Question } from '../../run/program/question.ts'
import { numberQuestions } from './asked-questions.ts'
import { readAnswers } from './read-answers.ts'
import { writeAnswers } from './write-answers.ts'

function asked(...questions: Question[]) {
  return numberQuestions({
    id: 'b',
    questions,
    agent: '',
    playbook: '',
    notes: [],
    variables: {},
    conversation: [],
  })
}

function extract(type: ValueType): Question {
  return { id: 'x', kind: 'extract', instruction: 'it', slots: [{ name: 'v', type }] }
}

const fits: readonly (readonly [ValueType, string])[] = [
  ['int', '42'],
  ['int', '-0'],
  ['int', '42.0'],
  ['int', 'null'],
  ['float', '42'],
  ['float', '0.5'],
  ['float', 'null'],
  ['bool', 'false'],
  ['bool', 'null'],
  ['str', '""'],
  ['str', '"42"'],
  ['str', 'null'],
  ['list', '[]'],
  ['list', '[1,"a",null,{}]'],
  ['dict', '{"a":[1]}'],
  ['dict', 'null'],
  ['any', '"a"'],
  ['any', '1'],
  ['any', '[{}]'],
  ['any', 'null'],
]

const misfits: readonly (readonly [ValueType, string, RegExp])[] = [
  ['int', '"42"', /`v` must be integer/],
  ['int', '4.2', /`v` must be integer/],
  ['int', 'true', /`v` must be integer/],
  ['int', '12345678901234567890', /too many digits/],
  ['float', '"0.5"', /`v` must be number/],
  ['float', '1e400', /cannot be taken/],
  ['bool', '"true"', /`v` must be boolean/],
  ['bool', '1', /`v` must be boolean/],
  ['str', '42', /`v` must be string/],
  ['str', '["a"]', /`v` must be string/],
  ['list', '{}', /`v` must be array/],
  ['list', '[[12345678901234567890]]', /too many digits/],
  ['dict', '[]', /`v` must be object/],
  ['str', '"\\ud800"', /half of a character/],
]

describe('what a model said', () => {
  test.each(fits)('is taken for %s: %s', (type, value) => {
    const { answers, problems } = readAnswers(asked(extract(type)), `{"q1":{"v":${value}}}`)
    expect(problems.size).toBe(0)
    expect(answers.get('x')).toEqual({ kind: 'extract', values: { v: JSON.parse(value) } })
  })

  test.each(misfits)('is not bent to be %s: %s', (type, value, why) => {
    const { answers, problems } = readAnswers(asked(extract(type)), `{"q1":{"v":${value}}}`)
    expect(answers.size).toBe(0)
    expect(problems.get('q1')?.join()).toMatch(why)
  })

  const match: Question = { id: 'm', kind: 'match', triggers: ['a', 'b', 'c'] }
  test.each([
    ['[]', []],
    ['[2,0,2]', [0, 2]],
  ])('matches the descriptions by position: %s', (given, matched) => {
    expect(readAnswers(asked(match), `{"q1":${given}}`).answers.get('m')).toEqual({ kind: 'match', matched })
  })

  test.each(['[3]', '[-1]', '["0"]', '[0.5]', '0', 'null', '{}'])(
    'matches no description that is not there: %s',
    (given) => {
      expect(readAnswers(asked(match), `{"q1":${given}}`).problems.size).toBe(1)
    },
  )

  test('matches nothing where there is nothing to match', () => {
    const none: Question = { id: 'm', kind: 'match', triggers: [] }
    expect(readAnswers(asked(none), '{"q1":[]}').answers.get('m')).toEqual({ kind: 'match', matched: [] })
    expect(readAnswers(asked(none), '{"q1":[0]}').problems.size).toBe(1)
  })

  test('is taken as far as it fits, and what nobody asked for is dropped', () => {
    const judge: Question = { id: 'j', kind: 'judge', text: 'so' }
    const said =
      '{"q1":{"value":true,"reason":"r","sure":1},"q2":{"v":"x","w":1},"q9":1,"__proto__":{"q3":1}}'
    const { answers, problems } = readAnswers(
      asked(judge, extract('int'), { id: 'w', kind: 'write', instruction: 'it' }),
      said,
    )
    expect([...answers]).toEqual([['j', { kind: 'judge', value: true, reason: 'r' }]])
    expect([...problems.keys()]).toEqual(['q2', 'q3'])
  })

  test('is no text where there is none; among other answers an empty text is one', () => {
    const write: Question = { id: 'w', kind: 'write', instruction: 'it' }
    expect(readAnswers(asked(write), ' \n').problems.get('q1')).toEqual(['the text is empty'])
    expect(readAnswers(asked(write), '""').answers.get('w')).toEqual({ kind: 'write', text: '""' })
    const mixed = readAnswers(asked(write, match), '{"q1":" ","q2":[]}')
    expect(mixed.answers.get('w')).toEqual({ kind: 'write', text: '' })
  })

  test('is read as it was written, for every kind, whatever the slots are called', () => {
    const slots = ['a', 'constructor', '__proto__', 'x y', 'slot_2'].map((name) => ({
      name,
      type: 'any' as const,
    }))
    const questions = asked(
      { id: 'j', kind: 'judge', text: 'so' },
      { id: 'e', kind: 'extract', instruction: 'it', slots },
      { id: 'w', kind: 'write', instruction: 'it' },
      match,
    )
    const values = Object.fromEntries(slots.map(({ name }, index) => [name, index])) as Record<string, number>
    const answers = new Map<string, Answer>([
      ['j', { kind: 'judge', value: false, reason: '' }],
      ['e', { kind: 'extract', values }],
      ['w', { kind: 'write', text: 'Hello "you"' }],
      ['m', { kind: 'match', matched: [1] }],
    ])
    const said = writeAnswers(questions, answers)
    expect(said).not.toContain('constructor')
    expect(readAnswers(questions, said)).toEqual({ answers, problems: new Map() })
  })
})
