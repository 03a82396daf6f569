import type { CallToolResult } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../shared/json.ts'
import { compileJsonSchema, type JsonSchema } from '../../shared/json-schema.ts'
import { tool, type Tool } from '../../tool/tool.ts'
import type { PassedMethod } from './ask-server.ts'
import type { CutText } from './forward-lines.ts'
import type { McpConnection } from './mcp-connection.ts'
import { readAnswer } from './read-answer.ts'
import type { McpServerConfig, McpServers } from './server-config.ts'

/** How tools of MCP servers are made. */
export interface McpToolsOptions {
  /** Hears of tools that cannot be used, one sentence each. */
  readonly onNotice?: (text: string) => void
  /** Keeps each answer as the server gave it until `takeAnswer` asks for it. Default false. */
  readonly keepAnswers?: boolean
  /** Masks secrets in what servers say on their standard error. Without it they have the terminal to themselves. */
  readonly cutText?: CutText
}

/** The tools of MCP servers, each under `server/tool`, and the connections behind them. */
export interface McpTools {
  readonly tools: readonly Tool[]
  /** The servers that are connected, and the revision each speaks. */
  readonly servers: readonly { readonly name: string; readonly revision: string }[]
  /** What the server says a tool is, now; null if it no longer has it. */
  definition(name: string): JsonObject | null
  /** Waits until what the server of a tool announced about its tools is known; at once if it announced nothing. */
  settled(name: string): Promise<void>
  /** The answer to a call as the server gave it, once, by the key of the call; null if there is none. */
  takeAnswer(key: string): JsonObject | null
  /** The servers of which something passes besides tools, and how they are asked for it. */
  readonly passing: readonly PassingServer[]
  /** Ends the connections, and the servers that were started. */
  close(): Promise<void>
}

/** A server of which something passes besides tools. */
export interface PassingServer {
  readonly name: string
  readonly passes: readonly ('resources' | 'prompts')[]
  /** The server's answer. Throws an error that names the server if there is none, or if it is too long. */
  ask(method: PassedMethod, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
}

const defaultSeconds = 60
const defaultBytes = 1_048_576

/**
 * Connects to MCP servers and gives their tools. Each is irreversible unless the configuration says otherwise: annotations are the
 * server's word, and are not trusted. Throws `mcp_unreachable` if one of the servers cannot be used.
 */
export async function createMcpTools(servers: McpServers, options: McpToolsOptions = {}): Promise<McpTools> {
  // Loaded when a server is wanted: who imports Lockstep for other things does not wait for it.
  const { McpConnection: connection } = await import('./mcp-connection.ts')
  const connections = new Map<string, McpConnection>()
  const close = async () => {
    await Promise.all(Array.from(connections.values(), (each) => each.close()))
  }
  const answers = new Map<string, CallToolResult>()
  const keep = options.keepAnswers === true ? answers : null
  const opened = await Promise.allSettled(
    Object.entries(servers).map(async ([name, config]) => {
      connections.set(name, await connection.open(name, config, options.cutText ?? null))
    }),
  )
  const failed = opened.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    await close()
    throw failed.reason
  }
  const tools = Object.entries(servers).flatMap(([name, config]) =>
    toolsOf(connections.get(name)!, config, keep, options.onNotice ?? (() => undefined)),
  )
  return {
    tools,
    passing: Object.entries(servers).flatMap(([name, { pass = [], timeoutSeconds, maxResultBytes }]) => {
      const limits = { seconds: timeoutSeconds ?? defaultSeconds, bytes: maxResultBytes ?? defaultBytes }
      if (pass.length === 0) return []
      const ask: PassingServer['ask'] = (method, params, signal) =>
        connections.get(name)!.ask(method, params, { ...limits, signal })
      return [{ name, passes: pass, ask }]
    }),
    servers: Array.from(connections.values(), ({ server, revision }) => ({ name: server, revision })),
    definition(name) {
      const slash = name.indexOf('/')
      return connections.get(name.slice(0, slash))?.definitions.get(name.slice(slash + 1)) ?? null
    },
    async settled(name) {
      await connections.get(name.slice(0, name.indexOf('/')))?.settled()
    },
    takeAnswer(key) {
      const answer = answers.get(key) ?? null
      answers.delete(key)
      // As JSON, so that who uses the library needs none of the protocol's types.
      return answer as JsonObject | null
    },
    close,
  }
}

function toolsOf(
  connection: McpConnection,
  config: McpServerConfig,
  keep: Map<string, CallToolResult> | null,
  notice: (text: string) => void,
): Tool[] {
  const seconds = config.timeoutSeconds ?? defaultSeconds
  return [...connection.definitions].flatMap(([name, definition]) => {
    const full = `${connection.server}/${name}`
    try {
      return [
        tool({
          name: full,
          description: textOr(definition['description'], textOr(definition['title'], full)),
          ...usableInput(definition, full, notice),
          risk: config.tools?.[name]?.risk ?? 'irreversible',
          timeoutSeconds: seconds,
          ...(config.maxResultBytes === undefined ? {} : { maxResultBytes: config.maxResultBytes }),
          async execute(args, context) {
            const answer = await connection.call(name, args, context, seconds)
            // Who gave up on the call no longer asks for its answer.
            if (!context.signal.aborted) keep?.set(context.idempotencyKey, answer)
            return readAnswer(answer)
          },
        }),
      ]
    } catch (error) {
      notice(`The tool '${full}' is left out: ${(error as Error).message}`)
      return []
    }
  })
}

/** The schema of the arguments, where it can be checked; the server checks the others itself, or nobody does. */
function usableInput(
  definition: JsonObject,
  name: string,
  notice: (text: string) => void,
): { input?: JsonSchema } {
  const { $schema: _, ...schema } = (definition['inputSchema'] ?? {}) as JsonObject
  try {
    compileJsonSchema(schema)
    return { input: schema }
  } catch (error) {
    notice(`The arguments of '${name}' cannot be checked before they are sent: ${(error as Error).message}`)
    return {}
  }
}

function textOr(value: unknown, other: string): string {
  return typeof value === 'string' && value !== '' ? value : other
}
