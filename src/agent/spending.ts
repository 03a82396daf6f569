import type { AgentBudget } from './agent-options.ts'
import { checkBudget, costOf, type Price } from './price-table.ts'

/** What a run and those below it have spent, and how much they may. */
export class Spending {
  modelMs = 0
  toolMs = 0
  #promptTokens = 0
  #completionTokens = 0
  /** In US dollars; null as soon as somebody spent at a price that is not known. */
  #cost: number | null = 0
  readonly #budget: AgentBudget
  readonly #price: Price | null
  readonly #above: Spending | null

  /** Throws `unpriced_model` if somebody counts dollars, here or above, and the price of the model is not known. */
  constructor(budget: AgentBudget, price: Price | null, modelId: string, above: Spending | null = null) {
    this.#budget = budget
    this.#price = price
    this.#above = above
    for (const each of this.#chain()) checkBudget(each.#budget.dollars ?? null, price, modelId)
  }

  /** This one and those above it. */
  #chain(): Spending[] {
    return this.#above === null ? [this] : [this, ...this.#above.#chain()]
  }

  get promptTokens(): number {
    return this.#promptTokens
  }

  get completionTokens(): number {
    return this.#completionTokens
  }

  /** In US dollars; null where a price is not known. */
  get cost(): number | null {
    return this.#price === null ? null : this.#cost
  }

  /** Counts what an answer of this run's model took, here and above. */
  spend(promptTokens: number, completionTokens: number): void {
    const cost = this.#price === null ? null : costOf(this.#price, promptTokens, completionTokens)
    for (const each of this.#chain()) each.count(promptTokens, completionTokens, cost)
  }

  /** Counts what was spent before or elsewhere on this run's account. */
  count(promptTokens: number, completionTokens: number, cost: number | null): void {
    this.#promptTokens += promptTokens
    this.#completionTokens += completionTokens
    this.#cost = this.#cost === null || cost === null ? null : this.#cost + cost
  }

  /** What so many tokens of this run's model cost; null where the price is not known. */
  costOf(promptTokens: number, completionTokens: number): number | null {
    return this.#price === null ? null : costOf(this.#price, promptTokens, completionTokens)
  }

  /** Why nothing more may be spent, or null. */
  exceeded(): string | null {
    const { tokens, dollars } = this.#budget
    const used = this.#promptTokens + this.#completionTokens
    if (tokens !== undefined && used >= tokens) return `the budget of ${tokens} tokens is used up (${used})`
    if (dollars !== undefined && this.#cost !== null && this.#cost >= dollars) {
      return `the budget of $${dollars} is used up ($${this.#cost.toFixed(4)})`
    }
    return this.#above?.exceeded() ?? null
  }

  /** The most tokens the next answer may have, so that it alone cannot exceed a budget; null for no limit. */
  allowance(maxTokens: number | null): number | null {
    const limits = maxTokens === null ? [] : [maxTokens]
    for (const each of this.#chain()) {
      const { tokens, dollars } = each.#budget
      if (tokens !== undefined) limits.push(Math.max(1, tokens - each.#promptTokens - each.#completionTokens))
      if (dollars !== undefined && this.#price !== null && this.#price.output > 0) {
        const left = dollars - (each.#cost ?? 0)
        limits.push(Math.max(1, Math.floor((left / this.#price.output) * 1_000_000)))
      }
    }
    return limits.length === 0 ? null : Math.min(...limits)
  }
}
