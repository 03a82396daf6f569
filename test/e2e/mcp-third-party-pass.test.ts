import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bin, connectStdio, HttpGateway, refusal, textOf, type StdioClient } from '../mcp/gateway-process.ts'
import { runLockstep } from './run-lockstep.ts'

/** Servers as their authors publish them: the filesystem server, and the example server of the older official package. */
const filesystem = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-filesystem/package.json',
)
const older = createRequire(filesystem).resolve('@modelcontextprotocol/sdk/server/mcp.js')
const example = join(dirname(older), '../../esm/examples/server/simpleStreamableHttp.js')

const playbook = `
id: greet
name: Greet
steps:
  - id: look
    description: See which files there are.
    expected_tools: [list-files]
  - id: ask
    description: Ask who it is for.
    expected_tools: [collect-user-info]
`

let folder: string
let server: ChildProcess
let port: number
let client: StdioClient | null = null

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-third-'))
  writeFileSync(join(folder, 'greet.yaml'), playbook)
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  ;({ port } = probe.address() as AddressInfo)
  probe.close()
  const env = { PATH: process.env['PATH'] ?? '', MCP_PORT: String(port) }
  server = spawn(process.execPath, [example], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(server.stdout!, 'data')
})

afterEach(async () => {
  await client?.close()
  client = null
  server.kill()
  rmSync(folder, { recursive: true, force: true })
})

function command(pass: readonly string[]): string[] {
  const far = { url: `http://127.0.0.1:${port}/mcp`, pass, tools: { 'list-files': { risk: 'read' } } }
  const path = join(folder, 'lockstep.config.yaml')
  writeFileSync(path, JSON.stringify({ mcpServers: { far } }))
  return [bin, 'mcp', '--playbook', join(folder, 'greet.yaml'), '--config', path, '--data', folder]
}

const file = 'lockstep://server/far/file:///example/file1.txt'

test('resources and prompts of a server that others wrote pass under names of their own, and its links lead to them', async () => {
  client = await connectStdio(command(['resources', 'prompts']), '2025-11-25')
  const { resources } = await client.client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual([
    'lockstep://plan',
    'lockstep://server/far/https://example.com/greetings/default',
    file,
    'lockstep://server/far/file:///example/file2.txt',
  ])
  const listed = await client.call('list-files')
  const links = listed.content.flatMap((part) => (part.type === 'resource_link' ? [part.uri] : []))
  expect(links).toContain(file)
  expect((await client.client.readResource({ uri: file })).contents).toEqual([
    { uri: file, text: 'This is the content of file 1' },
  ])
  await expect(
    client.client.readResource({ uri: 'lockstep://server/far/file:///etc/passwd' }),
  ).rejects.toThrow("The MCP server 'far' gave no usable answer to resources/read")
  const { messages } = await client.client.getPrompt({
    name: 'far/greeting-template',
    arguments: { name: 'Ada' },
  })
  expect(messages[0]?.content).toMatchObject({ text: 'Please greet Ada in a friendly manner.' })
  await expect(client.client.getPrompt({ name: 'far/greeting-template' })).rejects.toThrow("'far'")
  // Its tools are held to the playbook all the same, and it gets no way to ask the client's person.
  expect(refusal(await client.call('greet', { name: 'Ada' }))).toMatchObject({ code: 'unexpected_tool' })
  const asked = await client.call('collect-user-info', { infoType: 'contact' })
  expect(textOf(asked)).toContain('Method not found')
})

test('without `pass` they are not there', async () => {
  client = await connectStdio(command([]), '2026-07-28')
  expect((await client.client.listResources()).resources.map(({ uri }) => uri)).toEqual(['lockstep://plan'])
  await expect(client.client.readResource({ uri: file })).rejects.toThrow(/not found/i)
  const listed = await client.call('list-files')
  const links = listed.content.flatMap((part) => (part.type === 'resource_link' ? [part.uri] : []))
  // A link that leads nowhere stays as its server wrote it.
  expect(links).toContain('file:///example/file1.txt')
})

test('the same over HTTP, until the server is gone', async () => {
  const gateway = await HttpGateway.start(command(['resources']), { LOCKSTEP_MCP_TOKEN: 'token' })
  try {
    const http = await gateway.connect('token', '2026-07-28')
    expect((await http.readResource({ uri: file })).contents).toMatchObject([{ uri: file }])
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
    await expect(http.readResource({ uri: file })).rejects.toThrow("The MCP server 'far'")
    await expect(http.listResources()).rejects.toThrow("The MCP server 'far'")
    await http.close()
  } finally {
    await gateway.stop()
  }
})

test('a server that offers no resources is named before anything is served', async () => {
  const path = join(folder, 'lockstep.config.yaml')
  const files = {
    command: process.execPath,
    args: [join(dirname(filesystem), 'dist/index.js'), folder],
    pass: ['resources'],
  }
  writeFileSync(path, JSON.stringify({ mcpServers: { files } }))
  const args = ['mcp', '--playbook', join(folder, 'greet.yaml'), '--config', path, '--data', folder]
  expect(await runLockstep(args, { cwd: folder })).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining("The MCP server 'files' offers no resources."),
  })
})
