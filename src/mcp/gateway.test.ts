import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryJournal } from '../journal/memory/memory-journal.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { tool } from '../tool/tool.ts'
import { DefinitionLock } from './definition-lock.ts'
import type { GatewayApprovals } from './gateway-approvals.ts'
import type { Upstream } from './gateway-tools.ts'
import { openGateway, type GatewaySetup } from './open-gateway.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-gateway-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A server with tools `a`, `b` and `c` that say that they ran. */
const upstream: Upstream = {
  tools: ['a', 'b', 'c'].map((name) =>
    tool({ name: `s/${name}`, description: name, execute: () => `${name} ran` }),
  ),
  definition: (full) => ({ name: full.slice(2), description: full, inputSchema: { type: 'object' } }),
  takeAnswer: () => null,
}

async function connect(playbook: Playbook, setup: Partial<GatewaySetup> = {}): Promise<Client> {
  const { gateway } = await openGateway({
    playbook,
    upstream,
    servers: ['s'],
    lock: DefinitionLock.open(join(folder, 'lock')),
    journal: new MemoryJournal(),
    observe: false,
    only: { run: null, inputs: {} },
    version: '1',
    onNotice: () => undefined,
    ...setup,
  })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  await Promise.all([gateway.createServer().connect(ours), client.connect(theirs)])
  return client
}

const steps = [
  { id: 'one', description: 'First.', expectedTools: ['a'] },
  { id: 'two', description: 'Second, hidden.', expectedTools: ['b'], disclosure: 'step' as const },
]

async function plan(client: Client): Promise<Record<string, unknown>> {
  const { contents } = await client.readResource({ uri: 'lockstep://plan' })
  return JSON.parse((contents[0] as { text: string }).text) as Record<string, unknown>
}

test('a step that is disclosed in its turn is hidden in everything before it', async () => {
  const client = await connect(definePlaybook({ id: 'p', name: 'P', steps }))
  const prompt = JSON.stringify(await client.getPrompt({ name: 'p' }))
  const early = JSON.stringify(await client.callTool({ name: 'b', arguments: {} }))
  const before = JSON.stringify([prompt, early, client.getInstructions(), await plan(client)])
  expect(before).toContain('First.')
  expect(before).not.toContain('hidden')
  await client.callTool({ name: 'a', arguments: {} })
  expect(JSON.stringify(await plan(client))).toContain('Second, hidden.')
})

test('M1: extras are in the list from the start where the playbook admits them, and never where it does not', async () => {
  const names = async (playbook: Playbook, setup: Partial<GatewaySetup> = {}) =>
    (await (await connect(playbook, setup)).listTools()).tools.map(({ name }) => name)
  const own = ['complete_step', 'skip_step', 'fail_step', 'finish']
  const strict = definePlaybook({ id: 'p', name: 'P', steps })
  expect(await names(strict)).toEqual(['a', 'b', ...own])
  expect(await names(strict, { observe: true })).toEqual(['a', 'b', 'c', ...own])
  const open = definePlaybook({ id: 'p', name: 'P', steps, allowExtraTools: true })
  expect(await names(open)).toEqual(['a', 'b', 'c', ...own])
})

test('W3: each call counts against max_iterations, the refused ones too', async () => {
  const client = await connect(definePlaybook({ id: 'p', name: 'P', steps, maxIterations: 3 }))
  for (let call = 1; call <= 3; call++) await client.callTool({ name: 'b', arguments: {} })
  const late = await client.callTool({ name: 'a', arguments: {} })
  expect(late.isError).toBe(true)
  expect(JSON.stringify(late.structuredContent)).toContain('step_failed')
})

test('W2: a record that cannot be written lets nothing through, and the client is told', async () => {
  const journal = new MemoryJournal()
  const client = await connect(definePlaybook({ id: 'p', name: 'P', steps }), { journal })
  await client.callTool({ name: 'a', arguments: {} })
  await journal.close()
  const refused = await client.callTool({ name: 'b', arguments: {} })
  expect(refused.isError).toBe(true)
  expect(JSON.stringify(refused.content)).not.toContain('b ran')
})

test('a limit over several runs is counted over all runs of the journal', async () => {
  const journal = new MemoryJournal()
  const text = '{ id: p, risk: { irreversible: allow }, limits: [{ tool: a, max_calls: 1, per: 1h }] }'
  const policies = [compilePolicy(parsePolicy(text, { format: 'yaml' }).policy!)]
  const approvals: GatewayApprovals = {
    setupFor: (id) => ({ policies, principal: { id, kind: 'local', roles: [] } }),
    votesOn: () => [],
    wordsFor: ({ callId }) => ({ id: callId, takes: [], command: '' }),
  }
  const said = async () => {
    const client = await connect(definePlaybook({ id: 'p', name: 'P', steps }), { journal, approvals })
    return JSON.stringify(await client.callTool({ name: 'a', arguments: {} }))
  }
  expect(await said()).toContain('a ran')
  expect(await said()).toContain('at most 1 calls in 1h per tenant, and there were 1')
})

test('says at the start what keeps a run from beginning', async () => {
  const inputs = { order: { type: 'string' as const, required: true } }
  const asking = definePlaybook({ id: 'p', name: 'P', steps, inputs })
  await expect(connect(asking)).rejects.toThrow("'order' is missing")
  await connect(asking, { only: { run: null, inputs: { order: 'O-1' } } })
  const other = definePlaybook({
    id: 'q',
    name: 'Q',
    steps: [{ id: 'x', description: 'X', expectedTools: ['aa'] }],
  })
  await expect(connect(other)).rejects.toMatchObject({ code: 'unknown_tool' })
})

test('R1, R4: a run is taken up only under its own playbook, and as it was begun', async () => {
  const journal = new MemoryJournal()
  const playbook = definePlaybook({ id: 'p', name: 'P', steps })
  const only = { run: 'named', inputs: {} }
  await (await connect(playbook, { journal, only })).callTool({ name: 'a', arguments: {} })
  expect(await plan(await connect(playbook, { journal, only }))).toMatchObject({ current: 'two' })
  const changed = definePlaybook({ id: 'p', name: 'P', steps: steps.slice(0, 1) })
  await expect(connect(changed, { journal, only })).rejects.toMatchObject({ code: 'playbook_mismatch' })
  await expect(connect(playbook, { journal, only, observe: true })).rejects.toThrow(
    'was enforced when it was begun',
  )
})

test('an answer that is too long is cut with a note; data is not cut, and the client is told that the call succeeded', async () => {
  const answers = {
    a: { content: [{ type: 'text' as const, text: 'x'.repeat(2_000_000) }] },
    b: { content: [], structuredContent: { long: 'x'.repeat(2_000_000) } },
  }
  let next: keyof typeof answers = 'a'
  const long: Upstream = {
    ...upstream,
    tools: (['a', 'b'] as const).map((name) =>
      tool({
        name: `s/${name}`,
        description: name,
        execute: () => {
          next = name
          return 'x'.repeat(2_000_000)
        },
      }),
    ),
    takeAnswer: () => answers[next],
  }
  const client = await connect(definePlaybook({ id: 'p', name: 'P', steps }), { upstream: long })
  const cut = await client.callTool({ name: 'a', arguments: {} })
  expect(cut.isError).not.toBe(true)
  expect(JSON.stringify(cut).length).toBeLessThan(1_100_000)
  expect(JSON.stringify(cut)).toContain('[cut: this has 2000000 bytes, of which you see 1048576]')
  const refused = await client.callTool({ name: 'b', arguments: {} })
  expect(refused).toMatchObject({
    isError: true,
    structuredContent: { executed: true, outcome: 'succeeded' },
  })
  expect(JSON.stringify(refused).length).toBeLessThan(2000)
  expect(await plan(client)).toMatchObject({ progress: 1 })
})

test('P2: the procedure keeps its name, whatever prompts a server has', async () => {
  const passing = [
    {
      name: 's',
      passes: ['prompts' as const],
      ask: async () => ({ prompts: [{ name: 'p' }, { name: 'q' }], messages: [] }),
    },
  ]
  const playbook = definePlaybook({ id: 's/p', name: 'P', steps })
  const client = await connect(playbook, { upstream: { ...upstream, passing } })
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['s/p', 's/q'])
  expect(JSON.stringify(await client.getPrompt({ name: 's/p' }))).toContain('First.')
})

test('P1: what cannot be recorded is not asked for', async () => {
  const journal = new MemoryJournal()
  const asked: unknown[] = []
  const passing = [
    {
      name: 's',
      passes: ['resources' as const],
      ask: async (...given: unknown[]) => {
        asked.push(given[0])
        return { contents: [{ uri: 'x', text: 'read' }] }
      },
    },
  ]
  const playbook = definePlaybook({ id: 'p', name: 'P', steps })
  const client = await connect(playbook, { journal, upstream: { ...upstream, passing } })
  const uri = 'lockstep://server/s/x'
  expect((await client.readResource({ uri })).contents).toEqual([{ uri, text: 'read' }])
  await journal.close()
  await expect(client.readResource({ uri })).rejects.toThrow()
  expect(asked).toEqual(['resources/read'])
})
