import type { CompiledPolicy } from './compile-policy.ts'
import type { ApprovalDemand } from './decision.ts'
import type { PolicyRequest } from './policy-request.ts'
import { readSituation } from './situation.ts'

/** An approval that calls of a tool will need, or may need where a condition decides. */
export interface ExpectedDemand {
  readonly demand: ApprovalDemand
  readonly certain: boolean
}

/** What is not known before a call is made matters to no rule that is asked here. */
const nothingKnown = {
  now: 0,
  principal: { id: 'somebody', kind: 'local', roles: [] },
  mode: 'execute',
  inputs: {},
  context: {},
  past: null,
  counters: {},
  spent: null,
  breakGlass: null,
} as const

/**
 * The approvals that policies ask for whenever a tool is called in a step, as far as that can be told before anybody calls it: from
 * `approvals`, `preconditions` and the default for the risk. Freeze windows and limits depend on the time, and are left out.
 */
export function expectedDemands(
  policies: readonly CompiledPolicy[],
  call: Pick<PolicyRequest, 'tool' | 'step' | 'risk'>,
): readonly ExpectedDemand[] {
  const situation = readSituation({ ...call, args: {}, target: null }, nothingKnown)
  if (typeof situation === 'string') return []
  return policies.flatMap((policy) => {
    const found: ExpectedDemand[] = []
    let fallback: { readonly rule: string; readonly certain: boolean } | null = null
    let spoke: 'no' | 'perhaps' | 'yes' = 'no'
    for (const { section, step, risks, when, name, speak } of policy.rulesFor(call.tool)) {
      if (step !== null && step !== call.step) continue
      if (risks !== null && !risks.has(situation.risk)) continue
      if (section !== 'approvals' && section !== 'preconditions' && section !== 'risk') continue
      if (section !== 'approvals' && spoke === 'yes') continue
      const certain = when === null && (section === 'approvals' || spoke === 'no')
      const said = speak(situation)
      if (section === 'preconditions') spoke = when === null ? 'yes' : 'perhaps'
      if (said?.verdict !== 'needs_approval') continue
      if (said.demand !== undefined) found.push({ demand: said.demand, certain })
      else if (fallback === null || (certain && !fallback.certain)) fallback = { rule: name, certain }
    }
    // Where an entry of `approvals` says what it takes, nothing else does; where one only may, the defaults may too.
    if (fallback !== null && !found.some(({ certain }) => certain))
      found.push({
        demand: policy.defaultDemand(fallback.rule),
        certain: fallback.certain && found.length === 0,
      })
    return found
  })
}
