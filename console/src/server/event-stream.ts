/** One event of a stream of server-sent events. */
export type ServerEvent = { readonly id: string | null; readonly event: string; readonly data: string }

/** Splits a stream of server-sent events into its events; an event that is cut off at the end is dropped. */
export async function* readEventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += value
      const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/)
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = readBlock(block)
        if (event !== null) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** An event from its lines; null for a comment, which only keeps the connection open. */
function readBlock(block: string): ServerEvent | null {
  let id: string | null = null
  let event = 'message'
  const data: string[] = []
  for (const line of block.split(/\r\n|\n|\r/)) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'id') id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 && event === 'message' ? null : { id, event, data: data.join('\n') }
}
