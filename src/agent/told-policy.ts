import type { Journal } from '../journal/journal.ts'
import type { EnforcerOptions } from '../tool/enforcer-options.ts'
import type { PolicySetup } from '../tool/policy-guard.ts'
import type { Spending } from './spending.ts'

/** The policies of a run, told what it has spent and, where its journal counts, what all runs of the tenant did. */
export function toldPolicy(
  policy: PolicySetup | undefined,
  spending: Spending,
  journal: Journal | null,
  tenant: string,
): Pick<EnforcerOptions, 'policy'> {
  if (policy === undefined) return {}
  const spent = () => {
    const { tokens, charged } = spending
    return { run: charged === null ? { tokens } : { cost_usd: charged, tokens }, day: {} }
  }
  const ledger = journal?.ledger
  const shared = ledger === undefined ? undefined : { ledger, tenant }
  return { policy: { shared, ...policy, spent: policy.spent ?? spent } }
}
