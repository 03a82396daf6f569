import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
} from '@ai-sdk/provider'
import type { Json } from '../shared/json.ts'
import { toJson } from '../shared/to-json.ts'
import type { TokenUsage } from './token-usage.ts'

/** What a model is asked. */
export interface ModelQuestion {
  readonly model: LanguageModelV4
  readonly prompt: readonly LanguageModelV4Message[]
  readonly tools: readonly LanguageModelV4FunctionTool[]
  /** The name of a tool that the service means by one of its names. */
  readonly decode: (name: string) => string
  readonly maxTokens: number | null
  readonly maxRetries: number
  readonly signal: AbortSignal
  /** Receives the text as it comes; asking for it makes the model stream. An answer that broke off begins anew. */
  readonly onText: ((text: string) => void) | null
  /** Told what the question itself took, without what was asked once more. */
  readonly onUsage?: (usage: TokenUsage) => void
}

/** The question as the provider's interface takes it. */
export function callOptions({
  prompt,
  tools,
  maxTokens,
  signal,
}: Pick<ModelQuestion, 'prompt' | 'tools' | 'maxTokens' | 'signal'>): LanguageModelV4CallOptions {
  const offered = tools.length === 0 ? {} : { tools: [...tools], toolChoice: { type: 'auto' as const } }
  const limit = maxTokens === null ? {} : { maxOutputTokens: maxTokens }
  return { prompt: prompt.map(copyMessage), abortSignal: signal, ...offered, ...limit }
}

/** Middleware may write into what it is given; the conversation is kept for the next question, and stays as it was said. */
function copyMessage(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role === 'system') return { ...message }
  return { ...message, content: message.content.map((part) => ({ ...part })) } as LanguageModelV4Message
}

/** The arguments of a call, frozen; what is no JSON stays the text that it is. */
export function readArguments(input: string): Json {
  if (input.trim() === '') return {}
  try {
    const reading = toJson(JSON.parse(input))
    // Null would pass for no arguments at all, which is not what the model said.
    return reading.problem === null ? (reading.value ?? input) : input
  } catch {
    return input
  }
}
