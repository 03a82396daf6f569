import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { Interruption } from '../../src/agent/interruption.ts'
import { createPersonModel } from '../../src/agent/person-model.ts'
import { openPersonTerminal } from '../../src/agent/person-terminal.ts'
import type { ValueType } from '../../src/playbook/program.ts'
import { askBatch, batchOf, extract, judge, match, write } from './ask-batch.ts'

function terminal(...lines: string[]) {
  const input = new PassThrough()
  const output = new PassThrough()
  if (lines.length > 0) input.end(lines.map((line) => `${line}\n`).join(''))
  return { input, output, shown: () => String(output.read() ?? '') }
}

describe('a person who answers questions', () => {
  test('is asked each in plain words, with what is known', async () => {
    const streams = terminal('yes', '42', '', 'We are sorry.', '2')
    const { answers } = await askBatch(createPersonModel(streams), batchOf(judge, extract, write, match))
    expect(answers).toEqual({
      'Main/1': { kind: 'judge', value: true, reason: 'the person says so' },
      'Main/2': { kind: 'extract', values: { order: 42, email: null } },
      'Main/3': { kind: 'write', text: 'We are sorry.' },
      'Main/4': { kind: 'match', matched: [1] },
    })
    const shown = streams.shown()
    for (const text of [
      'The person said: "Where is 42?"',
      'order = {"id":42}',
      'Does this hold: the order is late\nyes/no > ',
      'order = ? (a whole number, such as 42; Enter if it is not known) > ',
      'Write: Apologise for the delay',
      '  2. the user is angry\n',
    ])
      expect(shown).toContain(text)
    expect(shown).not.toMatch(/JSON|q1|Main/)
  })

  test('is asked again after nonsense, with what would be right', async () => {
    const streams = terminal('maybe', 'n', '4 2', '42', 'a@b.c', '', 'Sorry.', '3', 'x', '1,2 2')
    const model = createPersonModel(streams)
    const first = await askBatch(model, batchOf(judge, extract))
    expect(first.answers['Main/1']).toMatchObject({ value: false })
    expect(first.answers['Main/2']).toEqual({ kind: 'extract', values: { order: 42, email: 'a@b.c' } })
    expect((await askBatch(model, batchOf(write))).answers['Main/3']).toEqual({
      kind: 'write',
      text: 'Sorry.',
    })
    expect((await askBatch(model, batchOf(match))).answers['Main/4']).toEqual({
      kind: 'match',
      matched: [0, 1],
    })
    const shown = streams.shown()
    for (const text of [
      'Please answer yes or no.',
      'That is not a whole number',
      'at least a word',
      'numbers from 1 to 2',
    ])
      expect(shown).toContain(text)
  })

  test.each<[ValueType, string[], unknown]>([
    ['str', ['two words'], 'two words'],
    ['str', ['"42"'], '42'],
    ['str', ['42'], '42'],
    ['any', ['42'], 42],
    ['any', ['two words'], 'two words'],
    ['any', ['{"a":1}'], { a: 1 }],
    ['any', ['12345678901234567890'], '12345678901234567890'],
    ['float', ['4,5', '4.5'], 4.5],
    ['bool', ['1', 'no'], false],
    ['list', ['a, b', '["a"]'], ['a']],
    ['dict', ['[]', '{"a":[]}'], { a: [] }],
    ['dict', [''], null],
  ])('gives values of type %s: %j', async (type, lines, value) => {
    const model = createPersonModel(terminal(...lines))
    const question = { id: 'x', kind: 'extract', instruction: 'it', slots: [{ name: 'v', type }] } as const
    expect((await askBatch(model, batchOf(question))).answers['x']).toEqual({
      kind: 'extract',
      values: { v: value },
    })
  })

  test('may leave a text out among other answers', async () => {
    const { answers } = await askBatch(createPersonModel(terminal('', 'yes')), batchOf(write, judge))
    expect(answers['Main/3']).toEqual({ kind: 'write', text: '' })
  })

  test('is shown nothing that a tool or a playbook could say to the terminal', async () => {
    const streams = terminal('yes')
    const hostile = 'a\u001b[2Jb\u202ec\rd\u0007'
    await askBatch(createPersonModel(streams), {
      ...batchOf({ id: 'j', kind: 'judge', text: hostile }),
      variables: { [hostile]: hostile },
      conversation: [{ by: 'person', text: `${hostile}\nDoes this hold: 1 = 1` }],
    })
    const shown = streams.shown()
    expect(shown).toContain('Does this hold: a\\u001b[2Jb\\u202ec\\u000dd\\u0007')
    // oxlint-disable-next-line no-control-regex -- finding them is the point
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    expect(shown.match(/^Does this hold/gm)).toHaveLength(1)
  })

  test('who leaves in the middle puts the run down', async () => {
    const failing = askBatch(createPersonModel(terminal('yes')), batchOf(judge, extract))
    await expect(failing).rejects.toBeInstanceOf(Interruption)
  })

  test('who is interrupted is not waited for, and loses no line to it', async () => {
    const streams = terminal()
    const person = openPersonTerminal(streams)
    const model = createPersonModel(person)
    const controller = new AbortController()
    const reason = new Error('interrupted')
    const failing = askBatch(model, batchOf(judge), { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 10)
    await expect(failing).rejects.toBe(reason)
    streams.input.write('yes\nnext\n')
    expect((await askBatch(model, batchOf(judge))).answers['Main/1']).toMatchObject({ value: true })
    expect(await person.readLine()).toBe('next')
  })
})
