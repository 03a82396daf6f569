import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../src/shared/json.ts'

/** How a service misbehaves before it answers. */
export type Fault =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'cut'
  | 'cut in the middle'
  | 'ends early'
  | 'garbage'

/** What the model behind the service answers, and what goes wrong before. */
export interface ServedTurn {
  readonly text?: string
  readonly calls?: readonly { readonly tool: string; readonly arguments: JsonObject | string }[]
  readonly faults?: readonly Fault[]
  /** The answer ends because it is too long, or because a filter stopped it. */
  readonly end?: 'length' | 'filter'
}

type Body = Readonly<Record<string, unknown>>
type Write = (event: JsonObject, name?: string) => void

/** A vendor's way of speaking: what it turns away, and how it says an answer, whole or in pieces. */
interface Wire {
  readonly problem: (body: Body, headers: IncomingMessage['headers']) => string | null
  readonly whole: (turn: ServedTurn, number: number) => JsonObject
  readonly stream: (turn: ServedTurn, number: number, write: Write) => void
}

const usage = { in: 100, out: 20 }
const toolName = /^[a-zA-Z0-9_-]{1,64}$/

/** What each vendor calls the ends that are none. */
const reasons = {
  length: { responses: 'max_output_tokens', messages: 'max_tokens', completions: 'length' },
  filter: { responses: 'content_filter', messages: 'refusal', completions: 'content_filter' },
} as const

function stopReason({ end, calls: made }: ServedTurn): string {
  if (end !== undefined) return reasons[end].messages
  return made === undefined ? 'end_turn' : 'tool_use'
}

function finishReason({ end, calls: made }: ServedTurn): string {
  if (end !== undefined) return reasons[end].completions
  return made === undefined ? 'stop' : 'tool_calls'
}

/** Why a service does not hold a model to this schema: it knows objects only whose members are all named, and all required. */
function looseSchema(schema: unknown, path = 'schema'): string | null {
  if (Array.isArray(schema)) return schema.reduce((found, each) => found ?? looseSchema(each, path), null)
  if (typeof schema !== 'object' || schema === null) return null
  const { type, properties, required, additionalProperties, items } = schema as Body
  if (type === undefined) return `${path} must have a 'type' key`
  const types = [type].flat()
  if (types.includes('object')) {
    if (additionalProperties !== false) return `${path}: 'additionalProperties' must be false`
    const names = Object.keys((properties ?? {}) as Body)
    if (String(names) !== String(required ?? [])) return `${path}: 'required' must name every property`
    for (const [name, held] of Object.entries((properties ?? {}) as Body)) {
      const problem = looseSchema(held, `${path}.${name}`)
      if (problem !== null) return problem
    }
  }
  return types.includes('array') ? looseSchema(items ?? {}, `${path}.items`) : null
}

function argumentsOf(given: JsonObject | string): string {
  return typeof given === 'string' ? given : JSON.stringify(given)
}

function calls(turn: ServedTurn, number: number) {
  return (turn.calls ?? []).map(({ tool, arguments: args }, index) => ({
    id: `call_${number}_${index + 1}`,
    tool,
    args: argumentsOf(args),
  }))
}

const responses: Wire = {
  problem(body, headers) {
    if (headers.authorization !== 'Bearer test-key') return 'Incorrect API key provided.'
    const names = ((body['tools'] ?? []) as Body[]).map((tool) => String(tool['name']))
    const bad = names.find((name) => !toolName.test(name))
    if (bad !== undefined) return `Invalid tool name ${bad}.`
    const format = ((body['text'] ?? {}) as Body)['format'] as Body | undefined
    const loose = format?.['strict'] === true ? looseSchema(format['schema']) : null
    if (loose !== null) return `Invalid schema for response_format 'answers': ${loose}.`
    const input = body['input'] as Body[]
    const answered = input
      .filter((item) => item['type'] === 'function_call_output')
      .map((item) => item['call_id'])
    const open = input.find((item) => item['type'] === 'function_call' && !answered.includes(item['call_id']))
    return open === undefined ? null : `No tool output found for function call ${String(open['call_id'])}.`
  },
  whole: (turn, number) => ({
    id: `resp_${number}`,
    object: 'response',
    created_at: 1,
    status: turn.end === undefined ? 'completed' : 'incomplete',
    incomplete_details: turn.end === undefined ? null : { reason: reasons[turn.end].responses },
    model: 'gpt-4o',
    output: responseItems(turn, number),
    usage: { input_tokens: usage.in, output_tokens: usage.out, total_tokens: usage.in + usage.out },
  }),
  stream(turn, number, write) {
    const response = { id: `resp_${number}`, object: 'response', created_at: 1, model: 'gpt-4o' }
    write({ type: 'response.created', response })
    for (const [index, item] of responseItems(turn, number).entries()) {
      const empty = item['type'] === 'message' ? { ...item, content: [] } : { ...item, arguments: '' }
      write({ type: 'response.output_item.added', output_index: index, item: empty })
      const [type, text] =
        item['type'] === 'message'
          ? ['response.output_text.delta', turn.text!]
          : ['response.function_call_arguments.delta', String(item['arguments'])]
      const place = { item_id: String(item['id']), output_index: index, content_index: 0 }
      for (const delta of text.match(/[^]{1,8}/g) ?? []) write({ type, ...place, delta })
      write({ type: 'response.output_item.done', output_index: index, item })
    }
    const type = turn.end === undefined ? 'response.completed' : 'response.incomplete'
    write({ type, response: responses.whole(turn, number) })
  },
}

function responseItems(turn: ServedTurn, number: number): JsonObject[] {
  const content = [{ type: 'output_text', text: turn.text ?? '', annotations: [] }]
  const message = { type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content }
  return [
    ...(turn.text === undefined ? [] : [message]),
    ...calls(turn, number).map(({ id, tool, args }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name: tool,
      arguments: args,
      status: 'completed',
    })),
  ]
}

const messages: Wire = {
  problem(body, headers) {
    if (headers['x-api-key'] !== 'test-key') return 'invalid x-api-key'
    if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required'
    const format = ((body['output_config'] ?? {}) as Body)['format'] as Body | undefined
    const loose = looseSchema(format?.['schema'])
    if (loose !== null) return `output_config.format.schema: ${loose}`
    const named = JSON.stringify(body['tools'] ?? []).matchAll(/"properties":\{"(.*?)"/g)
    if ([...named].some(([, name]) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name!)))
      return 'tools.0.custom.input_schema.properties: Property keys should match pattern'
    const history = body['messages'] as { role: string; content: Body[] }[]
    const blocks = history.flatMap(({ content }) => content)
    const uses = blocks.filter((block) => block['type'] === 'tool_use')
    if (uses.length > 0 && ((body['tools'] ?? []) as Body[]).length === 0)
      return 'Requests which have `tool_use` or `tool_result` blocks in messages must define tools.'
    if (uses.some((use) => typeof use['input'] !== 'object'))
      return 'tool_use.input: Input should be a valid dictionary'
    const turns = history.map(({ role }) => role)
    if (turns.some((role, index) => role === turns[index - 1])) return 'roles must alternate'
    const results = blocks
      .filter((block) => block['type'] === 'tool_result')
      .map((block) => block['tool_use_id'])
    const open = uses.find((use) => !results.includes(use['id']))
    return open === undefined
      ? null
      : `tool_use ids were found without tool_result blocks: ${String(open['id'])}`
  },
  whole: (turn, number) => ({
    ...messageHead(number),
    content: messageBlocks(turn, number),
    stop_reason: stopReason(turn),
    stop_sequence: null,
    usage: { input_tokens: usage.in, output_tokens: usage.out },
  }),
  stream(turn, number, write) {
    const message = { ...messageHead(number), content: [], stop_reason: null, stop_sequence: null }
    const start = { ...message, usage: { input_tokens: usage.in, output_tokens: 1 } }
    const send: Write = (event) => write(event, String(event['type']))
    send({ type: 'message_start', message: start })
    for (const [index, block] of messageBlocks(turn, number).entries()) {
      const text = block['type'] === 'text'
      const empty = text ? { ...block, text: '' } : { ...block, input: {} }
      send({ type: 'content_block_start', index, content_block: empty })
      const whole = text ? String(block['text']) : JSON.stringify(block['input'])
      for (const piece of whole.match(/[^]{1,8}/g) ?? []) {
        const delta = text
          ? { type: 'text_delta', text: piece }
          : { type: 'input_json_delta', partial_json: piece }
        send({ type: 'content_block_delta', index, delta })
      }
      send({ type: 'content_block_stop', index })
    }
    const stop_reason = stopReason(turn)
    send({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.out },
    })
    send({ type: 'message_stop' })
  },
}

function messageHead(number: number): JsonObject {
  return { type: 'message', id: `msg_${number}`, role: 'assistant', model: 'claude-sonnet-4-5' }
}

function messageBlocks(turn: ServedTurn, number: number): JsonObject[] {
  return [
    ...(turn.text === undefined ? [] : [{ type: 'text', text: turn.text }]),
    ...calls(turn, number).map(({ id, tool, args }) => ({
      type: 'tool_use',
      id,
      name: tool,
      input: JSON.parse(args) as JsonObject,
    })),
  ]
}

const completions: Wire = {
  problem(body) {
    const history = body['messages'] as {
      role: string
      tool_calls?: { id: string }[]
      tool_call_id?: string
    }[]
    const answered = history.map(({ tool_call_id }) => tool_call_id)
    const open = history.flatMap(({ tool_calls = [] }) => tool_calls).find(({ id }) => !answered.includes(id))
    return open === undefined ? null : `tool_call_ids did not have response messages: ${open.id}`
  },
  whole: (turn, number) => ({
    ...completionHead(number, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: turn.text ?? null, tool_calls: completionCalls(turn, number) },
        finish_reason: finishReason(turn),
      },
    ],
    usage: { prompt_tokens: usage.in, completion_tokens: usage.out, total_tokens: usage.in + usage.out },
  }),
  stream(turn, number, write) {
    const head = completionHead(number, 'chat.completion.chunk')
    const send = (delta: JsonObject, finish_reason: string | null = null) =>
      write({ ...head, choices: [{ index: 0, delta, finish_reason }] })
    send({ role: 'assistant', content: '' })
    for (const content of (turn.text ?? '').match(/[^]{1,8}/g) ?? []) send({ content })
    for (const [index, call] of completionCalls(turn, number).entries()) {
      const { name, arguments: args } = call.function
      send({ tool_calls: [{ ...call, index, function: { name, arguments: '' } }] })
      for (const piece of args.match(/[^]{1,8}/g) ?? [])
        send({ tool_calls: [{ index, function: { arguments: piece } }] })
    }
    send({}, finishReason(turn))
    const total = {
      prompt_tokens: usage.in,
      completion_tokens: usage.out,
      total_tokens: usage.in + usage.out,
    }
    write({ ...head, choices: [], usage: total })
  },
}

function completionHead(number: number, object: string): JsonObject {
  return { id: `chat_${number}`, object, created: 1, model: 'llama' }
}

function completionCalls(turn: ServedTurn, number: number) {
  return calls(turn, number).map(({ id, tool, args }) => ({
    id,
    type: 'function' as const,
    function: { name: tool, arguments: args },
  }))
}

const wires: Readonly<Record<string, Wire>> = {
  '/v1/responses': responses,
  '/v1/messages': messages,
  '/v1/chat/completions': completions,
}

/** A service that speaks the wire protocols of the vendors and plays these turns; `asked` are the bodies it was sent. */
export async function startModelServer(turns: readonly ServedTurn[]): Promise<{
  readonly url: string
  readonly asked: readonly Body[]
  close(): Promise<void>
}> {
  const asked: Body[] = []
  const faults = turns.map((turn) => [...(turn.faults ?? [])])
  let at = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const wire = wires[request.url ?? '']
    if (wire === undefined) return fail(response, 404, `no such path: ${request.url}`)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Body
    asked.push(body)
    const problem = wire.problem(body, request.headers)
    if (problem !== null) return fail(response, /key/.test(problem) ? 401 : 400, problem)
    const fault = faults[at]?.shift()
    const turn = turns[at]
    if (turn === undefined) return fail(response, 400, 'the script is over')
    if (fault === undefined) at++
    const stream = body['stream'] === true
    if (fault === 'cut') return void request.socket.destroy()
    if (fault === 'garbage')
      return void response.writeHead(200, typeFor(stream)).end('<!doctype html> oops {')
    if (typeof fault === 'object') return fail(response, fault.status, fault.body ?? 'fault', fault.headers)
    const text = stream ? streamed(wire, turn, at) : JSON.stringify(wire.whole(turn, at))
    response.writeHead(200, typeFor(stream))
    if (fault === undefined) return void response.end(text)
    if (fault === 'ends early') return void response.end(text.slice(0, text.length / 2))
    response.write(text.slice(0, text.length / 2), () => setTimeout(() => request.socket.destroy(), 20))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function typeFor(stream: boolean) {
  return { 'content-type': stream ? 'text/event-stream' : 'application/json' }
}

function streamed(wire: Wire, turn: ServedTurn, number: number): string {
  const lines: string[] = []
  wire.stream(turn, number, (event, name) =>
    lines.push(`${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`),
  )
  return `${lines.join('')}${wire === completions ? 'data: [DONE]\n\n' : ''}`
}

function fail(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ type: 'error', error: { type: 'error', code: null, param: null, message } }))
}
