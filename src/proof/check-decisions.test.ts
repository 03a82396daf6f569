import { expect, test } from 'vitest'
import { exportPlain } from '../journal/export-chains.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import type { RunEvent } from '../run/event.ts'
import type { JsonObject } from '../shared/json.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { toolManifest } from '../tool/tool-manifest.ts'
import { ToolRegistry } from '../tool/tool-registry.ts'
import { tool } from '../tool/tool.ts'
import { verifyExport } from './verify-export.ts'

const playbook = definePlaybook({
  id: 'refund',
  name: 'Refund',
  steps: [
    { id: 'look', description: 'Look it up.', expectedTools: ['lookup'] },
    { id: 'pay', description: 'Pay it back.', expectedTools: ['refund', 'drop'], completeWhen: 'any' },
  ],
})

const policyText =
  'id: money\napprovals:\n  - tool: refund\n    required_roles: [lead]\n    expires_after: 60s\ntool_allowlist:\n  agent: [lookup, refund]\n'
const { policy: money } = parsePolicy(policyText, { format: 'yaml' })

const tools = ['lookup', 'refund', 'drop'].map((name) =>
  tool({ name, description: name, risk: name === 'lookup' ? 'read' : 'write', execute: () => 'done' }),
)
const manifest = toolManifest(new ToolRegistry(tools))

/** A run in which calls are held, approved, denied by a person, forgotten and forbidden. */
async function governedRun(): Promise<RunEvent[]> {
  const policy = compilePolicy(money!)
  const events: RunEvent[] = []
  let now = 1_000
  const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
    tools,
    clock: () => now,
    onEvents: (more) => void events.push(...more),
    policy: { policies: [policy], principal: { id: 'ada', kind: 'local', roles: ['agent'] } },
  })
  const lead = { person: 'bob', identity: 'local', roles: ['lead'], reason: 'seen' }
  await enforcer.call('lookup', {})
  await enforcer.call('drop', {})
  const refused = (await enforcer.call('refund', { amount: 1 })).enforcement!.callId!
  enforcer.gate.vote(refused, { ...lead, answer: 'deny' })
  await enforcer.call('refund', { amount: 2 })
  now += 61_000
  enforcer.checkTime()
  const granted = (await enforcer.call('refund', { amount: 3 })).enforcement!.callId!
  enforcer.gate.vote(granted, { ...lead, answer: 'approve' })
  await enforcer.call('refund', { amount: 3 }, undefined, { callId: granted })
  enforcer.finish('done')
  return events
}

function judge(events: readonly RunEvent[], more: Record<string, JsonObject> = {}) {
  const entries = events.map(({ type, at, ...data }, index): JournalEntry => {
    const place = { v: 1, run: 'r1', seq: index + 1, at, tenant: 't', principal: 'p', type } as const
    return { ...place, data: JSON.parse(JSON.stringify(data)) as JsonObject }
  })
  const own = {
    [compilePlaybook(playbook).digest]: playbook.toJSON(),
    [manifest.digest]: JSON.parse(manifest.text) as JsonObject,
  }
  const lines = exportPlain(entries, { ...own, ...more })
  return verifyExport(lines, { verifySignature: () => false })
}

test('R1: decides a run with approvals again, what policies and people said included', async () => {
  const events = await governedRun()
  const types = new Set(events.map(({ type }) => type))
  for (const type of ['tool.held', 'approval.voted', 'approval.expired', 'tool.denied'] as const)
    expect(types).toContain(type)
  const verdict = judge(events, { [money!.digest]: money!.source })
  expect(verdict).toMatchObject({ findings: [], notRecomputable: [] })
  expect(verdict.chains[0]).toMatchObject({ recomputed: events.length, status: 'succeeded' })
})

test('R3: lists what policies said as taken on its word where their text is not in the export', async () => {
  const { findings, notRecomputable } = judge(await governedRun())
  expect(findings).toEqual([])
  expect(notRecomputable).toMatchObject([{ why: expect.stringMatching(/money@.* is not in the export/) }])
})

test('finds a call that was made without the approval it was held for', async () => {
  const events = await governedRun()
  const granted = events.findIndex((event) => event.type === 'approval.voted' && event.comesTo === 'granted')
  expect(granted).toBeGreaterThan(0)
  expect(judge(events.toSpliced(granted, 1)).findings).toMatchObject([{ kind: 'forged_decision' }])
  const expired = events.findIndex(({ type }) => type === 'approval.expired')
  expect(judge(events.toSpliced(expired, 2)).findings).toMatchObject([{ kind: 'forged_decision' }])
})

test('finds a vote of somebody who was responsible for the run from its beginning', async () => {
  const events = await governedRun()
  const begunFor = (person: string) => {
    const prompted = { type: 'agent.prompted', at: 1_000, text: '', origin: { requesters: [person] } }
    return judge(events.toSpliced(1, 0, prompted as never)).findings
  }
  expect(begunFor('eve')).toEqual([])
  expect(begunFor('bob')).toMatchObject([
    { kind: 'forged_decision', message: expect.stringContaining('whoever asks cannot approve') },
  ])
})
