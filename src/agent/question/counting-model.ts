import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'
import type { Question } from '../../run/program/question.ts'
import { questionsOf } from './asked-questions.ts'

/** One request to a model. */
export interface CountedRequest {
  /** What it asked; empty for a turn of an agent. */
  readonly questions: readonly { readonly id: string; readonly kind: Question['kind'] }[]
  readonly promptTokens: number
  readonly completionTokens: number
  /** The model did not say how many tokens there were: they are estimated from the characters. */
  readonly estimated: boolean
}

/** A model that counts, and what it has counted so far. Requests that failed are counted too, with what was sent. */
export interface CountingModel {
  readonly model: LanguageModelV4
  readonly requests: readonly CountedRequest[]
}

/** Roughly how many characters a token of English text has. */
const charactersPerToken = 4

/** Wraps a model so that every request is counted; it asks and answers as before. */
export function countingModel(inner: LanguageModelV4): CountingModel {
  const requests: CountedRequest[] = []
  const begin = (options: LanguageModelV4CallOptions) => {
    const at = requests.length
    const questions = (questionsOf(options.prompt)?.asked ?? []).map(({ question: { id, kind } }) => ({
      id,
      kind,
    }))
    const sent = JSON.stringify([options.prompt, options.tools ?? []]).length
    const count = (said: number, usage?: LanguageModelV4Usage) => {
      const [prompt, completion] = [usage?.inputTokens.total ?? 0, usage?.outputTokens.total ?? 0]
      const estimated = prompt === 0
      requests[at] = {
        questions,
        promptTokens: estimated ? Math.ceil(sent / charactersPerToken) : prompt,
        completionTokens: estimated ? Math.ceil(said / charactersPerToken) : completion,
        estimated,
      }
    }
    count(0)
    return count
  }
  const model: LanguageModelV4 = {
    specificationVersion: inner.specificationVersion,
    provider: inner.provider,
    modelId: inner.modelId,
    supportedUrls: inner.supportedUrls,
    async doGenerate(options) {
      const count = begin(options)
      const result = await inner.doGenerate(options)
      count(JSON.stringify(result.content).length, result.usage)
      return result
    },
    async doStream(options) {
      const count = begin(options)
      const result = await inner.doStream(options)
      let said = 0
      const watch = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform(part, controller) {
          if ('delta' in part) said += part.delta.length
          if (part.type === 'finish') count(said, part.usage)
          controller.enqueue(part)
        },
      })
      return { ...result, stream: result.stream.pipeThrough(watch) }
    },
  }
  return { model, requests }
}
