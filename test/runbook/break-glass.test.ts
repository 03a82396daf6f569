/** What breaking the glass does for a call that is held already. */
import { expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import { judgeEntries } from '../record/export-of.ts'
import { runbook, workshop } from './workshop.ts'

const playbook = runbook('name: pay\nsteps: [{ name: pay, tool: pay, input: { amount: 30 } }]')
const policyOf = (lifts: string) => {
  const text = `
id: money
approvals: [{ tool: pay, required_roles: [Lead] }]
break_glass: { roles: [SRE], tool: pay, lifts: [${lifts}] }
`
  const { policy, diagnostics } = parsePolicy(text, { format: 'yaml' })
  expect(diagnostics).toEqual([])
  return compilePolicy(policy!)
}

async function resumed(lifts: string, breakGlass: string | null) {
  const { effects, make } = workshop()
  const journal = new MemoryJournal()
  const policy = policyOf(lifts)
  const agent = (reason: string | null) =>
    new Agent({
      model: 'none',
      playbook,
      tools: [make('pay')],
      journal,
      policy: {
        policies: [policy],
        principal: { id: 'ann', kind: 'local', roles: ['SRE'] },
        breakGlass: reason,
      },
    })
  expect((await agent(null).run('', { run: 'r1' })).status).toBe('incomplete')
  const { status } = await agent(breakGlass).resume('r1')
  const entries = await journal.read('r1')
  return { status, effects, entries, documents: { [policy.ref.digest]: policy.source } }
}

test('releases it when the run is taken up, and the record says so and can be decided again', async () => {
  const { status, effects, entries, documents } = await resumed('approval', 'the lead is on a plane')
  expect({ status, effects }).toEqual({ status: 'succeeded', effects: ['pay {"amount":30}'] })
  const admitted = entries.find(({ type }) => type === 'tool.admitted')!.data
  expect(admitted['policy']).toMatchObject({ decision: { code: 'policy_break_glass' } })
  expect(judgeEntries(entries, playbook, documents)).toMatchObject({ verdict: 'consistent', findings: [] })
})

test('releases nothing where the glass stays whole, or lifts something else', async () => {
  for (const [lifts, reason] of [
    ['approval', null],
    ['limits', 'the lead is on a plane'],
  ] as const) {
    const { status, effects } = await resumed(lifts, reason)
    expect({ status, effects }).toEqual({ status: 'incomplete', effects: [] })
  }
})
