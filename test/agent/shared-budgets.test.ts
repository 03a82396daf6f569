import { hash, verify } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { exportChains } from '../../src/journal/export-chains.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { noting, notingAll, playbookOf, proposing, step, watched } from './run-agent.ts'
import { noModel } from '../../src/agent/no-model.ts'

function under(source: string) {
  const { policy } = parsePolicy(source, { format: 'yaml' })
  return {
    policies: [compilePolicy(policy!)],
    principal: { id: 'ada', kind: 'local', roles: [] },
  } as const
}

const limited = under('{ id: p, limits: [{ max_calls: 2, per: 1h }] }')

test('G17: a used-up limit does not keep a run from undoing what it did, and the record proves that it was so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-budgets-'))
  const open = () => new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  const log: string[] = []
  const tools = ['look', 'cordon', 'uncordon', 'drain'].map((name) => noting(log, name))
  const playbook = definePlaybook({
    id: 'drain-node',
    name: 'Drain a node',
    steps: [
      { id: 'cordon', tool: 'cordon', compensate: { tool: 'uncordon', input: {} } },
      { id: 'drain', tool: 'drain' },
    ],
  })
  const looking = definePlaybook({ id: 'l', name: 'L', steps: [{ id: 'look', tool: 'look' }] })
  const journal = open()
  const before = new Agent({ model: noModel, playbook: looking, tools, journal, policy: limited })
  expect(await before.run('go', { run: 'before' })).toMatchObject({ status: 'succeeded' })
  await journal.close()

  const again = open()
  const agent = new Agent({ model: noModel, playbook, tools, journal: again, policy: limited })
  const result = await agent.run('go', { run: 'undone' })
  expect(result.status).not.toBe('succeeded')
  expect(log).toEqual(['look', 'cordon', 'uncordon'])
  const entries = await again.read('undone')
  const said = (type: string, tool: string) =>
    entries.find((entry) => entry.type === type && entry.data['tool'] === tool)!.data['policy'] as JsonObject
  expect(said('tool.denied', 'drain')).toMatchObject({
    decision: { code: 'policy_rate_limit', reason: 'at most 2 calls in 1h per tenant, and there were 2' },
  })
  expect(said('tool.admitted', 'uncordon')).toMatchObject({
    decision: { verdict: 'allow' },
    request: { undoes: true },
  })
  // What undoes counts all the same.
  const after = await new Agent({
    model: noModel,
    playbook: looking,
    tools,
    journal: again,
    policy: limited,
  }).run('go')
  expect([after.status, log]).toEqual(['failed', ['look', 'cordon', 'uncordon']])

  const lines = await exportChains(again, await again.runs(), { tenants: ['local'] })
  const verdict = verifyExport(lines, {
    publicKeys: again.publicKeys(),
    hash: (text) => `sha256:${hash('sha256', text)}`,
    verifySignature: (key, text, signature) =>
      verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex')),
  })
  expect(verdict).toMatchObject({ verdict: 'consistent', findings: [] })
  expect(JSON.stringify(verdict.notRecomputable)).toContain('what was counted over other runs')
  await again.close()
})

test('runbooks that run at once share the last place, and one of them is denied', async () => {
  const journal = new MemoryJournal()
  const { log, tools } = notingAll('a')
  const playbook = definePlaybook({ id: 'p', name: 'P', steps: [{ id: 'a', tool: 'a' }] })
  const agents = Array.from(
    { length: 5 },
    () => new Agent({ model: noModel, playbook, tools, journal, policy: limited }),
  )
  const ended = await Promise.all(agents.map((agent) => agent.run('go')))
  expect(ended.filter(({ status }) => status === 'succeeded')).toHaveLength(2)
  expect(log).toEqual(['a', 'a'])
})

test('what models take counts for the day, in tokens and dollars; without a price nobody knows the dollars', async () => {
  const journal = new MemoryJournal()
  const { log, tools } = notingAll('a', 'b')
  const policy = under('{ id: p, budgets: { max_cost_per_day_usd: 0.004, max_tokens_per_day: 100000 } }')
  const usage = { promptTokens: 900, completionTokens: 100 }
  const playbook = playbookOf([step('a'), step('b')])
  const priced = () => watched(() => ({ ...proposing('a'), ...usage }), 'gpt-4o-2024-11-20')
  const setup = { playbook, tools, journal, policy, maxIterations: 1 }
  await new Agent({ ...setup, model: priced() }).run('go', { run: 'one' })
  expect(log).toEqual(['a'])
  // Its own answer is the one too many.
  await new Agent({ ...setup, model: priced() }).run('go', { run: 'two' })
  expect(log).toEqual(['a'])
  const denied = (await journal.read('two')).find(({ type }) => type === 'tool.denied')!
  expect(denied.data['policy']).toMatchObject({
    decision: { code: 'policy_budget' },
    facts: { spent: { day: { calls: 1, tokens: 2000, cost_usd: 0.0065 } } },
  })
  const other = new MemoryJournal()
  const unpriced = watched(() => ({ ...proposing('a'), ...usage }))
  await new Agent({ ...setup, model: unpriced, journal: other }).run('go', { run: 'free' })
  expect(log).toEqual(['a'])
  const unknown = (await other.read('free')).find(({ type }) => type === 'tool.denied')!
  expect(unknown.data['policy']).toMatchObject({
    decision: { code: 'policy_error' },
    facts: { spent: { day: { calls: 0, tokens: 1000 } } },
  })
})
