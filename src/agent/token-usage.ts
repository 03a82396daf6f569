import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Usage,
} from '@ai-sdk/provider'

/** Tokens sent and tokens said. */
export interface TokenCount {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** What answers took as their service says and, where it does not say, what they took by estimate. */
export interface TokenUsage extends TokenCount {
  readonly estimated?: TokenCount
}

/** English has about four bytes for a token, most other texts fewer: better too many tokens than too few. */
const bytesPerToken = 3

/** What an answer took. A number that is none counts as not said, and is estimated from what was sent and what came back. */
export function readUsage(
  usage: LanguageModelV4Usage | undefined,
  sent: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>,
  said: readonly LanguageModelV4Content[],
): TokenUsage {
  const prompt = readCount(usage?.inputTokens?.total)
  const completion = readCount(usage?.outputTokens?.total)
  const reported = { promptTokens: prompt ?? 0, completionTokens: completion ?? 0 }
  if (prompt !== null && completion !== null) return reported
  return {
    ...reported,
    estimated: {
      promptTokens: prompt === null ? estimate([sent.prompt, sent.tools ?? []]) : 0,
      completionTokens: completion === null ? estimate(said) : 0,
    },
  }
}

/** What several answers took together. */
export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  const [first, second] = [one.estimated, other.estimated]
  const estimated = first === undefined ? second : second === undefined ? first : sum(first, second)
  return { ...sum(one, other), ...(estimated === undefined ? {} : { estimated }) }
}

function sum(one: TokenCount, other: TokenCount): TokenCount {
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
  }
}

/** Nothing at all. */
export const noUsage: TokenUsage = { promptTokens: 0, completionTokens: 0 }

function readCount(total: unknown): number | null {
  return typeof total === 'number' && Number.isFinite(total) && total >= 0 ? total : null
}

function estimate(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / bytesPerToken)
}
