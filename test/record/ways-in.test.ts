/** Whichever way a run comes in, its record holds what its decisions rest on, and all of them are made again. */
import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { agentTool } from '../../src/agent/agent-tool.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { exportChains } from '../../src/journal/export-chains.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { DefinitionLock } from '../../src/mcp/definition-lock.ts'
import { openGateway } from '../../src/mcp/open-gateway.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import type { ApprovalVote } from '../../src/run/approval.ts'
import { tool } from '../../src/tool/tool.ts'
import { verifySignature } from './export-of.ts'

let folder: string
let journal: SqliteJournal

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-ways-'))
  journal = new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
})

afterEach(async () => {
  await journal.close()
  rmSync(folder, { recursive: true, force: true })
})

const playbook = definePlaybook({
  id: 'desk',
  name: 'Desk',
  steps: [
    { id: 'look', description: 'Look.', expectedTools: ['look'] },
    { id: 'pay', description: 'Pay.', expectedTools: ['pay'] },
  ],
})
const { policy } = parsePolicy('id: money\napprovals:\n  - { tool: pay, required_roles: [lead] }\n', {
  format: 'yaml',
})
const policies = [compilePolicy(policy!)]
const bob: Omit<ApprovalVote, 'at'> = {
  person: 'bob',
  identity: 'local',
  roles: ['lead'],
  answer: 'approve',
  reason: null,
}
const make = (prefix: string) => [
  tool({ name: `${prefix}look`, description: 'Looks.', risk: 'read', execute: () => 'seen' }),
  tool({ name: `${prefix}pay`, description: 'Pays.', risk: 'write', execute: () => 'paid' }),
]

async function judge(runs: readonly string[]) {
  const lines = await exportChains(journal, runs, { tenants: await journal.tenants() })
  const { findings, notRecomputable, chains } = verifyExport(lines, { verifySignature })
  const recomputed = chains.filter(({ chain }) => runs.includes(chain)).map((each) => each.recomputed)
  const documents = Object.values(
    (JSON.parse(lines[0]!) as { documents: Record<string, { id?: string }> }).documents,
  )
  return { findings, notRecomputable, recomputed, documents: documents.map(({ id }) => id ?? 'tools') }
}

test('through the gateway for MCP clients, under a policy', async () => {
  let said: Omit<ApprovalVote, 'at'>[] = []
  const { gateway } = await openGateway({
    playbook,
    upstream: {
      tools: make('s/'),
      definition: (full) => ({ name: full.slice(2), description: full, inputSchema: { type: 'object' } }),
      takeAnswer: () => null,
    },
    servers: ['s'],
    lock: DefinitionLock.open(join(folder, 'lock')),
    journal,
    observe: false,
    only: { run: 'r', inputs: {} },
    version: '1',
    approvals: {
      setupFor: (id) => ({ policies, principal: { id, kind: 'local', roles: [] } }),
      votesOn: () => said.map((vote) => ({ vote, taken: () => (said = []) })),
      wordsFor: () => ({ id: 'a', takes: [], command: '' }),
    },
    user: 'ada',
    onNotice: () => undefined,
  })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  await Promise.all([gateway.createServer().connect(ours), client.connect(theirs)])
  const call = (name: string) => client.callTool({ name, arguments: { amount: 1 } })
  await call('pay')
  await call('look')
  await call('pay')
  said = [bob]
  await call('pay')
  await client.callTool({ name: 'finish', arguments: { answer: 'done' } })
  await client.close()
  const verdict = await judge(['r'])
  expect(verdict).toMatchObject({ findings: [], notRecomputable: [] })
  expect(verdict.documents.toSorted()).toEqual(['desk', 'money', 'tools'])
  expect(verdict.recomputed[0]).toBeGreaterThan(6)
})

test('through the library, an agent below another one included, with a hook that vetoes', async () => {
  const below = new Agent({
    model: scriptedModel(
      {
        turns: [
          { calls: [{ tool: 'look', arguments: {} }] },
          { calls: [{ tool: 'pay', arguments: {} }] },
          { text: 'paid' },
        ],
      },
      'below',
    ),
    playbook,
    tools: make(''),
    journal,
  })
  const above = new Agent({
    model: scriptedModel(
      {
        turns: [
          { calls: [{ tool: 'nothing', arguments: {} }] },
          { calls: [{ tool: 'drop', arguments: {} }] },
          { calls: [{ tool: 'desk', arguments: { prompt: 'pay' } }] },
          { text: 'done' },
        ],
      },
      'above',
    ),
    playbook: definePlaybook({
      id: 'office',
      name: 'Office',
      allowExtraTools: true,
      steps: [{ id: 'work', description: 'Work.', expectedTools: ['desk', 'drop'], completeWhen: 'any' }],
    }),
    tools: [
      agentTool(below, { name: 'desk', description: 'Pays.' }),
      tool({ name: 'drop', description: 'Drops.', execute: () => 'dropped' }),
    ],
    hooks: [{ beforeToolCall: ({ tool: name }) => (name === 'drop' ? { deny: 'never' } : undefined) }],
    journal,
  })
  const { status, reason } = await above.run('go', { run: 'above' })
  expect([status, reason]).toEqual(['succeeded', null])
  const runs = await journal.runs()
  expect(runs).toHaveLength(2)
  const verdict = await judge(runs)
  expect(verdict).toMatchObject({ findings: [], notRecomputable: [] })
  expect(verdict.documents.toSorted()).toEqual(['desk', 'office', 'tools', 'tools'])
  const denied = (await journal.read('above')).filter(({ type }) => type === 'tool.denied')
  expect(denied.map(({ data }) => data['facts'])).toEqual([{ registered: false }, { veto: 'never' }])
})
