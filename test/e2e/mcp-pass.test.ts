import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  bin,
  connectStdio,
  Desk,
  deskServer,
  HttpGateway,
  revisions,
  rightCalls,
  type Revision,
  type StdioClient,
} from '../mcp/gateway-process.ts'
import { runLockstep } from './run-lockstep.ts'

const secret = 'secret-of-the-shop'
const pass = ['resources', 'prompts']

let desk: Desk
let open: StdioClient[] = []
let gateways: HttpGateway[] = []

beforeEach(() => {
  desk = new Desk()
})

afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  await Promise.all(gateways.map((each) => each.stop()))
  open = []
  gateways = []
  desk.remove()
})

/** A desk in a configuration, with what may pass of it. */
function server(mode: string, settings: object): object {
  const env = { DESK_MODE: mode, DESK_TOKEN: 'env:SHOP', DESK_LOG: join(desk.folder, 'desk.log') }
  return { command: process.execPath, args: [deskServer], env, ...settings }
}

function command(mcpServers: object): string[] {
  const path = join(desk.folder, 'lockstep.config.yaml')
  writeFileSync(path, JSON.stringify({ mcpServers }))
  // Where two servers have the same tools, the playbook says whose it means.
  const text = readFileSync(desk.playbook, 'utf8')
  if (Object.keys(mcpServers).length > 1) {
    const names = rightCalls.map(([tool]) => tool).join('|')
    const full = text.replaceAll(new RegExp(`(?<=\\[|"|tool: )(${names})(?=\\]|"|\\n)`, 'g'), 'desk/$1')
    writeFileSync(desk.playbook, full)
  }
  return [bin, 'mcp', '--playbook', desk.playbook, '--config', path]
}

const env = () => ({ SHOP: secret, LOCKSTEP_HOME: join(desk.folder, 'data'), LOCKSTEP_MCP_TOKEN: 'token' })

async function overStdio(mcpServers: object, revision: Revision = '2025-11-25'): Promise<StdioClient> {
  const client = await connectStdio(command(mcpServers), revision, env())
  open.push(client)
  return client
}

async function overHttp(
  mcpServers: object,
  revision: Revision,
): Promise<{ client: Client; said: () => string }> {
  const gateway = await HttpGateway.start(command(mcpServers), env())
  gateways.push(gateway)
  return { client: await gateway.connect('token', revision), said: () => gateway.said }
}

const till = 'lockstep://server/desk/desk://till'

describe.each(revisions.flatMap((revision) => ['stdio', 'HTTP'].map((way) => [revision, way] as const)))(
  'a stock client that speaks %s over %s',
  (revision, way) => {
    const connect = async (mcpServers: object) =>
      way === 'stdio' ? await overStdio(mcpServers, revision) : await overHttp(mcpServers, revision)

    test('reads resources and prompts of the servers that may pass them, under names of their own', async () => {
      const { client, said } = await connect({
        desk: server('', { pass }),
        other: server('', { pass: ['resources'] }),
        closed: server('', {}),
      })
      const { resources } = await client.listResources()
      expect(resources.map(({ uri }) => uri).filter((uri) => uri.startsWith('lockstep://server/'))).toEqual([
        till,
        'lockstep://server/desk/desk://orders?all#1',
        'lockstep://server/other/desk://till',
        'lockstep://server/other/desk://orders?all#1',
      ])
      const { resourceTemplates } = await client.listResourceTemplates()
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
        'lockstep://server/desk/desk://orders/{id}',
      )
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual(['refund-desk', 'desk/greet'])

      expect((await client.readResource({ uri: till })).contents).toEqual([
        { uri: till, text: 'all the money of [secret]' },
      ])
      for (const uri of [
        'lockstep://server/other/desk://orders?all#1',
        'lockstep://server/desk/desk://orders/7',
      ]) {
        expect((await client.readResource({ uri })).contents).toMatchObject([{ uri }])
      }
      expect(desk.done).toEqual(['desk://till', 'desk://orders?all#1', 'desk://orders/7'])
      const { messages } = await client.getPrompt({ name: 'desk/greet', arguments: { who: 'Ada' } })
      expect(messages.map(({ content }) => content)).toMatchObject([
        { type: 'text', text: 'Greet Ada from [secret].' },
        { type: 'resource_link', uri: till },
      ])
      // Who asked for what is on record, or told where there is no run.
      if (way === 'stdio') {
        const passed = desk.record.filter(({ type }) => type === 'gateway.passed').map(({ data }) => data)
        expect(passed[0]).toMatchObject({ server: 'desk', method: 'resources/read', subject: 'desk://till' })
        expect(passed.at(-1)).toMatchObject({ method: 'prompts/get', subject: 'greet' })
      } else expect(said()).toMatch(/\S+ asks desk for "desk:\/\/till" \(resources\/read\)/)
      expect(said() + JSON.stringify(desk.record)).not.toContain(secret)
    })

    test('reaches nothing that was not given to it', async () => {
      const { client } = await connect({
        desk: server('', { pass: ['prompts'] }),
        other: server('', { pass: ['resources'] }),
        closed: server('', {}),
      })
      for (const uri of [
        till,
        'desk://till',
        'lockstep://server/closed/desk://till',
        'lockstep://server/nobody/desk://till',
        'lockstep://server/other',
        'lockstep://server//desk://till',
        'lockstep://server/__proto__/desk://till',
        'LOCKSTEP://server/other/desk://till',
      ]) {
        await expect(client.readResource({ uri }), uri).rejects.toThrow(/not found/i)
      }
      for (const name of ['greet', 'other/greet', 'closed/greet', 'nobody/greet', '/greet', 'desk__greet']) {
        await expect(client.getPrompt({ name }), name).rejects.toThrow('There is no prompt')
      }
      expect(desk.done).toEqual([])
    })
  },
)

test.each([
  ['read-dies', /'desk' gave no usable answer to resources\/read: .*it is gone/],
  ['read-hangs', /'desk' gave no usable answer to resources\/read/],
  ['read-garbage', /'desk' gave no usable answer to resources\/read/],
  ['read-big', /'desk' answered resources\/read with 20\d+ bytes, more than the 1048576 that may pass/],
])('a server that fails (%s) is named in the error, and nothing else is touched', async (mode, message) => {
  // The one that is waited for in vain is not waited for long.
  const limit = mode === 'read-hangs' ? { timeout_seconds: 3 } : {}
  const { client, call } = await overStdio({ desk: server(mode, { pass, ...limit }) })
  await expect(client.readResource({ uri: till })).rejects.toThrow(message)
  if (mode === 'read-dies') {
    await expect(client.readResource({ uri: till })).rejects.toThrow("The MCP server 'desk' is gone")
    await expect(client.listResources()).rejects.toThrow("The MCP server 'desk' is gone")
    await expect(client.listPrompts()).rejects.toThrow("The MCP server 'desk' is gone")
    return
  }
  await expect(client.readResource({ uri: 'lockstep://server/desk/file:///etc/passwd' })).rejects.toThrow(
    /'desk'/,
  )
  expect((await call(...rightCalls[0]!)).isError).not.toBe(true)
})

test('a limit can be set, and holds for resources and for results of tools', async () => {
  const { client, call } = await overStdio({ desk: server('', { pass, max_result_bytes: 50 }) })
  await expect(client.readResource({ uri: till })).rejects.toThrow('more than the 50 that may pass')
  const cut = JSON.stringify(await call(...rightCalls[0]!))
  expect(cut).toMatch(/\[cut: this has \d+ bytes, of which you see 50\]/)
  expect(cut).toContain('step 2 of 4')
})

test('a list says which of several servers it lacks', async () => {
  const { client } = await overStdio({ desk: server('', { pass }), other: server('list-dies', { pass }) })
  const { resources, _meta } = await client.listResources()
  expect(resources.map(({ uri }) => uri)).toContain(till)
  expect(_meta?.['lockstep/unavailable']).toMatchObject([
    { server: 'other', reason: expect.stringContaining("The MCP server 'other'") },
  ])
})

test('says before it serves that a server does not offer what should pass, or that no such thing passes', async () => {
  const start = (settings: object) =>
    runLockstep(command({ desk: server('no-prompts', settings) }).slice(1), { cwd: desk.folder, env: env() })
  expect(await start({ pass })).toMatchObject({
    code: 1,
    err: expect.stringContaining("The MCP server 'desk' offers no prompts. Leave prompts out of its `pass`."),
  })
  expect(await start({ pass: ['sampling'] })).toMatchObject({
    code: 1,
    err: expect.stringContaining('must be a list of resources and prompts'),
  })
})

test('a server gets no way back to the client: no sampling, no elicitation, no roots', async () => {
  const { client } = await overStdio({ desk: server('ask-back', { pass }) })
  const { messages } = await client.getPrompt({ name: 'desk/greet', arguments: { who: 'Ada' } })
  expect(messages[0]?.content).toMatchObject({ text: 'refused, refused, refused' })
})

test('passes nothing unless it is configured', async () => {
  const { client } = await overStdio({ desk: server('', {}) })
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['lockstep://plan'])
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['refund-desk'])
  await expect(client.readResource({ uri: till })).rejects.toThrow(/not found/i)
  await expect(client.getPrompt({ name: 'desk/greet' })).rejects.toThrow('There is no prompt')
  expect(desk.done).toEqual([])
})
