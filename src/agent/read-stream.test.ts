import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { readStream } from './read-stream.ts'

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
}
const finish: LanguageModelV4StreamPart = {
  type: 'finish',
  usage,
  finishReason: { unified: 'stop', raw: 'stop' },
}

function read(parts: readonly LanguageModelV4StreamPart[], told: string[] = []) {
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
  return readStream(stream, (text) => told.push(text), new AbortController().signal)
}

describe('a streamed answer', () => {
  test('is put together in the order in which its parts began, and its text is told as it comes', async () => {
    const told: string[] = []
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{}' } as const
    const { content } = await read(
      [
        { type: 'stream-start', warnings: [] },
        { type: 'reasoning-start', id: '1' },
        { type: 'text-start', id: '1' },
        { type: 'reasoning-delta', id: '1', delta: 'Hm' },
        { type: 'text-delta', id: '1', delta: 'Wait' },
        { type: 'text-delta', id: '1', delta: '' },
        { type: 'text-delta', id: '1', delta: '.' },
        { type: 'reasoning-end', id: '1', providerMetadata: { anthropic: { signature: 's' } } },
        { type: 'text-end', id: '1' },
        { type: 'ping' },
        call,
        finish,
      ],
      told,
    )
    expect(content).toEqual([
      { type: 'reasoning', text: 'Hm', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'text', text: 'Wait.' },
      call,
    ])
    expect(told).toEqual(['Wait', '.'])
  })

  test('is none if it stops without an end', async () => {
    const parts: LanguageModelV4StreamPart[] = [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'It is' },
    ]
    await expect(read(parts)).rejects.toThrow('before it was whole')
  })

  test('is none if it breaks, and what broke it is said whatever the service sent', async () => {
    const broken = (error: unknown) => read([{ type: 'error', error }, finish])
    await expect(broken({ type: 'overloaded_error', message: 'Overloaded' })).rejects.toThrow('Overloaded')
    await expect(broken(new Error('cut'))).rejects.toThrow('cut')
    await expect(broken({ odd: 1 })).rejects.toThrow('{"odd":1}')
  })

  test('is left alone when the run is cancelled, though its service goes on', async () => {
    const controller = new AbortController()
    let cancelled = false
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      cancel() {
        cancelled = true
      },
    })
    setTimeout(() => controller.abort(new Error('enough')), 5)
    await expect(readStream(stream, () => undefined, controller.signal)).rejects.toThrow('enough')
    expect(cancelled).toBe(true)
  })
})
