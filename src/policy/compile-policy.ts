import type { PastIndex } from '../playbook/compile-playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { demandOf } from './approval-demand.ts'
import { compileAllowlist } from './compile-allowlist.ts'
import { compileBudget, type BudgetKey } from './compile-budget.ts'
import { compileFreeze } from './compile-freeze.ts'
import { compileGlob } from './compile-glob.ts'
import { compileLimit, queryOf } from './compile-limit.ts'
import type { CounterQuery } from './counter-query.ts'
import type { ApprovalDemand, PolicyRef, PolicyVerdict } from './decision.ts'
import { indexRules } from './index-rules.ts'
import { compileCondition } from './policy-condition.ts'
import { unjudged, type PolicyRule, type Section } from './policy-rule.ts'
import { risks, type Risk } from './policy-request.ts'
import type { Policy } from './policy.ts'
import { remember } from './remember.ts'

/** What breaking the glass takes, and what it lifts. */
export interface BreakGlass {
  readonly roles: ReadonlySet<string>
  readonly lifts: ReadonlySet<'approval' | 'freeze' | 'limits' | 'preconditions'>
  covers(tool: string): boolean
}

/** A policy with everything that a decision needs worked out once. */
export interface CompiledPolicy {
  readonly ref: PolicyRef
  /** The content as it was written, which the digest covers. */
  readonly source: JsonObject
  readonly rules: readonly PolicyRule[]
  readonly breakGlass: BreakGlass | null
  /** What an approval takes where no entry of `approvals` spoke. */
  defaultDemand(rule: string): ApprovalDemand
  /** The rules that may be about a call of the tool, in order. */
  rulesFor(tool: string): readonly PolicyRule[]
  /** The questions about the past that its conditions ask, by tool: whoever keeps the past keeps an index for each. */
  readonly questions: ReadonlyMap<string, readonly PastIndex[]>
  /** What its limits count. */
  readonly counters: readonly (CounterQuery & { readonly rule: string })[]
}

const compiled = new WeakMap<Policy, CompiledPolicy>()

/** Works out once, per policy, what a decision needs. A `Policy` is valid by construction, so this never fails. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  let result = compiled.get(policy)
  if (result === undefined) {
    result = compile(policy)
    compiled.set(policy, result)
  }
  return result
}

const verdicts: Readonly<Record<'allow' | 'block' | 'require_approval', PolicyVerdict>> = {
  allow: 'allow',
  block: 'deny',
  require_approval: 'needs_approval',
}

function compile(policy: Policy): CompiledPolicy {
  const { file } = policy
  const counters: (CounterQuery & { readonly rule: string })[] = []
  const rules: PolicyRule[] = []
  if (file.tool_allowlist !== undefined) {
    rules.push(ruleOf('tool_allowlist', 'tool_allowlist', {}, compileAllowlist(file.tool_allowlist)))
  }
  for (const [index, entry] of file.rules.entries()) {
    const name = nameOf('rules', entry.id, index)
    const require = compileCondition(entry.require)
    const rule = ruleOf('rules', name, entry, {
      speak(situation) {
        const holds = require.judge(situation)
        if (holds === true) return null
        if (typeof holds === 'string') return unjudged(`\`${require.source}\``, holds)
        const reason = entry.message ?? `it does not hold that ${require.source}`
        return { verdict: 'deny', code: 'policy_rule', reason }
      },
      silence: () => `it holds that ${require.source}`,
    })
    rules.push({ ...rule, conditions: [...rule.conditions, require] })
  }
  for (const [index, entry] of file.preconditions.entries()) {
    const verdict = verdicts[entry.then]
    const about = entry.when === undefined ? 'the policy says so' : entry.when
    const code = {
      allow: 'policy_allowed',
      deny: 'policy_blocked',
      needs_approval: 'policy_approval',
    } as const
    const said = { verdict, code: code[verdict], reason: entry.message ?? `${spoken[verdict]}: ${about}` }
    rules.push(
      ruleOf('preconditions', nameOf('preconditions', entry.id, index), entry, {
        speak: () => said,
        silence: () => '',
      }),
    )
  }
  for (const [index, entry] of file.freeze.entries()) {
    const rule = ruleOf('freeze', nameOf('freeze', entry.id, index), entry, compileFreeze(entry))
    rules.push({ ...rule, risks: new Set(entry.risk) })
  }
  for (const [index, entry] of file.limits.entries()) {
    const name = nameOf('limits', entry.id, index)
    const query = queryOf(entry, toolsOf(entry.tool))
    counters.push({ ...query, rule: name })
    rules.push(ruleOf('limits', name, entry, compileLimit(entry, name, query)))
  }
  for (const [key, most] of Object.entries(file.budgets) as [BudgetKey, number | undefined][]) {
    if (most !== undefined) rules.push(ruleOf('budgets', `budgets.${key}`, {}, compileBudget(key, most)))
  }
  for (const [index, entry] of file.approvals.entries()) {
    const name = nameOf('approvals', entry.id, index)
    const { id: _, tool: _tool, step: _step, when: _when, message, ...terms } = entry
    const demand = demandOf(file, name, terms)
    const reason = message ?? describeDemand(demand)
    rules.push(
      ruleOf('approvals', name, entry, {
        speak: () => ({ verdict: 'needs_approval', code: 'policy_approval', reason, demand }),
        silence: () => '',
      }),
    )
  }
  for (const risk of risks) {
    const verdict = verdicts[file.risk[risk]]
    if (verdict === 'allow') continue
    const reason = `the call is ${risk === 'irreversible' ? 'irreversible, or not declared to be anything else' : `a ${risk}`}`
    const rule = ruleOf(
      'risk',
      `risk.${risk}`,
      {},
      {
        speak: () => ({ verdict, code: 'policy_risk', reason }),
        silence: () => '',
      },
    )
    rules.push({ ...rule, risks: new Set<Risk>([risk]) })
  }

  const glass = file.break_glass
  const glassTools = glass === undefined ? [] : toolsOf(glass.tool)!.map(compileGlob)
  return {
    ref: { id: policy.id, version: policy.version, digest: policy.digest },
    source: policy.source,
    rules,
    breakGlass:
      glass === undefined
        ? null
        : {
            roles: new Set(glass.roles),
            lifts: new Set(glass.lifts),
            covers: (tool) => glassTools.some((fits) => fits(tool)),
          },
    defaultDemand: remember((rule) => demandOf(file, rule, {})),
    rulesFor: indexRules(rules),
    questions: questionsOf(rules),
    counters,
  }
}

const spoken: Readonly<Record<PolicyVerdict, string>> = {
  allow: 'allowed',
  deny: 'blocked',
  needs_approval: 'needs approval',
}

/** A rule about the calls that an entry is about. */
function ruleOf(
  section: Section,
  name: string,
  scope: {
    readonly tool?: string | readonly string[] | undefined
    readonly step?: string | undefined
    readonly when?: string | undefined
  },
  voice: Pick<PolicyRule, 'speak' | 'silence'>,
): PolicyRule {
  const when = scope.when === undefined ? null : compileCondition(scope.when)
  return {
    section,
    name,
    tools: toolsOf(scope.tool),
    step: scope.step ?? null,
    risks: null,
    when,
    conditions: when === null ? [] : [when],
    ...voice,
  }
}

/** The patterns of an entry, one or several; null means all tools. */
export function toolsOf(tool: string | readonly string[] | undefined): readonly string[] | null {
  if (tool === undefined) return null
  return typeof tool === 'string' ? [tool] : tool
}

/** The name of an entry in decisions. */
export function nameOf(section: string, id: string | undefined, index: number): string {
  return id === undefined ? `${section}#${index + 1}` : `${section}.${id}`
}

function describeDemand({ roles, approvers, count }: ApprovalDemand): string {
  const who = [
    ...(roles.length === 0 ? [] : [`with role ${roles.join(' or ')}`]),
    ...(approvers.length === 0 ? [] : [`of ${approvers.join(', ')}`]),
  ]
  return `needs the approval of ${count === 1 ? 'one person' : `${count} persons`}${who.map((each) => ` ${each}`).join('')}`
}

function questionsOf(rules: readonly PolicyRule[]): ReadonlyMap<string, readonly PastIndex[]> {
  const byTool = new Map<string, Map<string, PastIndex>>()
  for (const { tool, shape, names } of rules.flatMap((rule) =>
    rule.conditions.flatMap((each) => each.questions),
  )) {
    const indexes = byTool.get(tool) ?? new Map<string, PastIndex>()
    byTool.set(tool, indexes.set(shape, { shape, names }))
  }
  return new Map([...byTool].map(([tool, indexes]) => [tool, [...indexes.values()]]))
}
