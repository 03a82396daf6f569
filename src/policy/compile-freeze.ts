import { invariant } from '../shared/lockstep-error.ts'
import type { PolicyRule } from './policy-rule.ts'
import type { FreezeFile } from './policy-schema.ts'
import { isWithin, readOnce, readWeekly, type TimeWindow } from './time-window.ts'

/** The period of a freeze that has been checked. */
export function windowOf(entry: FreezeFile): TimeWindow {
  const period =
    entry.weekly === undefined ? readOnce(entry.from ?? '', entry.to ?? '') : readWeekly(entry.weekly)
  invariant('kind' in period, 'unchecked period')
  return period
}

/** How a freeze speaks: while its period lasts. */
export function compileFreeze(entry: FreezeFile): Pick<PolicyRule, 'speak' | 'silence'> {
  const period = windowOf(entry)
  const described = describeWindow(entry)
  const said = {
    verdict: entry.then === 'block' ? 'deny' : 'needs_approval',
    code: 'policy_freeze',
    reason: entry.message ?? `frozen ${described}`,
  } as const
  return {
    speak: ({ facts }) => (isWithin(period, facts.now) ? said : null),
    silence: () => `it is not the time: ${described}`,
  }
}

function describeWindow({ weekly, from, to }: FreezeFile): string {
  if (weekly === undefined) return `from ${from} to ${to}`
  const days = weekly.days === undefined ? 'every week' : `every ${weekly.days.join(', ')}`
  return `${days} from ${weekly.from} to ${weekly.to} ${weekly.offset === 'Z' ? 'UTC' : weekly.offset}`
}
