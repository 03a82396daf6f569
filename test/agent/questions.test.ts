import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AnsweredRequest, AskOptions } from '../../src/agent/question/ask-questions.ts'
import type { TextPiece } from '../../src/agent/question/text-stream.ts'
import { resolveModel } from '../../src/agent/resolve-model.ts'
import type { Question, QuestionBatch } from '../../src/run/program/question.ts'
import type { Json } from '../../src/shared/json.ts'
import { askBatch, batchOf, extract, judge, match, write } from './ask-batch.ts'
import { startModelServer, type Fault, type ServedTurn } from './model-server.ts'

// The wait between two attempts, which would be seconds.
vi.mock('node:timers/promises', async (original) => {
  const timers = await original<typeof import('node:timers/promises')>()
  const setTimeout = (ms: number, ...rest: never[]) => timers.setTimeout(ms === 2_000 ? 1 : ms, ...rest)
  return { ...timers, setTimeout }
})

const models = ['openai:gpt-4o', 'anthropic:claude-sonnet-4-5', 'openai-compatible:llama'] as const

let server: Awaited<ReturnType<typeof startModelServer>> | null = null

afterEach(async () => {
  vi.unstubAllEnvs()
  await server?.close()
  server = null
})

async function serve(...turns: ServedTurn[]) {
  server = await startModelServer(turns)
  for (const name of ['OPENAI', 'ANTHROPIC', 'OPENAI_COMPATIBLE']) {
    vi.stubEnv(`${name}_BASE_URL`, server.url)
    vi.stubEnv(`${name}_API_KEY`, 'test-key')
  }
  return server
}

async function ask(model: string, batch: QuestionBatch, options: Partial<AskOptions> = {}) {
  return await askBatch(options.model ?? (await resolveModel(model)), batch, options)
}

const json = (value: Json): ServedTurn => ({ text: JSON.stringify(value) })
const joined = (pieces: readonly TextPiece[]) => pieces.map(({ text }) => text).join('')
const soon = { 'retry-after-ms': '1' }

const whole = {
  q1: { reason: 'It is overdue.', value: true },
  q2: { order: 42, email: null },
  q3: 'We are sorry. "42" is late – 🚚\nSoon!',
  q4: [1],
}
const answers = {
  'Main/1': { kind: 'judge', value: true, reason: 'It is overdue.' },
  'Main/2': { kind: 'extract', values: { order: 42, email: null } },
  'Main/3': { kind: 'write', text: whole.q3 },
  'Main/4': { kind: 'match', matched: [1] },
}

describe.each(models)('questions to %s over HTTP', (model) => {
  test('go in one request, and each gets an answer of its shape', async () => {
    const { asked } = await serve(json(whole))
    const result = await ask(model, batchOf(judge, extract, write, match), { maxTokens: 500 })
    expect(result).toMatchObject({ answers, promptTokens: 100, completionTokens: 20 })
    expect(result.requests).toEqual([
      {
        questions: ['Main/1', 'Main/2', 'Main/3', 'Main/4'],
        promptTokens: 100,
        completionTokens: 20,
        text: JSON.stringify(whole),
      },
    ])
    expect(asked).toHaveLength(1)
    const sent = JSON.stringify(asked[0])
    for (const text of ['order desk', 'Looks after orders', 'Be brief', 'Where is 42?', 'the user is angry'])
      expect(sent).toContain(text)
    // In words for all of them; as a shape for those that know one.
    expect(sent).toContain('JSON Schema')
    const shape = asked[0]!['text'] ?? asked[0]!['output_config'] ?? asked[0]!['response_format']
    expect(JSON.stringify(shape)).toContain(model.startsWith('openai-') ? 'json_object' : 'json_schema')
    if (model.startsWith('openai:')) expect(shape).toMatchObject({ format: { strict: true } })
    expect(sent).toMatch(/"max_(output_)?tokens":500/)
    expect(sent).not.toContain('Main/')
  })

  test('of open shape are answered too', async () => {
    const open: Question = {
      id: 'x',
      kind: 'extract',
      instruction: 'all',
      slots: [
        { name: 'größe', type: 'any' },
        { name: 'items', type: 'list' },
        { name: 'extra', type: 'dict' },
        { name: '__proto__', type: 'any' },
      ],
    }
    const given = { q1: { slot_1: 'L', items: [1, 'b'], extra: { a: null }, slot_4: { b: 2 } } }
    // Claude is given such a shape as a tool.
    const turn = model.startsWith('anthropic') ? { calls: [{ tool: 'json', arguments: given }] } : json(given)
    const { asked } = await serve(turn)
    const { answers: got } = await ask(model, batchOf(open))
    const values = (got['x'] as { values: Record<string, Json> }).values
    expect(Object.entries(values)).toEqual([
      ['größe', 'L'],
      ['items', [1, 'b']],
      ['extra', { a: null }],
      ['__proto__', { b: 2 }],
    ])
    // The service took the shape as it was.
    expect(asked).toHaveLength(1)
  })

  test('with more values than a service holds a model to are answered all the same', async () => {
    const slots = Array.from({ length: 20 }, (_, index) => ({ name: `v${index}`, type: 'int' as const }))
    const given = { q1: Object.fromEntries(slots.map(({ name }, index) => [name, index])) }
    const turn = model.startsWith('anthropic') ? { calls: [{ tool: 'json', arguments: given }] } : json(given)
    const { asked } = await serve(turn)
    await ask(model, batchOf({ id: 'x', kind: 'extract', instruction: 'all', slots }))
    expect(asked[0]!['output_config']).toBeUndefined()
  })

  test('are understood in a code fence and with words around', async () => {
    await serve(
      { text: `\`\`\`json\n${JSON.stringify({ q1: whole.q1 }, null, 2)}\n\`\`\`` },
      { text: `Sure! Here it is:\n${JSON.stringify({ q1: whole.q1 })}\nAnything else?` },
    )
    expect((await ask(model, batchOf(judge))).answers['Main/1']).toEqual(answers['Main/1'])
    expect((await ask(model, batchOf(judge))).answers['Main/1']).toEqual(answers['Main/1'])
  })

  test('whose answer does not fit are asked once more, and only those', async () => {
    const { asked } = await serve(
      json({ ...whole, q2: { order: '42', email: null } }),
      json({ q2: { order: 42, email: 'a@b.c' } }),
    )
    const spent: AnsweredRequest[] = []
    const result = await ask(model, batchOf(judge, extract, write, match), {
      onRequest: (one) => spent.push(one),
    })
    expect(result.answers).toEqual({
      ...answers,
      'Main/2': { kind: 'extract', values: { order: 42, email: 'a@b.c' } },
    })
    expect(result).toMatchObject({ promptTokens: 200, completionTokens: 40 })
    expect(spent.map(({ questions }) => questions)).toEqual([
      ['Main/1', 'Main/2', 'Main/3', 'Main/4'],
      ['Main/2'],
    ])
    const again = JSON.stringify(asked[1])
    expect(again).toContain('q2: `order` must be integer')
    expect(again.match(/q1 judge/g)).toHaveLength(1)
    expect(again.match(/q2 extract/g)).toHaveLength(2)
  })

  test.each([
    ['text that is no JSON', 'I cannot answer that.', /not JSON/],
    ['another type', '{"q1":{"reason":"x","value":"true"}}', /`value` must be boolean, not string/],
    ['nothing', '{}', /q1 is missing/],
    ['a list', '[true]', /no JSON object/],
    ['half an object', '{"q1":{"reason":"x"', /not JSON/],
  ])('that are answered twice with %s fail with what was said', async (_, said, why) => {
    await serve({ text: said }, { text: said })
    const failing = ask(model, batchOf(judge))
    await expect(failing).rejects.toMatchObject({ code: 'model_answer_invalid' })
    await expect(failing).rejects.toThrow(why)
    await expect(failing).rejects.toThrow('judge Main/1')
    await expect(failing).rejects.toThrow(`It said: ${JSON.stringify(said)}`)
    expect(server!.asked).toHaveLength(2)
  })

  test('that the service declines to answer fail at once', async () => {
    await serve({ text: '{"q1":', end: 'filter' })
    const spent: AnsweredRequest[] = []
    await expect(ask(model, batchOf(judge), { onRequest: (one) => spent.push(one) })).rejects.toThrow(
      /ended the answer before it was whole \(content-filter\)/,
    )
    expect(spent).toMatchObject([{ promptTokens: 100 }])
  })

  test('go through after 429 and 500, and fail with the reason when the service stays away', async () => {
    const faults: Fault[] = [
      { status: 429, headers: soon },
      { status: 500, headers: soon },
    ]
    await serve({ ...json({ q1: whole.q1 }), faults })
    expect((await ask(model, batchOf(judge))).answers).toEqual({ 'Main/1': answers['Main/1'] })
    await server!.close()
    await serve({ ...json({ q1: whole.q1 }), faults: [...faults, { status: 503, headers: soon }] })
    await expect(ask(model, batchOf(judge))).rejects.toThrow(/3 attempts failed/)
  })

  test('are asked in words alone of a service that refuses the shape, from then on', async () => {
    const refusal: Fault = { status: 400, body: 'response_format: json_schema is not supported' }
    const { asked } = await serve({ ...json({ q1: whole.q1 }), faults: [refusal] }, json({ q1: whole.q1 }))
    const resolved = await resolveModel(model)
    expect((await ask(model, batchOf(judge), { model: resolved })).answers).toEqual({
      'Main/1': answers['Main/1'],
    })
    await ask(model, batchOf(judge), { model: resolved })
    expect(asked).toHaveLength(3)
    for (const body of asked.slice(1))
      expect([body['text'], body['output_config'], body['response_format']]).toEqual([
        undefined,
        undefined,
        undefined,
      ])
  })

  test('for one text alone are asked for as text, and streamed', async () => {
    const { asked } = await serve({ text: '\n We are sorry.\n\nIt comes soon. \n' })
    const pieces: TextPiece[] = []
    const result = await ask(model, batchOf(write), { onText: (piece) => pieces.push(piece) })
    const text = 'We are sorry.\n\nIt comes soon.'
    expect(result.answers).toEqual({ 'Main/3': { kind: 'write', text } })
    expect(pieces.length).toBeGreaterThan(2)
    expect(joined(pieces)).toBe(text)
    expect(pieces.every(({ questionId, anew }) => questionId === 'Main/3' && !anew)).toBe(true)
    expect(asked[0]!['stream']).toBe(true)
    expect(JSON.stringify(asked[0])).not.toContain('JSON Schema')
  })

  test('are streamed text by text out of a mixed answer', async () => {
    await serve(json(whole))
    const pieces: TextPiece[] = []
    const result = await ask(model, batchOf(judge, extract, write, match), {
      onText: (piece) => pieces.push(piece),
    })
    expect(result.answers).toEqual(answers)
    expect(pieces.length).toBeGreaterThan(2)
    expect(joined(pieces)).toBe(whole.q3)
    expect(new Set(pieces.map(({ questionId }) => questionId))).toEqual(new Set(['Main/3']))
  })

  test('are not streamed when none of them is for a text', async () => {
    const { asked } = await serve(json({ q1: whole.q1 }))
    await ask(model, batchOf(judge), { onText: () => expect.unreachable() })
    expect(asked[0]!['stream']).not.toBe(true)
  })

  test('whose stream breaks are asked anew, and what was shown is marked as void', async () => {
    const text = 'We are very sorry indeed that your parcel is late. '.repeat(40).trim()
    await serve({ text, faults: ['cut in the middle'] })
    const pieces: TextPiece[] = []
    const result = await ask(model, batchOf(write), { onText: (piece) => pieces.push(piece) })
    expect(result.answers['Main/3']).toEqual({ kind: 'write', text })
    const from = pieces.findIndex(({ anew }) => anew)
    expect(from).toBeGreaterThan(0)
    expect(joined(pieces.slice(from))).toBe(text)
    expect(pieces.length - from).toBeGreaterThan(5)
    expect(pieces.filter(({ anew }) => anew)).toHaveLength(1)
  })

  test('whose stream ends without an end have no answer', async () => {
    await serve({ text: 'We are sorry that your parcel is late.', faults: ['ends early'] })
    const failing = ask(model, batchOf(write), { onText: () => undefined, maxRetries: 0 })
    await expect(failing).rejects.toThrow(/before it was whole|without a finish/)
  })

  test('for a text that is cut off are asked for a shorter one', async () => {
    const { asked } = await serve({ text: 'Dear Mr', end: 'length' }, { text: 'Sorry.' })
    const pieces: TextPiece[] = []
    const result = await ask(model, batchOf(write), { onText: (piece) => pieces.push(piece) })
    expect(result.answers['Main/3']).toEqual({ kind: 'write', text: 'Sorry.' })
    expect(JSON.stringify(asked[1])).toContain('cut off')
    expect(pieces.map(({ text, anew }) => [text, anew])).toContainEqual(['Sorry.', true])
  })

  test('that are no longer wanted are given up, and asked of nobody after that', async () => {
    const controller = new AbortController()
    const wait: Fault = { status: 429, headers: { 'retry-after-ms': '30000' } }
    await serve({ text: 'x', faults: [wait] })
    const failing = ask(model, batchOf(write), { signal: controller.signal, onText: () => undefined })
    const reason = new Error('no more')
    setTimeout(() => controller.abort(reason), 100)
    await expect(failing).rejects.toBe(reason)
    const before = server!.asked.length
    await expect(ask(model, batchOf(write), { signal: controller.signal })).rejects.toBe(reason)
    expect(server!.asked).toHaveLength(before)
  })
})
