/**
 * One connection to one MCP server, as its client.
 *
 * Owns: the connection, and what the server says its tools are, now.
 *
 * Invariants
 * C1  Everything the server says is data: names, descriptions, annotations and schemas decide nothing.
 * C2  What was not sent cannot have happened: an error before that is a `ToolFailure`. After it, an error leaves open what
 *     happened, unless the operator vouches that the tool's errors mean that nothing did.
 * C3  Nothing waits for ever: connecting and every call have a limit.
 * C4  The server gets no way back: no sampling, no elicitation, no roots.
 * C5  A tool is called only while its server says of it what it said when the connection was made: from the moment the server
 *     announces a change until it is known, calls wait; if the tool is another one then, nothing is sent.
 * C6  What a server says on its standard error reaches the terminal with every secret masked.
 */
import type { Readable } from 'node:stream'
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { canonicalJson } from '../../shared/canonical-json.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { compileJsonSchema, type CompiledJsonSchema } from '../../shared/json-schema.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import { toJson } from '../../shared/to-json.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import type { ToolContext } from '../../tool/tool.ts'
import { askServer, type PassedMethod } from './ask-server.ts'
import { forwardLines, type CutText } from './forward-lines.ts'
import { isBare, markBare } from './mark-bare.ts'
import { readComplaint } from './read-answer.ts'
import type { McpServerConfig } from './server-config.ts'

const connectSeconds = 30
const probeSeconds = 10

/** A server that answered. */
export class McpConnection {
  readonly server: string
  readonly #config: McpServerConfig
  readonly #client: Client
  #definitions: ReadonlyMap<string, JsonObject> = new Map()
  /** What was heard first. */
  #offered: ReadonlyMap<string, JsonObject> = new Map()
  #changing: Promise<void> | null = null
  #gone: string | null = null

  private constructor(server: string, config: McpServerConfig) {
    this.server = server
    this.#config = config
    this.#client = new Client(
      { name: 'lockstep', version: '1' },
      {
        versionNegotiation: negotiation(config),
        inputRequired: { autoFulfill: false },
        jsonSchemaValidator: { getValidator: (schema) => validator(schema as JsonObject) as never },
        // At once, and by ourselves: while the package waits for more changes, the old definition would still count (C5).
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#askAgain() } },
      },
    )
    Object.assign(this.#client, {
      onclose: () => {
        this.#gone ??= 'it closed the connection'
      },
      // Noise on the line is the server's; what matters of it shows in the calls.
      onerror: () => undefined,
    })
  }

  /** Connects and asks for the tools. Throws `mcp_unreachable`. */
  static async open(
    server: string,
    config: McpServerConfig,
    cutText: CutText | null,
  ): Promise<McpConnection> {
    const connection = new McpConnection(server, config)
    try {
      const options = { timeout: connectSeconds * 1000 }
      await connection.#client.connect(transport(config, cutText), options)
      markBare(connection.#client)
      connection.#hear((await connection.#client.listTools(undefined, options)).tools)
      connection.#offered = connection.#definitions
      connection.#assertOffered()
      return connection
    } catch (cause) {
      await connection.close()
      if (LockstepError.isInstance(cause)) throw cause
      // Neither the arguments nor a whole address: they may carry a secret.
      const where = 'url' in config ? new URL(config.url).origin : config.command
      throw new LockstepError(
        'mcp_unreachable',
        `The MCP server '${server}' could not be used (${where}): ${reason(cause)}.`,
        {
          cause,
          hint:
            'url' in config
              ? 'Look whether it runs there, whether the address is that of its MCP endpoint (Streamable HTTP), and whether it takes the headers.'
              : 'Start it by hand and see what it says; it must speak MCP on its standard output.',
        },
      )
    }
  }

  /** What the server says its tools are, by their names there. It may say something else later. */
  get definitions(): ReadonlyMap<string, JsonObject> {
    return this.#definitions
  }

  /** Waits until what the server announced about its tools is known; at once if it announced nothing. */
  async settled(): Promise<void> {
    while (this.#changing !== null) await this.#changing
  }

  /** The revision that is spoken. */
  get revision(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? 'unknown'
  }

  /** Calls a tool (C2, C5). */
  async call(tool: string, args: JsonObject, context: ToolContext, seconds: number): Promise<CallToolResult> {
    const { server } = this
    if (this.#gone !== null) {
      throw new ToolFailure(`The MCP server '${server}' is gone (${this.#gone}), so nothing was sent`)
    }
    await this.settled()
    if (!sameDefinition(this.#offered.get(tool), this.#definitions.get(tool))) {
      throw new ToolFailure(
        `The MCP server '${server}' changed what '${tool}' is since it was connected, so nothing was sent`,
      )
    }
    let answer: CallToolResult
    try {
      answer = await this.#client.callTool(
        { name: tool, arguments: { ...args }, _meta: { 'lockstep/call': context.idempotencyKey } },
        // The gate gives up first, so that it is the one who says why.
        { signal: context.signal, timeout: seconds * 1000 + 1000 },
      )
    } catch (cause) {
      const gone = this.#gone === null ? '' : `; it is gone: ${this.#gone}`
      throw new Error(`The MCP server '${server}' gave no usable answer: ${reason(cause)}${gone}`, { cause })
    }
    if (isBare(answer)) {
      throw new Error(`The MCP server '${server}' gave no usable answer: it holds no content`)
    }
    if (answer.isError !== true) return answer
    const complaint = `The MCP server '${server}' reports an error: ${readComplaint(answer)}`
    throw this.#config.tools?.[tool]?.errors === 'not_applied'
      ? new ToolFailure(complaint)
      : new Error(complaint)
  }

  /** Asks for something other than a call of a tool. Throws an error that names the server; never waits for ever (C3). */
  async ask(
    method: PassedMethod,
    params: JsonObject,
    { signal, seconds, bytes }: { signal: AbortSignal; seconds: number; bytes: number },
  ): Promise<JsonObject> {
    const who = `The MCP server '${this.server}'`
    if (this.#gone !== null) throw new Error(`${who} is gone (${this.#gone})`)
    const limit = AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)])
    let answer: object
    try {
      answer = await askServer(this.#client, method, params, { signal: limit, timeout: seconds * 1000 })
    } catch (cause) {
      const gone = this.#gone === null ? '' : `; it is gone: ${this.#gone}`
      throw new Error(`${who} gave no usable answer to ${method}: ${reason(cause)}${gone}`, { cause })
    }
    const reading = toJson(answer)
    if (reading.problem !== null)
      throw new Error(`${who} gave no usable answer to ${method}: ${reading.problem}`)
    const size = Buffer.byteLength(JSON.stringify(reading.value))
    if (size <= bytes) return reading.value as JsonObject
    throw new Error(`${who} answered ${method} with ${size} bytes, more than the ${bytes} that may pass`)
  }

  async close(): Promise<void> {
    this.#gone ??= 'it was closed'
    await this.#client.close().catch(() => undefined)
  }

  /** What is to pass must be there: a list that is always empty would look like a server that has nothing. */
  #assertOffered(): void {
    const offered = this.#client.getServerCapabilities() ?? {}
    for (const kind of this.#config.pass ?? []) {
      if (offered[kind] !== undefined) continue
      throw new LockstepError('mcp_unreachable', `The MCP server '${this.server}' offers no ${kind}.`, {
        hint: `Leave ${kind} out of its \`pass\`.`,
      })
    }
  }

  /** Asks for the tools because the server says they changed. If it does not say what they are now, it has none. */
  #askAgain(): void {
    const options = { timeout: probeSeconds * 1000, cacheMode: 'refresh' } as const
    const before = this.#changing ?? Promise.resolve()
    const changing = before
      .then(async () => this.#hear((await this.#client.listTools(undefined, options)).tools))
      .catch(() => this.#hear([]))
      .then(() => {
        if (this.#changing === changing) this.#changing = null
      })
    this.#changing = changing
  }

  #hear(tools: readonly object[]): void {
    const heard = new Map<string, JsonObject>()
    for (const tool of tools) {
      const { _meta, ...definition } = tool as { _meta?: unknown; name?: unknown }
      const reading = toJson(definition)
      if (reading.problem !== null || !isJsonObject(reading.value)) continue
      const { name } = reading.value
      if (typeof name === 'string' && !heard.has(name)) heard.set(name, reading.value)
    }
    this.#definitions = heard
  }
}

function transport(
  config: McpServerConfig,
  cutText: CutText | null,
): StdioClientTransport | StreamableHTTPClientTransport {
  if ('url' in config) {
    const headers = config.headers ?? {}
    return new StreamableHTTPClientTransport(new URL(config.url), { requestInit: { headers } })
  }
  const started = new StdioClientTransport({
    command: config.command,
    args: [...(config.args ?? [])],
    env: { ...getDefaultEnvironment(), ...config.env },
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    // Where nothing is to be masked, the server keeps the terminal itself, with its width and colours.
    stderr: cutText === null ? 'inherit' : 'pipe',
  })
  if (cutText !== null && started.stderr !== null) {
    forwardLines(started.stderr as Readable, cutText, (text) => process.stderr.write(text))
  }
  return started
}

function sameDefinition(one: JsonObject | undefined, other: JsonObject | undefined): boolean {
  if (one === undefined || other === undefined) return false
  return one === other || canonicalJson(one) === canonicalJson(other)
}

function negotiation({ revision }: McpServerConfig): {
  mode: 'auto' | 'legacy' | { pin: string }
  probe: { timeoutMs: number }
} {
  const probe = { timeoutMs: probeSeconds * 1000 }
  if (revision === undefined) return { mode: 'auto', probe }
  return { mode: revision === '2025-11-25' ? 'legacy' : { pin: revision }, probe }
}

/** Our own checker in place of the package's, which writes code and runs it. A schema it cannot use checks nothing. */
function validator(schema: JsonObject): (input: unknown) => object {
  let compiled: CompiledJsonSchema | null = null
  try {
    const { $schema: _, ...rest } = schema
    compiled = compileJsonSchema(rest)
  } catch {
    compiled = null
  }
  return (input) => {
    const problems = compiled?.check(input) ?? []
    return problems.length === 0
      ? { valid: true, data: input, errorMessage: undefined }
      : { valid: false, data: undefined, errorMessage: problems.join('; ') }
  }
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
