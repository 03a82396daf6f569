import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from '@ai-sdk/provider'

/** What is answered to a question, and what it is to have cost. */
export interface Answer {
  readonly content: readonly LanguageModelV4Content[]
  readonly promptTokens?: number
  readonly completionTokens?: number
}

/** Makes a model of the AI SDK from a function that answers, whole or as a stream. */
export function answeringModel(
  name: { readonly provider: string; readonly modelId: string },
  answer: (options: LanguageModelV4CallOptions) => Promise<Answer>,
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    ...name,
    supportedUrls: {},
    async doGenerate(options) {
      const given = await answer(options)
      return { content: [...given.content], ...ending(given), warnings: [] }
    },
    async doStream(options) {
      const given = await answer(options)
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] })
            for (const [index, part] of given.content.entries()) {
              if (part.type !== 'text') {
                controller.enqueue(part as never)
                continue
              }
              const id = String(index)
              controller.enqueue({ type: 'text-start', id })
              for (const delta of part.text.split(/(?<=\s)/))
                controller.enqueue({ type: 'text-delta', id, delta })
              controller.enqueue({ type: 'text-end', id })
            }
            controller.enqueue({ type: 'finish', ...ending(given) })
            controller.close()
          },
        }),
      }
    },
  }
}

function ending({ content, promptTokens = 0, completionTokens = 0 }: Answer) {
  const calls = content.some((part) => part.type === 'tool-call')
  return {
    finishReason: { unified: calls ? ('tool-calls' as const) : ('stop' as const), raw: undefined },
    usage: {
      inputTokens: {
        total: promptTokens,
        noCache: promptTokens,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: completionTokens, text: completionTokens, reasoning: undefined },
    },
  }
}
