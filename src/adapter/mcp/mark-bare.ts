import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { isJsonObject, type Json } from '../../shared/json.ts'

const bare = 'lockstep/bare'

/** What is read of a message. */
interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly requestId?: string | number }
  readonly result?: Json
}

/**
 * Marks answers to calls that hold neither content nor data before the package reads them: it takes anything for an answer, and gives it
 * an empty content. Only for a client that is connected.
 */
export function markBare(client: Client): void {
  const { transport } = client
  const hear = transport?.onmessage
  if (transport === undefined || hear === undefined) return
  const calls = new Set<string | number>()
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    const { id, method, params } = message as Message
    if (method === 'tools/call' && id !== undefined) calls.add(id)
    if (method === 'notifications/cancelled') calls.delete(params?.requestId ?? '')
    await send(message, options)
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of the SDK has this and nothing else
  transport.onmessage = (message, extra) => {
    const { id, method, result } = message as Message
    const answers = method === undefined && id !== undefined && calls.delete(id)
    hear(answers && isBareResult(result) ? marked(message, result) : message, extra)
  }
}

/** Says whether the answer to a call was none. */
export function isBare(answer: CallToolResult): boolean {
  // oxlint-disable-next-line no-underscore-dangle -- the protocol's name for it
  return answer._meta?.[bare] === true
}

function isBareResult(result: Json | undefined): result is { readonly [key: string]: Json } {
  return isJsonObject(result) && result['content'] === undefined && result['structuredContent'] === undefined
}

function marked<Heard extends object>(message: Heard, result: { readonly [key: string]: Json }): Heard {
  const meta = isJsonObject(result['_meta']) ? result['_meta'] : {}
  return { ...message, result: { ...result, _meta: { ...meta, [bare]: true } } }
}
