import { expect, test } from 'vitest'
import { readEventStream, type ServerEvent } from './event-stream.ts'

async function read(...chunks: readonly string[]) {
  const bytes = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(bytes.encode(chunk))
      controller.close()
    },
  })
  return await collect(body)
}

async function collect(body: ReadableStream<Uint8Array>) {
  const events: ServerEvent[] = []
  for await (const event of readEventStream(body)) events.push(event)
  return events
}

test('events are put together however the connection cuts them', async () => {
  const text = 'id: 7\nevent: tool.held\ndata: {"a":1}\n\n: still here\n\nid: 8\ndata: one\ndata: two\n\n'
  const whole = [
    { id: '7', event: 'tool.held', data: '{"a":1}' },
    { id: '8', event: 'message', data: 'one\ntwo' },
  ]
  expect(await read(text)).toEqual(whole)
  expect(await read(...text)).toEqual(whole)
})

test('an event that is cut off is not told', async () => {
  expect(await read('data: 1\n\ndata: 2')).toEqual([{ id: null, event: 'message', data: '1' }])
})

test('letters of several bytes survive being cut', async () => {
  const bytes = new TextEncoder().encode('data: é\n\n')
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
      controller.close()
    },
  })
  expect((await collect(body)).map(({ data }) => data)).toEqual(['é'])
})
