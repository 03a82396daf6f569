/** Starts `lockstep mcp` as clients do: as a process of its own, in a folder of its own. */
import { deskProgram, lockstepProgram } from '../built-programs.ts'
import { readRuns } from '../e2e/read-runs.ts'
import { spawn, type ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ElicitResult,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

export type Revision = '2025-11-25' | '2026-07-28'
export const revisions: readonly Revision[] = ['2025-11-25', '2026-07-28']

/** The command that tests start. */
export const bin = lockstepProgram
export const deskServer = deskProgram
const refundDesk = fileURLToPath(new URL('../../examples/refund-desk.yaml', import.meta.url))

/** Many short processes run the same code: compiled once, they start in half the time. */
const started = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
}

/** A call and what it should look like: the steps of the refund desk, done right. */
export const rightCalls: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ['lookup_customer', { customer_id: 'C-7' }],
  ['lookup_order', { order_id: 'ORD-42' }],
  ['refund', { order_id: 'ORD-42', customer_id: 'C-7', amount: 30 }],
  ['notify_customer', { customer_id: 'C-7', message: 'Refunded.' }],
]

/** A folder with a playbook and a file of servers. */
export class Desk {
  readonly folder = mkdtempSync(join(tmpdir(), 'lockstep-mcp-'))
  readonly playbook = join(this.folder, 'refund-desk.yaml')
  readonly #log = join(this.folder, 'desk.log')

  constructor() {
    copyFileSync(refundDesk, this.playbook)
    this.behave('')
  }

  /** Makes the next server that is started misbehave. */
  behave(mode: string, settings: object = {}): void {
    const env = { ...started, DESK_MODE: mode, DESK_LOG: this.#log }
    const desk = { command: process.execPath, args: [deskServer], env, revision: '2025-11-25', ...settings }
    this.serve({ desk })
  }

  serve(mcpServers: object): void {
    writeFileSync(join(this.folder, 'servers.json'), JSON.stringify({ mcpServers }))
  }

  /** The command line of a gateway in this folder. */
  command(...flags: string[]): string[] {
    const servers = join(this.folder, 'servers.json')
    const data = join(this.folder, 'data')
    return [bin, 'mcp', '--playbook', this.playbook, '--servers', servers, '--data', data, ...flags]
  }

  /** What really reached the shop: the names of the tools. */
  get done(): string[] {
    if (!existsSync(this.#log)) return []
    const lines = readFileSync(this.#log, 'utf8').trim().split('\n')
    return lines.map((line) => (JSON.parse(line) as { name: string }).name)
  }

  /** The entries of every recorded run. */
  get record(): { run: string; type: string; principal: string; data: Record<string, unknown> }[] {
    return readRuns(join(this.folder, 'data')) as Desk['record']
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The person at a client: what they answer to a form. */
export type Person = (message: string) => ElicitResult

function newClient(revision: Revision, person: Person | null): Client {
  const mode = revision === '2026-07-28' ? { pin: revision } : ('legacy' as const)
  const capabilities = person === null ? {} : { elicitation: { form: {} } }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities })
  if (person !== null) client.setRequestHandler('elicitation/create', ({ params }) => person(params.message))
  return client
}

/** A stock client whose server is a gateway. */
export interface StdioClient {
  readonly client: Client
  readonly call: (tool: string, args?: Record<string, unknown>) => Promise<CallToolResult>
  /** Everything the gateway said on standard error; complete after `close`. */
  readonly said: () => string
  readonly close: () => Promise<void>
  /** Ends the gateway as a crash would. */
  readonly crash: () => void
}

export async function connectStdio(
  command: readonly string[],
  revision: Revision,
  env: Record<string, string> = {},
  person: Person | null = null,
): Promise<StdioClient> {
  let said = ''
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...command],
    stderr: 'pipe',
    env: { ...started, ...env },
  })
  transport.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const client = newClient(revision, person)
  await client.connect(transport)
  return {
    client,
    call: (name, args = {}) => client.callTool({ name, arguments: args }),
    said: () => said,
    close: () => client.close(),
    crash: () => process.kill(transport.pid!, 'SIGKILL'),
  }
}

/** A gateway that listens, and stock clients of it. */
export class HttpGateway {
  readonly #child: ChildProcess
  #said = ''

  private constructor(child: ChildProcess) {
    this.#child = child
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString()
    })
  }

  static async start(command: readonly string[], env: Record<string, string>): Promise<HttpGateway> {
    const gateway = new HttpGateway(
      spawn(process.execPath, [...command, '--http', '0'], {
        env: { ...started, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
    )
    while (gateway.#url === undefined) {
      if (gateway.#child.exitCode !== null) throw new Error(gateway.said)
      await new Promise((resolve) => {
        setTimeout(resolve, 20)
      })
    }
    return gateway
  }

  get #url(): string | undefined {
    return /listening on (\S+)/.exec(this.#said)?.[1]
  }

  get url(): string {
    return this.#url!
  }

  get said(): string {
    return this.#said
  }

  async connect(token: string, revision: Revision, person: Person | null = null): Promise<Client> {
    const client = newClient(revision, person)
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(new StreamableHTTPClientTransport(new URL(this.url), { requestInit: { headers } }))
    return client
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => {
      this.#child.once('exit', resolve)
    })
    this.#child.kill('SIGTERM')
    await gone
  }
}

/** What a refusal says as data. */
export function refusal(result: CallToolResult): Record<string, unknown> {
  if (result.isError !== true) throw new Error(`not refused: ${JSON.stringify(result)}`)
  return result.structuredContent as Record<string, unknown>
}

/** All the text of an answer. */
export function textOf(result: CallToolResult): string {
  return result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}
