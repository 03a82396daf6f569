/**
 * What policies say, a second time: written from the reference page, on the file as it stands, without an index, without
 * compiling, by going through everything for every call.
 */
import { conditions, type RandomPolicy, type RandomSituation, type View } from './random-policy.ts'

export interface NaiveDecision {
  readonly verdict: 'allow' | 'needs_approval' | 'deny'
  readonly rule: string | null
  readonly policy: string | null
  readonly demands: readonly string[]
  readonly lifted: readonly string[]
}

interface Voice {
  readonly section: string
  readonly rule: string
  readonly verdict: 'allow' | 'needs_approval' | 'deny' | 'error'
  readonly demand?: string
}

const words = { allow: 'allow', block: 'deny', require_approval: 'needs_approval' } as const
const rank = { allow: 0, needs_approval: 1, deny: 2, error: 2 } as const

/** The decision of several policies, which have their number as a name. */
export function naiveDecision(policies: readonly RandomPolicy[], call: RandomSituation): NaiveDecision {
  const each = policies.map((policy, index) => judge(policy, `p${index}`, call))
  const highest = Math.max(...each.map(({ verdict }) => rank[verdict]))
  const verdict = (['allow', 'needs_approval', 'deny'] as const)[highest]!
  const lifted = each.flatMap((one) => one.lifted)
  const broke = verdict === 'allow' ? each.find((one) => one.lifted.length > 0) : undefined
  const named = broke ?? each.find((one) => rank[one.verdict] === highest && one.rule !== null)
  return {
    verdict,
    rule: broke === undefined ? (named?.rule ?? null) : broke.lifted[0]!,
    policy: named?.policy ?? null,
    demands:
      verdict === 'needs_approval' ? each.flatMap((one) => (one.verdict === verdict ? one.demands : [])) : [],
    lifted,
  }
}

function judge(policy: RandomPolicy, name: string, call: RandomSituation) {
  const lifted: string[] = []
  const heard: Voice[] = []
  const opened = glassIsBroken(policy, call)
  const lifts = policy.break_glass?.lifts ?? ['approval', 'freeze']
  for (const voice of voices(policy, call)) {
    const precondition = heard.some(({ section }) => section === 'preconditions')
    if (precondition && (voice.section === 'preconditions' || voice.section === 'risk')) continue
    const byApproval = voice.verdict === 'needs_approval' && lifts.includes('approval')
    const bySection =
      voice.verdict === 'deny' || voice.verdict === 'needs_approval'
        ? lifts.includes(voice.section as never)
        : false
    if (opened && (byApproval || bySection)) lifted.push(voice.rule)
    else heard.push(voice)
  }
  const highest = Math.max(0, ...heard.map(({ verdict }) => rank[verdict]))
  const decisive = heard.find(({ verdict }) => rank[verdict] === highest)
  const verdict = (['allow', 'needs_approval', 'deny'] as const)[highest]!
  const own = heard.flatMap(({ demand }) => demand ?? [])
  const demands = own.length > 0 ? own : [demandText(policy, {})]
  return { policy: name, verdict, rule: decisive?.rule ?? null, demands, lifted }
}

function glassIsBroken(
  { break_glass: glass }: RandomPolicy,
  { glass: reason, tool, roles }: RandomSituation,
): boolean {
  if (glass === undefined || reason === null || reason.trim() === '') return false
  return fits(glass.tool, tool) && glass.roles.some((role) => roles.includes(role))
}

/** Everything a policy could say to the call, in the order of its sections. */
function* voices(policy: RandomPolicy, call: RandomSituation): Generator<Voice> {
  const risk = call.risk ?? 'irreversible'
  const list = policy.tool_allowlist
  if (list !== undefined) {
    const allowed = call.roles.some((role) => (list[role] ?? []).some((pattern) => fits(pattern, call.tool)))
    if (!allowed) yield { section: 'tool_allowlist', rule: 'tool_allowlist', verdict: 'deny' }
  }
  for (const [index, entry] of policy.rules.entries()) {
    const at = { section: 'rules', rule: `rules#${index + 1}` }
    const about = concerns(entry, call)
    const holds = about === true ? truth(entry.require, call) : about
    if (about === 'error' || (about === true && holds === 'error')) yield { ...at, verdict: 'error' }
    else if (about === true && holds === false) yield { ...at, verdict: 'deny' }
  }
  for (const [index, entry] of policy.preconditions.entries()) {
    const at = { section: 'preconditions', rule: `preconditions#${index + 1}` }
    const about = concerns(entry, call)
    if (about === 'error') yield { ...at, verdict: 'error' }
    else if (about) yield { ...at, verdict: words[entry.then as keyof typeof words] }
  }
  for (const [index, entry] of policy.freeze.entries()) {
    const at = { section: 'freeze', rule: `freeze#${index + 1}` }
    if (!(entry.risk ?? ['write', 'irreversible']).includes(risk)) continue
    const about = concerns(entry, call)
    const now = new Date(Date.UTC(2026, 0, 5, call.hour)).toISOString()
    if (about === 'error') yield { ...at, verdict: 'error' }
    else if (about && now >= entry.from.replace('Z', '.000Z') && now < entry.to.replace('Z', '.000Z')) {
      yield { ...at, verdict: entry.then === 'require_approval' ? 'needs_approval' : 'deny' }
    }
  }
  for (const [index, entry] of policy.limits.entries()) {
    const at = { section: 'limits', rule: `limits#${index + 1}` }
    const about = concerns(entry, call)
    if (about === false) continue
    const tooMany =
      call.targets + (call.seen ? 0 : 1) > entry.max_targets ||
      (entry.max_calls !== undefined && call.calls + 1 > entry.max_calls)
    if (about === 'error' || call.target === null) yield { ...at, verdict: 'error' }
    else if (tooMany) yield { ...at, verdict: entry.then === 'require_approval' ? 'needs_approval' : 'deny' }
  }
  const most = policy.budgets.max_calls_per_run
  if (most !== undefined) {
    const at = { section: 'budgets', rule: 'budgets.max_calls_per_run' }
    if (call.spent === undefined) yield { ...at, verdict: 'error' }
    else if (call.spent >= most) yield { ...at, verdict: 'deny' }
  }
  for (const [index, entry] of policy.approvals.entries()) {
    const at = { section: 'approvals', rule: `approvals#${index + 1}` }
    const about = concerns(entry, call)
    if (about === 'error') yield { ...at, verdict: 'error' }
    else if (about) yield { ...at, verdict: 'needs_approval', demand: demandText(policy, entry) }
  }
  const effect =
    policy.risk[risk as keyof typeof policy.risk] ?? (risk === 'irreversible' ? 'require_approval' : 'allow')
  if (effect !== 'allow')
    yield { section: 'risk', rule: `risk.${risk}`, verdict: words[effect as keyof typeof words] }
}

function concerns(
  entry: {
    readonly tool: string | string[] | undefined
    readonly step: string | undefined
    readonly when: string | undefined
  },
  call: RandomSituation,
): boolean | 'error' {
  if (entry.tool !== undefined && ![entry.tool].flat().some((pattern) => fits(pattern, call.tool)))
    return false
  if (entry.step !== undefined && entry.step !== call.step) return false
  return entry.when === undefined ? true : truth(entry.when, call)
}

function truth(source: string, { amount, env, roles, past }: RandomSituation): boolean | 'error' {
  try {
    return conditions[source]!({ amount, env, roles, past } as View)
  } catch {
    return 'error'
  }
}

function demandText(
  policy: RandomPolicy,
  terms: { required_roles?: string[] | undefined; count?: number | undefined },
): string {
  const roles = terms.required_roles ?? policy.approval_defaults.required_roles ?? []
  const count = terms.count ?? policy.approval_defaults.count ?? 1
  return `${count} of ${roles.join(',')}${policy.allow_self_approval ? ' or oneself' : ''}`
}

function fits(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(name)
}
