import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
} from '@ai-sdk/provider'

/** What a model answered, whole. */
export type WholeAnswer = Pick<LanguageModelV4GenerateResult, 'content' | 'finishReason' | 'usage'>

/**
 * Reads a streamed answer to its end, handing its text on as it comes. Throws what broke it, the signal's reason if it was aborted, and
 * an error if it stops without an end: what came so far is then no answer.
 */
export async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const reader = stream.getReader()
  // A service that does not listen to the signal is left alone all the same.
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  const answer = new StreamedAnswer(onText)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return answer.whole()
      if (value.type === 'error') throw errorOf(value.error)
      answer.take(value)
    }
  } catch (error) {
    stop()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

type Growing = (LanguageModelV4Text | LanguageModelV4Reasoning) & { text: string }

class StreamedAnswer {
  readonly #onText: (text: string) => void
  readonly #content: LanguageModelV4Content[] = []
  readonly #growing = new Map<string, Growing>()
  #end: Omit<WholeAnswer, 'content'> | null = null

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const type = part.type === 'text-start' ? 'text' : 'reasoning'
        const growing: Growing = { type, text: '' }
        this.#growing.set(`${type} ${part.id}`, growing)
        this.#content.push(growing)
        this.#note(growing, part)
        break
      }
      case 'text-delta':
      case 'text-end':
        this.#grow(`text ${part.id}`, part)
        if (part.type === 'text-delta' && part.delta !== '') this.#onText(part.delta)
        break
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#grow(`reasoning ${part.id}`, part)
        break
      case 'tool-call':
      case 'tool-result':
      case 'tool-approval-request':
      case 'custom':
      case 'file':
      case 'reasoning-file':
      case 'source':
        this.#content.push(part)
        break
      case 'finish':
        this.#end = { finishReason: part.finishReason, usage: part.usage }
        break
      default:
      // The pieces of a call come again as a whole; the rest is about the connection.
    }
  }

  whole(): WholeAnswer {
    if (this.#end === null) throw new Error('its service ended the answer before it was whole')
    return { content: this.#content, ...this.#end }
  }

  #grow(key: string, part: { readonly delta?: string; readonly providerMetadata?: unknown }): void {
    const growing = this.#growing.get(key)
    if (growing === undefined) throw new Error('its service went on with a text that it had not begun')
    growing.text += part.delta ?? ''
    this.#note(growing, part)
  }

  #note(growing: Growing, { providerMetadata }: { readonly providerMetadata?: unknown }): void {
    if (providerMetadata !== undefined) Object.assign(growing, { providerMetadata })
  }
}

/** What a service sent in an error's place, as an error that says it. */
function errorOf(sent: unknown): Error {
  if (sent instanceof Error) return sent
  const { message } = (typeof sent === 'object' && sent !== null ? sent : {}) as { message?: unknown }
  return new Error(typeof message === 'string' ? message : (JSON.stringify(sent) ?? String(sent)))
}
