/* oxlint-disable unicorn/no-thenable -- the word of policy files, never a function */
import { CallHistory } from '../src/policy/call-history.ts'
import { checkPolicy } from '../src/policy/check-policy.ts'
import { compilePolicy, type CompiledPolicy } from '../src/policy/compile-policy.ts'
import { decide } from '../src/policy/decide.ts'
import { explain } from '../src/policy/explain.ts'
import { parsePolicy } from '../src/policy/parse-policy.ts'
import type { PolicyFacts, PolicyRequest } from '../src/policy/policy-request.ts'
import type { Json } from '../src/shared/json.ts'
import { microseconds, percentile, times, type Row } from './measure.ts'

const sizes = [1, 100, 1_000]

/** What one decision of a policy costs, and what that depends on. */
export function run(): Row[] {
  return [...byNames(), ...byPatterns(), ...byConditions(), severalPolicies(), explaining(), loading()]
}

/** Rules about many tools, as a real policy has them: the one call meets a handful of them. */
function byNames(): Row[] {
  const samples = sizes.map((count) => deciding([compile(ruleBook(count))]))
  const growth = percentile(samples[2]!, 0.5) / percentile(samples[1]!, 0.5)
  return [
    ...sizes.map((count, index) =>
      times(
        `decide, ${count.toLocaleString('en')} rules about tools by name`,
        samples[index]!,
        count === 100 ? 10 : null,
      ),
    ),
    { what: 'growth from 100 to 1,000 rules', unit: '×', p50: growth, p99: null, goal: 2 },
  ]
}

/** Every rule is a pattern that fits the call, and holds a condition: all of them are judged. */
function byPatterns(): Row[] {
  return sizes.map((count) => {
    const rules = Array.from({ length: count }, (_, index) => ({
      tool: `k8s.*`,
      require: `args.replicas <= ${100 + index} and context.env == "prod"`,
    }))
    const samples = deciding([compile({ id: 'patterns', risk: { irreversible: 'allow' }, rules })])
    return times(`decide, ${count.toLocaleString('en')} rules that all fit the call`, samples)
  })
}

/** No rule says which tool it is about, so every condition is asked. */
function byConditions(): Row[] {
  return [100].map((count) => {
    const preconditions = Array.from({ length: count }, (_, index) => ({
      when: `context.env == "prod" and args.node == "n${index}"`,
      then: 'block',
    }))
    const samples = deciding([compile({ id: 'conditions', risk: { irreversible: 'allow' }, preconditions })])
    return times(`decide, ${count} preconditions about any tool, none holds`, samples)
  })
}

function severalPolicies(): Row {
  const policies = ['tenant', 'project', 'runbook'].map((id) => compile({ ...ruleBook(100), id }))
  return times('decide, three policies of 100 rules', deciding(policies))
}

function explaining(): Row {
  const policies = [compile(ruleBook(100))]
  const [request, facts] = situation(policies)
  const samples = microseconds(
    () => null,
    () => explain(policies, request, facts),
    { group: 20, samples: 300 },
  )
  return times('explain, 100 rules', samples)
}

function loading(): Row {
  const text = JSON.stringify(ruleBook(1_000), null, 2)
  const samples = microseconds(
    () => null,
    () => compilePolicy(parsePolicy(`# a thousand rules\n${text}`, { format: 'yaml' }).policy!),
    { group: 1, samples: 15 },
  )
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(samples, share) / 1000)
  return { what: 'parse, check and compile 1,000 rules', unit: 'ms', p50: p50!, p99: p99!, goal: null }
}

function deciding(policies: readonly CompiledPolicy[]): number[] {
  const [request, facts] = situation(policies)
  const { verdict, reason } = decide(policies, request, facts)
  if (verdict !== 'allow') throw new Error(`the call should be allowed: ${reason}`)
  return microseconds(
    () => null,
    () => {
      if (decide(policies, request, facts).verdict !== 'allow') throw new Error('the call should be allowed')
    },
    { group: 100, samples: 2_000 },
  )
}

/** So many entries of every kind over so many tools; the first hundred hold four that are about the tool of the call. */
function ruleBook(count: number): { readonly [key: string]: Json } {
  const tools = Array.from({ length: Math.max(1, Math.floor(count / 4)) }, (_, index) => `svc${index}.act`)
  const tool = (index: number) =>
    index < 100 && index % 25 === 0 ? 'k8s.scale' : tools[index % tools.length]!
  const kinds = [
    (index: number) => ({
      list: 'rules',
      entry: { tool: tool(index), require: `args.replicas <= ${100 + index}` },
    }),
    (index: number) => ({
      list: 'preconditions',
      entry: { tool: tool(index), when: `context.env == "e${index}"`, then: 'block' },
    }),
    (index: number) => ({
      list: 'rules',
      entry: { tool: `svc${index}.*`, require: 'succeeded("look", node=args.node)' },
    }),
    (index: number) => ({
      list: 'approvals',
      entry: { tool: tool(index), when: `args.node == "m${index}"`, required_roles: ['OnCall'] },
    }),
    (index: number) => ({
      list: 'freeze',
      entry: {
        tool: tool(index),
        from: '2030-01-01T00:00:00Z',
        to: '2030-01-02T00:00:00Z',
        when: `context.env != "x${index}"`,
      },
    }),
  ] as const
  const lists: Record<string, Json[]> = { rules: [], preconditions: [], approvals: [], freeze: [] }
  for (let index = 0; index < count; index++) {
    const { list, entry } = kinds[index % kinds.length]!(index)
    lists[list]!.push(entry)
  }
  return {
    id: 'bench',
    risk: { irreversible: 'allow' },
    tool_allowlist: { SRE: ['k8s.*', 'svc*'], OnCall: ['pagerduty.*'] },
    budgets: { max_cost_per_run_usd: 5, max_tokens_per_run: 100_000 },
    limits: [{ tool: 'k8s.*', max_targets: 3, per: '1h' }],
    ...lists,
  }
}

function compile(value: { readonly [key: string]: Json }): CompiledPolicy {
  const { policy, problems } = checkPolicy(value)
  if (policy === null) throw new Error(problems[0]!.message)
  return compilePolicy(policy)
}

function situation(policies: readonly CompiledPolicy[]): [PolicyRequest, PolicyFacts] {
  const spent = { cost_usd: 0.5, tokens: 500, calls: 3, minutes: 1 }
  const past = new CallHistory([{ tool: 'look', args: { node: 'a' }, outcome: 'succeeded' }], policies)
  const counters = policies.flatMap((policy) =>
    policy.counters.map(({ key }) => [key, { calls: 1, targets: 1, seen: false }]),
  )
  return [
    {
      tool: 'k8s.scale',
      args: { node: 'a', replicas: 3 },
      step: 'scale',
      risk: 'irreversible',
      target: 'shop/web',
    },
    {
      now: 1_790_000_000_000,
      principal: { id: 'ann', kind: 'oidc', roles: ['OnCall', 'SRE'] },
      mode: 'execute',
      inputs: {},
      context: { env: 'prod' },
      past,
      counters: Object.fromEntries(counters),
      spent: { run: spent, day: spent },
      breakGlass: null,
    },
  ]
}
