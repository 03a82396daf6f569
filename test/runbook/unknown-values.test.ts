/** What a dry run says of rules over values that only a made call could tell. */
import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { decide } from '../../src/policy/decide.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import { dryRunTool } from '../../src/tool/dry-run-tool.ts'
import { judgeEntries } from '../record/export-of.ts'
import { runbook, workshop } from './workshop.ts'

const ann = { id: 'ann', kind: 'local', roles: [] } as const

const playbook = runbook(`
  name: refund
  steps:
    - { name: order, tool: lookup }
    - { name: pay, tool: refund, input: { amount: "{steps.order.output.total}" } }
    - { name: tell, tool: notify, input: { text: paid } }
  rules:
    - { tool: refund, require: args.amount > 0 }
    - { tool: notify, require: steps.order.output.total < 1000 }
`)

const policyOf = (text: string) => {
  const { policy, diagnostics } = parsePolicy(text, { format: 'yaml' })
  expect(diagnostics).toEqual([])
  return compilePolicy(policy!)
}
const small = policyOf(
  'id: small\nrules: [{ id: few, tool: refund, require: args.amount <= 500 }]\nrisk: { irreversible: allow }',
)

async function dryRun(policies = [small]): Promise<{ status: string; entries: readonly JournalEntry[] }> {
  const { make } = workshop()
  const journal = new MemoryJournal()
  const tools = ['lookup', 'refund', 'notify'].map((name) => dryRunTool(make(name), { callReads: false }))
  const agent = new Agent({
    model: 'none',
    playbook,
    tools,
    journal,
    policy: { policies, principal: ann, mode: 'dry-run' },
  })
  const { status } = await agent.run('', { run: 'r1' })
  return { status, entries: await journal.read('r1') }
}

const documents = Object.fromEntries([small].map(({ ref, source }) => [ref.digest, source]))

describe('in a dry run', () => {
  test('a rule over a value that nobody knows stops nothing, and the record never says that it was met', async () => {
    const { status, entries } = await dryRun()
    expect(status).toBe('succeeded')
    const admitted = entries.filter(({ type }) => type === 'tool.admitted').map(({ data }) => data)
    expect(admitted[1]).toMatchObject({
      tool: 'refund',
      open: ['args.amount > 0'],
      policy: {
        shown: true,
        request: { unknown: ['amount'] },
        decision: { verdict: 'deny', code: 'policy_undecided' },
      },
    })
    expect(admitted[2]).toMatchObject({ tool: 'notify', open: ['steps.order.output.total < 1000'] })
    expect(admitted[0]).not.toHaveProperty('open')
    expect(judgeEntries(entries, playbook, documents)).toMatchObject({
      verdict: 'consistent',
      chains: [{ recomputed: entries.filter(({ type }) => !type.startsWith('agent.')).length }],
    })
  })

  test('a rule that is broken whatever the value is stops it as before', async () => {
    const never = policyOf('id: never\nrules: [{ id: no, tool: refund, require: has(inputs.ticket) }]')
    const { entries } = await dryRun([small, never])
    expect(entries.find(({ type }) => type === 'tool.denied')?.data).toMatchObject({
      tool: 'refund',
      policy: { decision: { code: 'policy_rule', rule: 'rules.no' } },
    })
  })

  test('whoever records a call of a real run as only shown, or a known value as unknown, is found out', async () => {
    const { entries } = await dryRun()
    const forge = (change: (entry: JournalEntry) => object) =>
      judgeEntries(
        entries.map((entry) => ({ ...entry, data: { ...entry.data, ...change(entry) } }) as JournalEntry),
        playbook,
        documents,
      )
    expect(forge(({ type }) => (type === 'run.started' ? { mode: 'execute' } : {})).verdict).toBe('broken')
    const told = forge(({ type, data }) => {
      if (type !== 'tool.admitted' || data['tool'] !== 'notify') return {}
      const policy = structuredClone(data['policy']) as { request: object }
      return { policy: { ...policy, request: { ...policy.request, unknown: ['text'] } } }
    })
    expect(told.findings[0]).toMatchObject({
      message: 'the policies were told that arguments are not known, and they are',
    })
  })
})

test('a call that is really made is denied where a rule depends on what nobody knows, and a precondition does not hide the next', () => {
  const both = policyOf(`
id: both
preconditions:
  - { tool: refund, when: args.amount > 10, then: require_approval }
  - { tool: refund, when: args.customer == "C-7", then: block }
`)
  const facts = {
    now: 0,
    principal: ann,
    mode: 'dry-run',
    inputs: {},
    context: {},
    past: null,
    counters: {},
    spent: null,
    breakGlass: null,
  } as const
  const request = { tool: 'refund', step: null, risk: 'write', target: null, unknown: ['amount'] } as const
  const said = (customer: string) =>
    decide([both], { ...request, args: { amount: '{steps.order.output.total}', customer } }, facts)
  expect(said('C-8')).toMatchObject({ verdict: 'deny', code: 'policy_undecided', rule: 'preconditions#1' })
  expect(said('C-7')).toMatchObject({ verdict: 'deny', code: 'policy_blocked', rule: 'preconditions#2' })
})
