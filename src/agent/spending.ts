import type { AgentBudget } from './agent-options.ts'
import { costOf, type Price } from './price-table.ts'

/** What a run has spent, and how much it may. */
export class Spending {
  promptTokens = 0
  completionTokens = 0
  modelMs = 0
  toolMs = 0
  readonly #budget: AgentBudget
  readonly #price: Price | null

  constructor(budget: AgentBudget, price: Price | null) {
    this.#budget = budget
    this.#price = price
  }

  /** In US dollars; null where the price is not known. */
  get cost(): number | null {
    return this.#price === null ? null : costOf(this.#price, this.promptTokens, this.completionTokens)
  }

  /** Why nothing more may be spent, or null. */
  exceeded(): string | null {
    const { tokens, dollars } = this.#budget
    const used = this.promptTokens + this.completionTokens
    if (tokens !== undefined && used >= tokens) return `the budget of ${tokens} tokens is used up (${used})`
    if (dollars !== undefined && this.cost !== null && this.cost >= dollars) {
      return `the budget of $${dollars} is used up ($${this.cost.toFixed(4)})`
    }
    return null
  }

  /** The most tokens the next answer may have, so that it alone cannot exceed the budget; null for no limit. */
  allowance(maxTokens: number | null): number | null {
    const limits = maxTokens === null ? [] : [maxTokens]
    const { tokens, dollars } = this.#budget
    if (tokens !== undefined) limits.push(Math.max(1, tokens - this.promptTokens - this.completionTokens))
    if (dollars !== undefined && this.#price !== null && this.#price.output > 0) {
      limits.push(Math.max(1, Math.floor(((dollars - (this.cost ?? 0)) / this.#price.output) * 1_000_000)))
    }
    return limits.length === 0 ? null : Math.min(...limits)
  }
}
