import type { AgentBudget } from './agent-options.ts'
import { checkBudget, costOf, type Price } from './price-table.ts'
import type { TokenUsage } from './token-usage.ts'

/** What was spent on a run's account, all models together. */
export interface Spent {
  readonly promptTokens: number
  readonly completionTokens: number
  /** In US dollars; null where it is not known. */
  readonly cost: number | null
  /** Where a service did not say what it used: so many tokens more by estimate, and what budgets are charged in all. */
  readonly estimated?: { readonly tokens: number; readonly charged: number | null }
}

/** What a run and those below it have spent, and how much they may. */
export class Spending {
  modelMs = 0
  toolMs = 0
  #promptTokens = 0
  #completionTokens = 0
  /** Tokens that no service told of. */
  #estimatedTokens = 0
  /** In US dollars; null as soon as somebody spent at a price that is not known, or did not say how much. */
  #cost: number | null = 0
  /** The same with estimates in the place of what was not said: a budget does not stand still because a service is silent. */
  #charged: number | null = 0
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

  get estimatedTokens(): number {
    return this.#estimatedTokens
  }

  /** All tokens, estimated ones included. */
  get tokens(): number {
    return this.#promptTokens + this.#completionTokens + this.#estimatedTokens
  }

  /** In US dollars; null where a price is not known, or a service did not say what it used. */
  get cost(): number | null {
    return this.#price === null ? null : this.#cost
  }

  /** What budgets are charged, in US dollars; null where a price is not known. */
  get charged(): number | null {
    return this.#price === null ? null : this.#charged
  }

  /** Whether there is a budget, here or above. */
  get limited(): boolean {
    return this.#chain().some((each) => Object.values(each.#budget).some((limit) => limit !== undefined))
  }

  /** What was spent so far, for the record of the run above. */
  get spent(): Spent {
    const { promptTokens, completionTokens, cost, estimatedTokens: tokens, charged } = this
    const estimated = tokens === 0 ? {} : { estimated: { tokens, charged } }
    return { promptTokens, completionTokens, cost, ...estimated }
  }

  /** Counts what answers of this run's model took, here and above. What that is in dollars, by estimate where the service does not say; null without a price. */
  spend(usage: TokenUsage): number | null {
    const spent = this.#spentBy(usage)
    for (const each of this.#chain()) each.count(spent)
    return spent.estimated === undefined ? spent.cost : spent.estimated.charged
  }

  /** Counts what answers of this run's model took before it was taken up. */
  recall(usage: TokenUsage): void {
    this.count(this.#spentBy(usage))
  }

  /** Counts what was spent before or elsewhere on this run's account. */
  count({ promptTokens, completionTokens, cost, estimated }: Spent): void {
    this.#promptTokens += promptTokens
    this.#completionTokens += completionTokens
    this.#estimatedTokens += estimated?.tokens ?? 0
    this.#cost = add(this.#cost, cost)
    this.#charged = add(this.#charged, estimated === undefined ? cost : estimated.charged)
  }

  /** Why nothing more may be spent, or null. */
  exceeded(): string | null {
    const { tokens, dollars } = this.#budget
    const { tokens: used } = this
    if (tokens !== undefined && used >= tokens)
      return `the budget of ${tokens} tokens is used up (${this.#guess}${used})`
    if (dollars !== undefined && this.#charged === null) {
      return `the budget of $${dollars} cannot be kept: nobody knows what was spent`
    }
    if (dollars !== undefined && this.#charged !== null && this.#charged >= dollars) {
      return `the budget of $${dollars} is used up (${this.#guess}$${this.#charged.toFixed(4)})`
    }
    return this.#above?.exceeded() ?? null
  }

  /** Why the next question may not be asked that sends at least so many tokens, or null. */
  exceededBy(promptTokens: number): string | null {
    if (promptTokens === 0) return null
    for (const each of this.#chain()) {
      const { tokens, dollars } = each.#budget
      if (tokens !== undefined && each.tokens + promptTokens >= tokens) {
        return `the budget of ${tokens} tokens does not cover the next turn (${each.#guess}${each.tokens} used, and it would send at least ${promptTokens})`
      }
      const charge = this.#price === null ? 0 : costOf(this.#price, promptTokens, 0)
      if (dollars !== undefined && each.#charged !== null && each.#charged + charge >= dollars) {
        return `the budget of $${dollars} does not cover the next turn (${each.#guess}$${each.#charged.toFixed(4)} spent, and it would cost at least $${charge.toFixed(4)})`
      }
    }
    return null
  }

  /** The most tokens the next answer may have, so that no budget is exceeded where the question sends so many; null for no limit. */
  allowance(maxTokens: number | null, promptTokens = 0): number | null {
    const limits = maxTokens === null ? [] : [maxTokens]
    for (const each of this.#chain()) {
      const { tokens, dollars } = each.#budget
      if (tokens !== undefined) limits.push(Math.max(1, tokens - each.tokens - promptTokens))
      if (dollars !== undefined && this.#price !== null && this.#price.output > 0) {
        const left = dollars - (each.#charged ?? 0) - costOf(this.#price, promptTokens, 0)
        limits.push(Math.max(1, Math.floor((left / this.#price.output) * 1_000_000)))
      }
    }
    return limits.length === 0 ? null : Math.min(...limits)
  }

  #spentBy({ promptTokens, completionTokens, estimated }: TokenUsage): Spent {
    const price = this.#price
    const reported = { promptTokens, completionTokens }
    const cost = price === null ? null : costOf(price, promptTokens, completionTokens)
    if (estimated === undefined) return { ...reported, cost }
    const more = price === null ? null : costOf(price, estimated.promptTokens, estimated.completionTokens)
    const tokens = estimated.promptTokens + estimated.completionTokens
    return { ...reported, cost: null, estimated: { tokens, charged: add(cost, more) } }
  }

  get #guess(): string {
    return this.#estimatedTokens === 0 ? '' : 'by estimate, because its service does not say: '
  }
}

function add(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other
}
