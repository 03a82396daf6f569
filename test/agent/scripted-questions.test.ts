import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { Agent } from '../../src/agent/agent.ts'
import { countingModel } from '../../src/agent/question/counting-model.ts'
import { scriptTurn } from '../../src/agent/question/script-turn.ts'
import type { TextPiece } from '../../src/agent/question/text-stream.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/agent/scripted-model.ts'
import type { Question } from '../../src/run/program/question.ts'
import { askBatch, batchOf, extract, judge, match, write } from './ask-batch.ts'

/** A script as it is written in a file. */
function script(yaml: string) {
  return scriptedModel({ turns: parse(yaml) as ScriptedTurn[] })
}

const second: Question = { id: 'Main/5', kind: 'judge', text: 'the customer is new' }

describe('a script that answers questions', () => {
  test('gives one answer of each kind in a turn, in any order', async () => {
    const model = script(`
      - write: We are sorry.
        match: [the user is angry]
        judge: true
        extract: { order: 42 }
        usage: { prompt: 70, completion: 7 }`)
    const result = await askBatch(model, batchOf(judge, extract, write, match))
    expect(result.answers).toEqual({
      'Main/1': { kind: 'judge', value: true, reason: '' },
      'Main/2': { kind: 'extract', values: { order: 42, email: null } },
      'Main/3': { kind: 'write', text: 'We are sorry.' },
      'Main/4': { kind: 'match', matched: [1] },
    })
    expect(result).toMatchObject({ promptTokens: 70, completionTokens: 7 })
  })

  test('gives several of one kind as a list, in their order or by id, number or words', async () => {
    const model = script(`
      - answers: [judge: true, judge: { value: false, reason: not new }]
      - answers: [{ judge: true, to: new }, { judge: false }]
      - answers: [{ judge: true, to: Main/5 }, { judge: false }]
      - answers: [{ judge: true, to: 2 }, { judge: false, to: 1 }]`)
    const values = async () => {
      const { answers } = await askBatch(model, batchOf(judge, second))
      return [judge, second].map(({ id }) => (answers[id] as { value: boolean }).value)
    }
    expect(await values()).toEqual([true, false])
    for (let turn = 2; turn <= 4; turn++) expect(await values()).toEqual([false, true])
  })

  test('has its texts streamed', async () => {
    const pieces: TextPiece[] = []
    const onText = (piece: TextPiece) => pieces.push(piece)
    await askBatch(script('- write: One two three.'), batchOf(write), { onText })
    expect(pieces.length).toBeGreaterThan(1)
    await askBatch(script('- { write: " four.", judge: true }'), batchOf(write, judge), { onText })
    expect(pieces.map(({ text }) => text).join('')).toBe('One two three.four.')
  })

  test('can say what does not fit, word for word, and mend it in the next turn', async () => {
    const model = script(`
      - text: '{"q1":{"reason":"","value":"yes"}}'
      - judge: true
        expect: { asks: [judge], contains: [must be boolean] }`)
    const { answers, requests } = await askBatch(model, batchOf(judge))
    expect(answers['Main/1']).toMatchObject({ value: true })
    expect(requests).toHaveLength(2)
  })

  test('has values of a wrong type refused, like any model', async () => {
    const model = script('[{ extract: { order: "42" } }, { extract: { order: 4.2 } }]')
    await expect(askBatch(model, batchOf(extract))).rejects.toMatchObject({ code: 'model_answer_invalid' })
  })

  test('can say what it expects to be asked', async () => {
    const model = script(`
      - { judge: true, write: Hm., expect: { asks: [judge, Main/3], says: 'order .* late\\nApolog', contains: [Be brief] } }`)
    expect((await askBatch(model, batchOf(judge, write))).requests).toHaveLength(1)
  })

  test.each([
    [
      '- judge: true',
      [judge, write],
      'script, turn 1: nothing answers write Main/3 "Apologise for the delay".',
    ],
    [
      '- { judge: true, write: Hello }',
      [judge],
      '{"write":"Hello"} answers no question; asked were judge Main/1 "the order is late".',
    ],
    ['- answers: [{ judge: true, to: the moon }]', [judge], 'nothing answers judge Main/1'],
    [
      '- answers: [{ judge: true }, { judge: false, to: the moon }]',
      [judge],
      '{"judge":false} to "the moon" answers no question',
    ],
    [
      '- extract: { ordr: 1 }',
      [extract],
      'extract Main/2 "order, email: the order" asks for order, email, not for ordr.',
    ],
    ['- match: [2]', [match], 'match Main/4 "the user cancels / the user is angry" has no trigger 2.'],
    ['- match: [the user leaves]', [match], 'has no trigger "the user leaves"'],
    [
      '- calls: [{ tool: look }]',
      [judge],
      'script, turn 1: it makes calls, and the model was asked judge Main/1',
    ],
    [
      '- { judge: true, expect: { asks: [write] } }',
      [judge],
      'the model was asked judge Main/1 "the order is late" instead of write.',
    ],
    [
      '- { judge: true, expect: { says: early } }',
      [judge],
      'was not asked anything like /early/ but judge Main/1',
    ],
    ['- { judge: true, expect: { asks: [] } }', [judge], 'instead of no question'],
    ['- {}', [judge], 'nothing answers judge Main/1'],
  ])('fails with the question where it does not fit: %s', async (yaml, questions, message) => {
    const failing = askBatch(script(yaml), batchOf(...questions))
    await expect(failing).rejects.toMatchObject({ code: 'script_mismatch' })
    await expect(failing).rejects.toThrow(message)
  })

  test('is no script for an agent that asks nothing', async () => {
    const result = await new Agent({ model: script('- judge: true') }).run('go')
    expect(result.reason).toContain('script, turn 1: it has answers, and the model was asked no question.')
  })

  test.each([
    ['- judge: maybe', /turns\.0\.judge/],
    [
      '- answers: [{ judge: true, write: x }]',
      /turns\.0\.answers\.0: must be one of judge, extract, write, match/,
    ],
    ['- answers: [{ to: x }]', /must be one of/],
    ['- { judge: true, text: x }', /turns\.0: answers questions, so it has neither text nor calls/],
    ['- { judge: true, expect: { says: "(" } }', /turns\.0\.expect\.says: is not a regular expression/],
    ['- match: [-1]', /turns\.0\.match/],
  ])('that is none is refused with the place: %s', (yaml, message) => {
    expect(() => script(yaml)).toThrow(message)
  })

  test.each([[[judge, extract, write, match]], [[judge, second, write]], [[match]]])(
    'is written from what was answered, and says the same again: %#',
    async (questions) => {
      const first = script(`
        - answers:
            ${questions.map((question) => `- ${{ judge: 'judge: { value: true, reason: "so: yes" }', extract: 'extract: { email: a@b.c }', write: 'write: "We are\\nsorry: {q1}"', match: 'match: [1]' }[question.kind]}`).join('\n            ')}`)
      const told = await askBatch(first, batchOf(...questions))
      const turn = scriptTurn(questions, told.answers, { promptTokens: 5, completionTokens: 2 })
      const replay = scriptedModel(parse(stringify({ turns: [turn] })) as { turns: ScriptedTurn[] })
      const again = await askBatch(replay, batchOf(...questions))
      expect(again.answers).toEqual(told.answers)
      expect(again.promptTokens).toBe(5)
    },
  )

  test('is written without ids where the kinds say which question is meant', () => {
    const answers = {
      'Main/1': { kind: 'judge', value: true, reason: '' },
      'Main/2': { kind: 'extract', values: { order: 42, email: null } },
      'Main/5': { kind: 'judge', value: false, reason: 'old' },
    } as const
    expect(scriptTurn([judge, extract], answers)).toEqual({ judge: true, extract: { order: 42 } })
    expect(scriptTurn([judge, second], answers)).toEqual({
      answers: [
        { judge: true, to: 'Main/1' },
        { judge: { value: false, reason: 'old' }, to: 'Main/5' },
      ],
    })
  })
})

describe('a model that counts', () => {
  test('counts requests, their questions and tokens, and says where it estimates', async () => {
    const { model, requests } = countingModel(
      script(`
      - { judge: true, write: Sorry., usage: { prompt: 70, completion: 7 } }
      - write: Sorry for that.
      - judge: true`),
    )
    await askBatch(model, batchOf(judge, write))
    await askBatch(model, batchOf(write), { onText: () => undefined })
    await askBatch(model, batchOf(judge))
    expect(requests).toMatchObject([
      {
        questions: [
          { id: 'Main/1', kind: 'judge' },
          { id: 'Main/3', kind: 'write' },
        ],
        promptTokens: 70,
        completionTokens: 7,
        estimated: false,
      },
      { questions: [{ id: 'Main/3', kind: 'write' }], completionTokens: 4, estimated: true },
      { questions: [{ id: 'Main/1', kind: 'judge' }], estimated: true },
    ])
    for (const { promptTokens, estimated } of requests)
      if (estimated) expect(promptTokens).toBeGreaterThan(300)
  })

  test('counts what failed and what was repaired, and turns of an agent', async () => {
    const { model, requests } = countingModel(
      script(`
      - text: no
      - judge: true
      - text: Done.
      - error: { message: down, status: 400 }`),
    )
    await askBatch(model, batchOf(judge))
    await new Agent({ model }).run('go')
    await expect(askBatch(model, batchOf(judge), { maxRetries: 0 })).rejects.toThrow('down')
    expect(requests.map(({ questions }) => questions.length)).toEqual([1, 1, 0, 1])
    expect(requests[1]!.promptTokens).toBeGreaterThan(requests[0]!.promptTokens)
    expect(requests[3]).toMatchObject({ completionTokens: 0, estimated: true })
  })
})
