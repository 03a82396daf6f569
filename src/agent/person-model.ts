import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from '@ai-sdk/provider'
import { LockstepError } from '../shared/lockstep-error.ts'
import { readCallLine } from '../tool/read-call-line.ts'
import { answeringModel } from './answering-model.ts'

/** Where a person is asked. */
export interface PersonStreams {
  readonly input: Readable
  readonly output: Writable
}

const usage = 'Type a call (lookup_order order_id=ORD-42), or your answer in quotation marks ("All done.").'

/** A model that is the person at the terminal: every question a model would get is put to them, so no key is needed. */
export function createPersonModel(
  streams: PersonStreams = { input: process.stdin, output: process.stdout },
): LanguageModelV4 {
  const lines = createInterface({ input: streams.input })[Symbol.asyncIterator]()
  let calls = 0
  return answeringModel({ provider: 'person', modelId: 'me' }, async (options) => {
    const tools = (options.tools ?? []).map(({ name }) => name).join(', ') || 'none'
    streams.output.write(`\n${lastMessages(options)}\nTools: ${tools}\n${usage}\n> `)
    for (;;) {
      const { value, done } = await unlessAborted(lines.next(), options.abortSignal)
      if (done === true) throw new LockstepError('usage', 'The input ended before the run did.')
      const part = readAnswer(value.trim(), `me-${calls + 1}`)
      if (typeof part !== 'string') {
        calls++
        return { content: [part] }
      }
      streams.output.write(`${part}\n> `)
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

/** The end of the conversation, as far as a person needs it to go on. */
function lastMessages(options: LanguageModelV4CallOptions): string {
  const texts = options.prompt.slice(-2).flatMap((message) => {
    if (typeof message.content === 'string') return [message.content]
    return message.content.map((part) => {
      if ('text' in part) return part.text
      return 'output' in part ? `result: ${JSON.stringify(part.output)}` : ''
    })
  })
  return texts.filter((text) => text !== '').join('\n')
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
