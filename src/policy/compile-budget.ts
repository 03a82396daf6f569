import { unjudged, type PolicyRule, type Utterance } from './policy-rule.ts'
import type { Spent } from './policy-request.ts'
import type { PolicyFile } from './policy-schema.ts'
import type { Situation } from './situation.ts'

/** The name of a budget in a policy file. */
export type BudgetKey = keyof PolicyFile['budgets']

const meaning: Readonly<Record<BudgetKey, { of: 'run' | 'day'; what: keyof Spent; unit: string }>> = {
  max_cost_per_run_usd: { of: 'run', what: 'cost_usd', unit: 'dollars' },
  max_tokens_per_run: { of: 'run', what: 'tokens', unit: 'tokens' },
  max_calls_per_run: { of: 'run', what: 'calls', unit: 'calls' },
  max_minutes_per_run: { of: 'run', what: 'minutes', unit: 'minutes' },
  max_cost_per_day_usd: { of: 'day', what: 'cost_usd', unit: 'dollars' },
  max_tokens_per_day: { of: 'day', what: 'tokens', unit: 'tokens' },
  max_calls_per_day: { of: 'day', what: 'calls', unit: 'calls' },
}

/** Says whether a rule is a budget of a day, by its name. */
export function isDayBudget(rule: string): boolean {
  const key = rule.replace(/^budgets\./, '')
  return key !== rule && Object.hasOwn(meaning, key) && meaning[key as BudgetKey].of === 'day'
}

/** How a budget speaks: once it is used up. */
export function compileBudget(key: BudgetKey, most: number): Pick<PolicyRule, 'speak' | 'silence'> {
  const { of, what, unit } = meaning[key]
  const spentIn = ({ facts }: Situation): unknown => facts.spent?.[of]?.[what]
  return {
    speak(situation): Utterance | null {
      const spent = spentIn(situation)
      if (typeof spent !== 'number' || !Number.isFinite(spent)) {
        return unjudged(`budgets.${key}`, `nobody counted the ${unit} of the ${of}`)
      }
      if (spent < most) return null
      const reason = `${spent} of ${most} ${unit} of the ${of} are spent`
      return { verdict: 'deny', code: 'policy_budget', reason }
    },
    silence: (situation) => `${String(spentIn(situation))} of ${most} ${unit} of the ${of} are spent`,
  }
}
