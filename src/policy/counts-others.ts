import { isDayBudget } from './compile-budget.ts'
import type { CompiledPolicy } from './compile-policy.ts'

const known = new WeakMap<CompiledPolicy, boolean>()

/** Says whether a policy asks what other runs did: by a limit over several runs, or a budget of a day. */
export function countsOthers(policy: CompiledPolicy): boolean {
  let counts = known.get(policy)
  if (counts === undefined) {
    const { counters, rules } = policy
    counts = counters.some(({ scope }) => scope !== 'run') || rules.some(({ name }) => isDayBudget(name))
    known.set(policy, counts)
  }
  return counts
}
