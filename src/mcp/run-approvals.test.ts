import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport, type CallToolResult } from '@modelcontextprotocol/server'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Journal } from '../journal/journal.ts'
import { MemoryJournal } from '../journal/memory/memory-journal.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import type { ApprovalVote } from '../run/approval.ts'
import { tool } from '../tool/tool.ts'
import { DefinitionLock } from './definition-lock.ts'
import type { GatewayApprovals } from './gateway-approvals.ts'
import { openGateway } from './open-gateway.ts'

let folder: string
let ran: string[] = []
/** What people said and nobody has taken yet. */
let said: Omit<ApprovalVote, 'at'>[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-approvals-'))
  ran = []
  said = []
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const playbook = definePlaybook({
  id: 'p',
  name: 'P',
  steps: [{ id: 'pay', description: 'Pay.', expectedTools: ['pay'], completeWhen: 'declared' }],
})

function approvals(more = ''): GatewayApprovals {
  const text = `id: money\napprovals:\n  - { tool: pay, required_roles: [lead]${more} }\n`
  const { policy, diagnostics } = parsePolicy(text, { format: 'yaml' })
  if (policy === null) throw new Error(JSON.stringify(diagnostics))
  return {
    setupFor: (id) => ({ policies: [compilePolicy(policy)], principal: { id, kind: 'local', roles: [] } }),
    votesOn: () => said.map((vote) => ({ vote, taken: () => (said = said.filter((each) => each !== vote)) })),
    wordsFor: ({ callId }) => ({ id: `a_${callId}`, takes: ['1 × lead'], command: `approve a_${callId}` }),
  }
}

async function connect(journal: Journal, more: string | null = '', observe = false) {
  const { gateway } = await openGateway({
    playbook,
    upstream: {
      tools: [
        tool({
          name: 's/pay',
          description: 'Pays.',
          execute: (args) => void ran.push(JSON.stringify(args)),
        }),
      ],
      definition: (full) => ({ name: full.slice(2), description: full, inputSchema: { type: 'object' } }),
      takeAnswer: () => null,
    },
    servers: ['s'],
    lock: DefinitionLock.open(join(folder, 'lock')),
    journal,
    observe,
    only: { run: 'r', inputs: {} },
    version: '1',
    ...(more === null ? {} : { approvals: approvals(more) }),
    user: 'ada',
    onNotice: () => undefined,
  })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  await Promise.all([gateway.createServer().connect(ours), client.connect(theirs)])
  return (args: Record<string, unknown>) => client.callTool({ name: 'pay', arguments: args })
}

const bob = { person: 'bob', identity: 'local', roles: ['lead'], answer: 'approve', reason: null } as const
const code = ({ structuredContent }: CallToolResult) => (structuredContent as { code?: string })?.code
const held = async (journal: Journal) =>
  (await journal.read('r')).filter(({ type }) => type === 'tool.held').length

test('A1, A2: the same call sent again, or twice at once, is one held call, and is made once', async () => {
  const journal = new MemoryJournal()
  const pay = await connect(journal)
  const first = await Promise.all([pay({ amount: 1 }), pay({ amount: 1 })])
  expect(first.map(code)).toEqual(['pending', 'pending'])
  expect(await held(journal)).toBe(1)
  said = [bob]
  const made = await Promise.all([pay({ amount: 1 }), pay({ amount: 1 })])
  expect(made.map(code)).toEqual([undefined, 'pending'])
  expect(ran).toEqual(['{"amount":1}'])
  expect(said).toEqual([])
})

test('A1: other arguments are another call, which an approval does not reach', async () => {
  const journal = new MemoryJournal()
  const pay = await connect(journal)
  await pay({ amount: 1 })
  await pay({ amount: 2 })
  expect(await held(journal)).toBe(2)
  said = [bob]
  expect(code(await pay({ amount: 1 }))).toBeUndefined()
  expect(code(await pay({ amount: 2 }))).toBe('pending')
  expect(ran).toEqual(['{"amount":1}'])
})

test('A3: what was denied stays denied in the run, also when it is taken up, and the record tells', async () => {
  const journal = new MemoryJournal()
  const pay = await connect(journal)
  await pay({ amount: 1 })
  said = [{ ...bob, answer: 'deny', reason: 'not ours' }]
  const denied = await pay({ amount: 1 })
  expect(code(denied)).toBe('approval_denied')
  expect(JSON.stringify(denied.content)).toContain('bob (local) denied it: not ours')
  const later = await connect(journal)
  said = [bob]
  expect(code(await later({ amount: 1 }))).toBe('approval_denied')
  expect(await held(journal)).toBe(1)
  const vetoes = (await journal.read('r')).filter(({ data }) => data['code'] === 'vetoed')
  expect(vetoes).toHaveLength(2)
  expect(ran).toEqual([])
})

test('A3: what came too late is told once as that, and may be asked again', async () => {
  const journal = new MemoryJournal()
  const pay = await connect(journal, ', expires_after: 1s')
  await pay({ amount: 1 })
  await new Promise((resolve) => {
    setTimeout(resolve, 1100)
  })
  said = [bob]
  expect(code(await pay({ amount: 1 }))).toBe('approval_expired')
  said = []
  expect(code(await pay({ amount: 1 }))).toBe('pending')
  expect(await held(journal)).toBe(2)
  expect(ran).toEqual([])
})

test('what does not count is told and written down, and the call waits on', async () => {
  const journal = new MemoryJournal()
  const pay = await connect(journal)
  await pay({ amount: 1 })
  said = [{ ...bob, person: 'ada' }]
  const told = await pay({ amount: 1 })
  expect(code(told)).toBe('pending')
  expect(JSON.stringify(told.content)).toContain(
    'ada (local) said does not count: whoever asks cannot approve',
  )
  const refused = (await journal.read('r')).find(({ type }) => type === 'gateway.vote_refused')
  expect(refused?.data).toMatchObject({ refused: 'whoever asks cannot approve', vote: { person: 'ada' } })
  said = [bob]
  expect(code(await pay({ amount: 1 }))).toBeUndefined()
})

test('a held call is found again after the gateway was opened anew, and takes what it took when it was asked', async () => {
  const journal = new MemoryJournal()
  await (
    await connect(journal)
  )({ amount: 1 })
  said = [bob]
  // Two are needed by now, but what it takes was fixed when it was asked.
  const pay = await connect(journal, ', count: 2')
  expect(code(await pay({ amount: 1 }))).toBeUndefined()
  expect(ran).toEqual(['{"amount":1}'])
})

test('what was said is kept until it is on record', async () => {
  const journal = new MemoryJournal()
  const pay = await connect(journal)
  await pay({ amount: 1 })
  said = [bob]
  journal.append = () => Promise.reject(new Error('the disk is full'))
  expect((await pay({ amount: 1 })).isError).toBe(true)
  expect(said).toEqual([bob])
  expect(ran).toEqual([])
})

test('G13: a policy binds also where the playbook is only observed', async () => {
  const pay = await connect(new MemoryJournal(), '', true)
  expect(code(await pay({ amount: 1 }))).toBe('pending')
  expect(ran).toEqual([])
})

test('R5: a run is not taken up without the policy it was begun under', async () => {
  const journal = new MemoryJournal()
  await (
    await connect(journal)
  )({ amount: 1 })
  await expect(connect(journal, null)).rejects.toThrow("The run 'r' was begun under money")
  await connect(journal, ', count: 2')
  const free = new MemoryJournal()
  await (
    await connect(free, null)
  )({ amount: 1 })
  await connect(free)
})

test('a run that was recorded before users were is its user’s', async () => {
  const journal = new MemoryJournal()
  const append = journal.append.bind(journal)
  journal.append = (run, facts, options) => append(run, facts, { ...options, principal: 'local' })
  await (
    await connect(journal)
  )({ amount: 1 })
  const [first] = await journal.read('r')
  expect(first?.principal).toBe('local')
  said = [{ ...bob, person: 'ada' }]
  const told = await (await connect(journal))({ amount: 1 })
  expect(JSON.stringify(told.content)).toContain('whoever asks cannot approve')
})
