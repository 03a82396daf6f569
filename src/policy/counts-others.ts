import { isDayBudget } from './compile-budget.ts'
import type { CompiledPolicy } from './compile-policy.ts'

/** Says whether a policy asks what other runs did: by a limit over several runs, or a budget of a day. */
export function countsOthers({ counters, rules }: CompiledPolicy): boolean {
  return counters.some(({ scope }) => scope !== 'run') || rules.some(({ name }) => isDayBudget(name))
}
