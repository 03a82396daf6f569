import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { messageOf } from '../../shared/message-of.ts'
import { batchSchema, countOptional, isClosed } from './answer-schema.ts'
import type { AskedQuestions } from './asked-questions.ts'

type Format = Pick<LanguageModelV4CallOptions, 'responseFormat' | 'providerOptions'>

/** Anthropic holds a model to at most this many values that may be absent. */
const mostOptional = 16

/**
 * The shape of the answer as a service is told of it; nothing for a plain text. A shape that a service could not hold a model to is sent
 * as a description of one, since services refuse it otherwise.
 */
export function responseFormat({ asked, form }: AskedQuestions): Format {
  if (form === 'text') return {}
  const schema = batchSchema(asked) as NonNullable<
    Extract<LanguageModelV4CallOptions['responseFormat'], { type: 'json' }>['schema']
  >
  const loose = !isClosed(asked)
  const openai = loose ? { openai: { strictJsonSchema: false } } : {}
  const anthropic =
    loose || countOptional(asked) > mostOptional ? { anthropic: { structuredOutputMode: 'jsonTool' } } : {}
  return {
    responseFormat: { type: 'json', name: 'answers', schema },
    providerOptions: { ...openai, ...anthropic },
  }
}

/** Whether a service turned the request away because of the shape that the answer was to have. */
export function isFormatRefused(error: unknown): boolean {
  const { statusCode, responseBody } = (
    isCallError(error) ? error : ((error as Error | null)?.cause ?? {})
  ) as CallError
  if (statusCode !== 400 && statusCode !== 422) return false
  const said = `${messageOf(error)} ${typeof responseBody === 'string' ? responseBody : ''}`
  return /response_?format|json_?schema|json_?object|output_config|structured.?output|schema|tool_choice/i.test(
    said,
  )
}

type CallError = { readonly statusCode?: unknown; readonly responseBody?: unknown }

function isCallError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'statusCode' in error
}
