import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { ToolFailure } from '../../tool/tool-failure.ts'
import { createMcpTools, type McpTools } from './create-mcp-tools.ts'

const rawServer = fileURLToPath(new URL('../../../test/mcp/raw-server.mjs', import.meta.url))
let open: McpTools | null = null
let told: string[] = []

afterEach(async () => {
  await open?.close()
  open = null
  vi.restoreAllMocks()
})

/** The tools of a server that answers as it is told to, and what it said on standard error. */
async function connect(env: Record<string, string>): Promise<(tool: string) => Promise<unknown>> {
  told = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told.push(String(text))
    return true
  })
  const server = { command: process.execPath, args: [rawServer], env, revision: '2025-11-25' as const }
  open = await createMcpTools(
    { raw: server },
    { cutText: (text) => text.replaceAll('planted-4711', '[secret]') },
  )
  const { tools } = open
  return async (name) => {
    const found = tools.find((each) => each.name === `raw/${name}`)!
    return await found.execute({}, { signal: new AbortController().signal, idempotencyKey: 'k' } as never)
  }
}

test.each(['{"foo":1}', '{}', '{"_meta":{}}', '{"isError":false}'])(
  'leaves open what happened when the answer to a call is %s',
  async (answer) => {
    const call = await connect({ ANSWER: answer })
    const error = await call('pay').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(ToolFailure)
    expect((error as Error).message).toContain("'raw' gave no usable answer")
  },
)

test.each([
  ['{"content":[]}', null],
  ['{"structuredContent":{"paid":true}}', { paid: true }],
  ['{"content":[{"type":"text","text":"paid"}],"foo":1}', 'paid'],
])('takes %s for a success', async (answer, result) => {
  expect(await (await connect({ ANSWER: answer }))('pay')).toEqual(result)
})

test('C5: sends nothing to a tool that its server just said is another one', async () => {
  const call = await connect({ CHANGE: '1' })
  await call('look')
  // At once: the server has announced the change, and nobody has asked it yet what changed.
  const error = await call('pay').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ToolFailure)
  expect((error as Error).message).toContain("changed what 'pay' is since it was connected")
  expect(told.join('')).not.toContain('called pay')
})

test('C6: masks what a server says on standard error', async () => {
  const call = await connect({ TOKEN: 'planted-4711' })
  await call('look')
  await expect.poll(() => told.join('')).toContain('called look')
  expect(told.join('')).toContain('starting with [secret]')
  expect(told.join('')).not.toContain('planted-4711')
})

test.each([
  ['an address', { url: 'http://127.0.0.1:1/mcp' }, 'Streamable HTTP'],
  ['a command', { command: 'no-such-command-anywhere' }, 'standard output'],
])('says of a server with %s that cannot be used what to look at', async (_, server, hint) => {
  await expect(createMcpTools({ raw: server })).rejects.toMatchObject({
    code: 'mcp_unreachable',
    hint: expect.stringContaining(hint),
  })
})
