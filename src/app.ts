/**
 * The one place where contracts meet implementations. What only some commands need is loaded when it is asked for.
 */
import type { Readable, Writable } from 'node:stream'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { DeclaredValue } from './adapter/declared-tool.ts'
import type { SecretVault } from './adapter/secret-vault.ts'
import type { AgentStream } from './agent/agent.ts'
import type { Journal } from './journal/journal.ts'
import type { Upstream } from './mcp/gateway-tools.ts'
import type { Playbook } from './playbook/playbook.ts'
import type { Json, JsonObject } from './shared/json.ts'
import { LockstepError } from './shared/lockstep-error.ts'
import type { Config, ConfigValue, McpServerConfig } from './source/config.ts'
import { loadModule } from './source/load-module.ts'
import { isTool } from './tool/is-tool.ts'
import type { Tool } from './tool/tool.ts'

export type { AgentEvent } from './agent/agent-event.ts'
export type { AgentResult } from './agent/agent-options.ts'

/** A journal in a folder, one file per run. */
export async function openFileJournal(folder: string): Promise<Journal> {
  const { FileJournal } = await import('./journal/file/file-journal.ts')
  return new FileJournal(folder)
}

/** MCP servers that are connected. */
export interface ConnectedServers extends Upstream {
  readonly servers: readonly { readonly name: string; readonly revision: string }[]
  close(): Promise<void>
}

/**
 * Connects to MCP servers, given in the shape MCP clients use. Throws `invalid_value` if it is another, `mcp_unreachable` if one of
 * them cannot be used.
 */
export async function connectMcpServers(
  servers: unknown,
  onNotice: (text: string) => void,
): Promise<ConnectedServers> {
  const { createMcpTools } = await import('./adapter/mcp/create-mcp-tools.ts')
  const { readMcpServers } = await import('./adapter/mcp/server-config.ts')
  const connected = await createMcpTools(readMcpServers(servers), { keepAnswers: true, onNotice })
  return { ...connected, takeAnswer: (key) => connected.takeAnswer(key) as unknown as CallToolResult | null }
}

/** Connects to the MCP servers of a configuration; its secrets are masked in everything that comes back. */
export async function connectConfiguredServers(
  config: Config,
  onNotice: (text: string) => void,
): Promise<ConnectedServers> {
  const { maskTool } = await import('./adapter/masked-tool.ts')
  const { SecretVault } = await import('./adapter/secret-vault.ts')
  const vault = new SecretVault()
  const connected = await connectMcpServers(await resolveServers(config.mcpServers, vault), (text) =>
    onNotice(vault.maskText(text)),
  )
  return {
    ...connected,
    tools: connected.tools.map((tool) => maskTool(tool, vault)),
    takeAnswer(key) {
      const answer = connected.takeAnswer(key)
      return answer === null ? null : (vault.maskJson(answer as unknown as Json) as unknown as CallToolResult)
    },
  }
}

/** A tool, and where it comes from. */
export interface BoundTool {
  readonly tool: Tool
  /** For people: `http POST https://shop.example/orders`, `exec node`, `module ./tools.ts`, `mcp files`. */
  readonly origin: string
  /** Whether somebody said what it can do at worst; otherwise it counts as irreversible. Null where that cannot be seen. */
  readonly riskDeclared: boolean | null
}

/** The tools of a configuration, ready to be called. */
export interface OpenTools {
  readonly tools: readonly BoundTool[]
  /** The text without any secret that was resolved so far. */
  readonly maskText: (text: string) => string
  close(): Promise<void>
}

/** Binds the tools of a configuration. Throws `invalid_config` for a module without tools, `duplicate_tool` for a name used twice. */
export async function openTools(
  config: Config | null,
  options: { readonly inputs?: JsonObject; readonly onNotice?: (text: string) => void } = {},
): Promise<OpenTools> {
  const { SecretVault } = await import('./adapter/secret-vault.ts')
  const vault = new SecretVault()
  const maskText = (text: string) => vault.maskText(text)
  if (config === null) return { tools: [], maskText, close: async () => undefined }
  await learnSecrets(config, vault)
  const declared = await declaredTools(config, vault, options.inputs ?? {})
  const modules = await moduleTools(config.modules, vault)
  const mcp = await mcpTools(config.mcpServers, vault, options.onNotice ?? (() => undefined))
  const tools = [...declared, ...modules, ...mcp.tools]
  const names = new Set<string>()
  for (const { tool, origin } of tools) {
    if (names.has(tool.name)) {
      await mcp.close()
      throw new LockstepError(
        'duplicate_tool',
        `There is a tool '${tool.name}' already, besides the one of ${origin}.`,
      )
    }
    names.add(tool.name)
  }
  return { tools, maskText, close: mcp.close }
}

/** Lets the mask know, before anything is shown, what can be looked up without running a program. */
async function learnSecrets(config: Config, vault: SecretVault): Promise<void> {
  const values = [
    ...config.http.flatMap(({ headers }) => Object.values(headers)),
    ...config.exec.flatMap(({ env }) => Object.values(env)),
  ]
  for (const value of values) {
    if (value.kind !== 'secret' || value.reference.from === 'exec') continue
    // A secret that is not there is told when the tool that needs it is used.
    await vault.resolve(value.reference).catch(() => undefined)
  }
}

async function declaredTools(config: Config, vault: SecretVault, inputs: JsonObject): Promise<BoundTool[]> {
  const { createHttpTool } = await import('./adapter/http/http-tool.ts')
  const { createExecTool } = await import('./adapter/exec/exec-tool.ts')
  return [
    ...config.http.map((declared) => ({
      tool: createHttpTool(declared, { vault, inputs }),
      origin: `http ${declared.method} ${declared.url.split('?')[0]}`,
      riskDeclared: declared.risk !== null,
    })),
    ...config.exec.map((declared) => ({
      tool: createExecTool(declared, { vault, inputs }),
      origin: `exec ${declared.command[0]}`,
      riskDeclared: declared.risk !== null,
    })),
  ]
}

async function moduleTools(paths: readonly string[], vault: SecretVault): Promise<BoundTool[]> {
  const { maskTool } = await import('./adapter/masked-tool.ts')
  const bound: BoundTool[] = []
  for (const path of paths) {
    const exported = Object.values(await loadModule(path)).flatMap((value) =>
      Array.isArray(value) ? value : [value],
    )
    // A tool that is also the default export is one tool.
    const tools = new Set(exported.filter((value) => isTool(value)))
    if (tools.size === 0) {
      throw new LockstepError('invalid_config', `${path} exports no tool.`, {
        hint: 'export what tool({ name, description, execute }) returns',
      })
    }
    for (const tool of tools)
      bound.push({
        tool: maskTool(tool, vault),
        origin: `module ${path}`,
        riskDeclared: null,
      })
  }
  return bound
}

async function mcpTools(
  servers: Config['mcpServers'],
  vault: SecretVault,
  onNotice: (text: string) => void,
): Promise<{ tools: BoundTool[]; close: () => Promise<void> }> {
  if (Object.keys(servers).length === 0) return { tools: [], close: async () => undefined }
  const { createMcpTools } = await import('./adapter/mcp/create-mcp-tools.ts')
  const { readMcpServers } = await import('./adapter/mcp/server-config.ts')
  const { maskTool } = await import('./adapter/masked-tool.ts')
  const resolved = readMcpServers(await resolveServers(servers, vault))
  const { tools, close } = await createMcpTools(resolved, { onNotice })
  return {
    tools: tools.map((tool) => {
      const [server = '', ...rest] = tool.name.split('/')
      const riskDeclared = servers[server]?.tools[rest.join('/')]?.risk !== undefined
      return { tool: maskTool(tool, vault), origin: `mcp ${server}`, riskDeclared }
    }),
    close,
  }
}

async function resolveServers(
  servers: Config['mcpServers'],
  vault: SecretVault,
): Promise<Record<string, unknown>> {
  const resolved: Record<string, unknown> = {}
  for (const [name, server] of Object.entries(servers)) resolved[name] = await resolveServer(server, vault)
  return resolved
}

/** A server as MCP clients write it, with the secrets in their places: it is about to be connected. */
async function resolveServer(server: McpServerConfig, vault: SecretVault): Promise<unknown> {
  const values = async (given: Readonly<Record<string, ConfigValue>>) => {
    const entries = Object.entries(given).map(async ([name, value]) => [
      name,
      await resolveValue(value, vault),
    ])
    return Object.fromEntries(await Promise.all(entries)) as Record<string, string>
  }
  return 'command' in server
    ? { ...server, env: await values(server.env) }
    : { ...server, headers: await values(server.headers) }
}

async function resolveValue(value: DeclaredValue, vault: SecretVault): Promise<string> {
  return value.kind === 'text' ? value.text : value.prefix + (await vault.resolve(value.reference))
}

/** What a run of an agent is given. */
export interface AgentRunSetup {
  readonly playbook: Playbook
  readonly tools: readonly Tool[]
  readonly model: string
  readonly prompt: string
  readonly inputs: JsonObject
  /** The name of the run. */
  readonly run: string
  readonly journal: Journal
  readonly signal: AbortSignal
  /** Where the person is asked who is the model, if the model is `me`. */
  readonly person: { readonly input: Readable; readonly output: Writable }
}

/** Starts a run of an agent. Throws what stops a run from starting: a tool that is missing, a model that is not there. */
export async function startAgentRun(setup: AgentRunSetup): Promise<AgentStream> {
  const { Agent } = await import('./agent/agent.ts')
  const { resolveModel } = await import('./agent/resolve-model.ts')
  const { createPersonModel } = await import('./agent/person-model.ts')
  const { playbook, tools, journal, inputs, run, signal } = setup
  const model = setup.model === 'me' ? createPersonModel(setup.person) : await resolveModel(setup.model)
  const agent = new Agent({ model, playbook, tools, journal })
  return agent.stream(setup.prompt, { inputs, run, signal })
}
