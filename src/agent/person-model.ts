import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { readCallLine } from '../tool/read-call-line.ts'
import { answeringModel } from './answering-model.ts'

/** Where a person is asked. */
export interface PersonStreams {
  readonly input: Readable
  readonly output: Writable
}

const usage =
  'Type a call, such as lookup_order order_id=ORD-42, or your answer in quotation marks, such as "All done."'

/** A model that is the person at the terminal: every question a model would get is put to them, so no key is needed. */
export function createPersonModel(
  streams: PersonStreams = { input: process.stdin, output: process.stdout },
): LanguageModelV4 {
  const lines = createInterface({ input: streams.input })[Symbol.asyncIterator]()
  const write = (text: string) => streams.output.write(visible(text))
  let calls = 0
  let asked = 0
  return answeringModel({ provider: 'person', modelId: 'me' }, async (options) => {
    const tools = (options.tools ?? []).map(describeTool).join(', ') || 'none'
    // Said once: who reads it before every line no longer sees what changes.
    write(`\n${lastMessages(options)}\nTools: ${tools}\n${asked++ === 0 ? `${usage}\n` : ''}> `)
    for (;;) {
      const { value, done } = await unlessAborted(lines.next(), options.abortSignal)
      if (done === true) throw new LockstepError('usage', 'The input ended before the run did.')
      const part = readAnswer(value.trim(), `me-${calls + 1}`)
      if (typeof part !== 'string') {
        calls++
        return { content: [part] }
      }
      write(`${part}\n> `)
    }
  })
}

/** What a typed line means: an answer, a call, or (a text) what is wrong with it. */
function readAnswer(line: string, callId: string): LanguageModelV4Content | string {
  if (line === '') return usage
  if (/^".*"$/s.test(line)) return { type: 'text', text: line.slice(1, -1) }
  const call = readCallLine(line)
  if (typeof call === 'string') return call
  return { type: 'tool-call', toolCallId: callId, toolName: call.tool, input: JSON.stringify(call.args) }
}

/** A tool with the names of what it takes; those it can do without stand in brackets. */
function describeTool(tool: NonNullable<LanguageModelV4CallOptions['tools']>[number]): string {
  const { properties = {}, required = [] } = tool.type === 'function' ? tool.inputSchema : {}
  const names = Object.keys(properties).map((name) => (required.includes(name) ? `${name}=` : `[${name}=]`))
  return [tool.name, ...names].join(' ')
}

/** The end of the conversation, as far as a person needs it to go on. */
function lastMessages(options: LanguageModelV4CallOptions): string {
  const texts = options.prompt.slice(-2).flatMap((message) => {
    if (typeof message.content === 'string') return [message.content]
    return message.content.map((part) => {
      if ('text' in part) return part.text
      return part.type === 'tool-result' ? describeResult(part.output) : ''
    })
  })
  // The mark tells a model who is speaking; a person sees that.
  return texts
    .map((text) => text.replace(/^\[procedure\]\n/, ''))
    .filter((text) => text !== '')
    .join('\n')
}

/** What became of a call; of a refusal, what it says in words. */
function describeResult(output: LanguageModelV4ToolResultOutput): string {
  if (output.type === 'execution-denied') return `refused: ${output.reason ?? 'no reason was given'}`
  const { value } = output
  if (output.type === 'error-json' && typeof value === 'object' && value !== null && 'message' in value) {
    return `refused: ${String(value['message'])}`
  }
  return `${output.type.startsWith('error') ? 'error' : 'result'}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
}

/** A text as it may reach a terminal: what a tool said must not speak to it. */
function visible(text: string): string {
  return text.split('\n').map(escapeControl).join('\n')
}

/** A person may never answer, and a cancelled run does not wait for them. */
function unlessAborted<Value>(waiting: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return waiting
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    waiting.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
