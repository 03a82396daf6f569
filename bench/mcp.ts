/**
 * What the gateway adds to a call of a tool: the same client, the same server, once directly and once through `lockstep mcp`, in turns.
 * Each side is processes of its own that talk over standard input and output, as MCP clients start them. The tool is one that may do
 * anything, so its intent is synced to disk before the call is made. What is added is one more hop between processes (about what a
 * direct call takes), that sync, and the judgement.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { percentile, type Row } from './measure.ts'

const calls = 2000
const warmUp = 300

const bin = fileURLToPath(new URL('../bin/lockstep.js', import.meta.url))
const echo = fileURLToPath(new URL('mcp-echo-server.ts', import.meta.url))

const playbook = `
id: bench
name: Bench
steps:
  - id: echo
    description: Echo as often as you like.
    expected_tools: [echo]
    complete_when: declared
rules:
  - tool: echo
    require: args.number >= 0
    message: the number is below zero
`

export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-bench-'))
  const clients: Client[] = []
  try {
    writeFileSync(join(folder, 'bench.yaml'), playbook)
    const server = [process.execPath, echo]
    const gateway = [bin, 'mcp', '--playbook', join(folder, 'bench.yaml'), '--data', folder, '--', ...server]
    for (const args of [[echo], gateway]) clients.push(await connect(args))
    const [direct, guarded] = await measure(clients as [Client, Client])
    const added = (share: number) => percentile(guarded, share) - percentile(direct, share)
    return [
      {
        what: 'a call, directly',
        unit: 'ms',
        p50: percentile(direct, 0.5),
        p99: percentile(direct, 0.99),
        goal: null,
      },
      {
        what: 'the same through the gateway',
        unit: 'ms',
        p50: percentile(guarded, 0.5),
        p99: percentile(guarded, 0.99),
        goal: null,
      },
      { what: 'added by the gateway', unit: 'ms', p50: added(0.5), p99: added(0.99), goal: 1 },
      {
        what: 'the gateway as a ratio to a direct connection',
        unit: '×',
        p50: percentile(guarded, 0.5) / percentile(direct, 0.5),
        p99: percentile(guarded, 0.99) / percentile(direct, 0.99),
        goal: null,
      },
    ]
  } finally {
    for (const client of clients) await client.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function connect(args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [...args], stderr: 'ignore' }),
  )
  return client
}

async function measure(clients: readonly [Client, Client]): Promise<[number[], number[]]> {
  const samples: [number[], number[]] = [[], []]
  for (let call = -warmUp; call < calls; call++) {
    for (const side of [0, 1] as const) {
      const start = process.hrtime.bigint()
      const { isError } = await clients[side].callTool({ name: 'echo', arguments: { number: call + warmUp } })
      const spent = Number(process.hrtime.bigint() - start) / 1e6
      if (isError === true) throw new Error('a call of the bench failed')
      if (call >= 0) samples[side].push(spent)
    }
  }
  return samples
}
