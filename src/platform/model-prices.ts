import { listPrices, priceLists, type PriceTable } from '../agent/price-table.ts'
import type { LlmSettings } from '../source/settings.ts'
import type { ModelList } from './platform.ts'

/** What the model costs that is asked, where the settings say other than the list. */
export function pricesOf({ model, price, costModel }: LlmSettings): PriceTable {
  const id = model.replace(/^[^:]*:/, '').replace(/@https?:.*$/, '')
  const listed = costModel !== null && Object.hasOwn(listPrices, costModel) ? listPrices[costModel]! : null
  const own = price ?? listed
  return own === null ? {} : { [id]: own }
}

/** The model that runs use, and what models cost. */
export function modelsOf(llm: LlmSettings): ModelList {
  const own = Object.entries(pricesOf(llm)).map(([model, { input, output }]) => ({
    model,
    inputUsd: input,
    outputUsd: output,
    source: 'the settings of this server',
  }))
  const listed = priceLists.flatMap(({ prices, source, asOf }) =>
    Object.entries(prices).map(([model, { input, output }]) => ({
      model,
      inputUsd: input,
      outputUsd: output,
      source: `${source}, ${asOf}`,
    })),
  )
  return { current: llm.model, prices: [...own, ...listed] }
}
