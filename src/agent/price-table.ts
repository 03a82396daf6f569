import { LockstepError } from '../shared/lockstep-error.ts'

/** What a model costs, in US dollars for a million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
}

/** Prices by model id. */
export type PriceTable = Readonly<Record<string, Price>>

/** What a vendor asks, with the place and the day to which that goes back. */
export interface PriceList {
  readonly vendor: string
  /** Where the vendor publishes it. */
  readonly source: string
  /** The month of which the prices are, as `YYYY-MM`. */
  readonly asOf: string
  readonly prices: PriceTable
}

/**
 * List prices of common models, without discounts for caching or batches, each list with its source and its month. Prices change, so
 * check them and pass `prices` where it matters.
 */
export const priceLists: readonly PriceList[] = [
  {
    vendor: 'OpenAI',
    source: 'https://developers.openai.com/api/docs/pricing',
    asOf: '2025-12',
    prices: {
      'gpt-5': { input: 1.25, output: 10 },
      'gpt-5-mini': { input: 0.25, output: 2 },
      'gpt-5-nano': { input: 0.05, output: 0.4 },
      'gpt-4.1': { input: 2, output: 8 },
      'gpt-4.1-mini': { input: 0.4, output: 1.6 },
      'gpt-4o': { input: 2.5, output: 10 },
      'gpt-4o-mini': { input: 0.15, output: 0.6 },
    },
  },
  {
    vendor: 'Anthropic',
    source: 'https://platform.claude.com/docs/en/about-claude/pricing',
    asOf: '2025-12',
    prices: {
      'claude-opus-4-5': { input: 5, output: 25 },
      'claude-opus-4-1': { input: 15, output: 75 },
      'claude-sonnet-4-5': { input: 3, output: 15 },
      'claude-haiku-4-5': { input: 1, output: 5 },
    },
  },
]

/** All of them by model id. */
export const listPrices: PriceTable = Object.assign({}, ...priceLists.map(({ prices }) => prices))

/** The price of a model, dated versions included (`gpt-4o-2024-11-20`); null if it is not known, never zero. */
export function priceOf(modelId: string, own: PriceTable): Price | null {
  const table = { ...listPrices, ...own }
  if (Object.hasOwn(table, modelId)) return table[modelId]!
  const undated = modelId.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '')
  return Object.hasOwn(table, undated) ? table[undated]! : null
}

/** Throws `usage` for prices that are none: below nothing, no numbers, one of the two missing. */
export function checkPrices(prices: unknown): void {
  if (prices === undefined) return
  if (typeof prices !== 'object' || prices === null || Array.isArray(prices))
    throw new LockstepError('usage', 'prices must say by model id what a model costs.')
  for (const [model, price] of Object.entries(prices as Readonly<Record<string, unknown>>)) {
    const { input, output, ...others } = (
      typeof price === 'object' && price !== null ? price : {}
    ) as Readonly<Record<string, unknown>>
    const sound = [input, output].every(
      (each) => typeof each === 'number' && Number.isFinite(each) && each >= 0,
    )
    if (sound && Object.keys(others).length === 0) continue
    throw new LockstepError('usage', `The price of ${model} is none.`, {
      hint: `Write prices: { '${model}': { input: …, output: … } }, in dollars for a million tokens, 0 or more.`,
    })
  }
}

/** What so many tokens cost. */
export function costOf(price: Price, promptTokens: number, completionTokens: number): number {
  return (price.input * promptTokens + price.output * completionTokens) / 1_000_000
}

/** Throws `unpriced_model` if a budget in dollars is set for a model whose price is not known. */
export function checkBudget(dollars: number | null, price: Price | null, modelId: string): void {
  if (dollars === null || price !== null) return
  throw new LockstepError(
    'unpriced_model',
    `A budget in dollars needs the price of ${modelId}, which is not known.`,
    {
      hint: `Pass prices: { '${modelId}': { input: …, output: … } } in dollars for a million tokens, or a budget in tokens.`,
    },
  )
}
