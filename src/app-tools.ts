/**
 * The tools and servers of a configuration, bound to what carries them out. The command line reaches it through `app.ts`.
 */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { DeclaredValue } from './adapter/declared-tool.ts'
import type { McpToolsOptions } from './adapter/mcp/create-mcp-tools.ts'
import type { SecretVault } from './adapter/secret-vault.ts'
import type { Upstream } from './mcp/gateway-tools.ts'
import type { PassingServer } from './mcp/passage.ts'
import type { Playbook } from './playbook/playbook.ts'
import type { PracticeHome } from './practice/practice-home.ts'
import type { Json, JsonObject } from './shared/json.ts'
import { LockstepError } from './shared/lockstep-error.ts'
import { messageOf } from './shared/message-of.ts'
import type { Config, ConfigValue, McpServerConfig } from './source/config.ts'
import { secretsOfConfig } from './source/config-secrets.ts'
import { dataFolder } from './source/data-folder.ts'
import { loadModule } from './source/load-module.ts'
import { readPlaybookReference } from './source/playbook-reference.ts'
import { serversInDryRun } from './source/servers-in-dry-run.ts'
import { isTool } from './tool/is-tool.ts'
import type { SecretResolver } from './tool/secret-resolver.ts'
import type { Tool } from './tool/tool.ts'

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
  vault: SecretVault | null = null,
): Promise<ConnectedServers> {
  const { createMcpTools } = await import('./adapter/mcp/create-mcp-tools.ts')
  const { readMcpServers } = await import('./adapter/mcp/server-config.ts')
  const options = { keepAnswers: true, onNotice, ...masking(vault) }
  const connected = await masked(createMcpTools(readMcpServers(servers), options), vault)
  return { ...connected, takeAnswer: (key) => connected.takeAnswer(key) as unknown as CallToolResult | null }
}

/**
 * Connects to the MCP servers of a configuration and binds its other tools for whichever inputs a run has; its secrets are masked in
 * everything that comes back.
 */
export async function connectConfigured(
  config: Config,
  onNotice: (text: string) => void,
): Promise<ConnectedServers> {
  const { maskTool } = await import('./adapter/masked-tool.ts')
  const vault = await createVault()
  await learnSecrets(config, vault)
  const declared = await declaredTools(config, vault)
  const modules = await moduleTools(config.modules, vault)
  const connected = await connectMcpServers(
    await resolveServers(config.mcpServers, vault),
    (text) => onNotice(vault.maskText(text)),
    vault,
  )
  const practice = await practiceTools(config)
  return {
    ...connected,
    close: async () => void (await Promise.all([connected.close(), practice.close()])),
    tools: connected.tools.map((tool) => maskTool(tool, vault)),
    own: (inputs) => [...declared(inputs), ...modules, ...practice.tools].map(({ tool }) => tool),
    passing: connected.passing?.map((server) => maskServer(server, vault)) ?? [],
    takeAnswer(key) {
      const answer = connected.takeAnswer(key)
      return answer === null ? null : (vault.maskJson(answer as unknown as Json) as unknown as CallToolResult)
    },
  }
}

/** How what servers say on their standard error is masked. */
function masking(vault: SecretVault | null): Pick<McpToolsOptions, 'cutText'> {
  return vault === null ? {} : { cutText: (text, most, whole) => vault.cutText(text, most, whole) }
}

/** What is opened; what goes wrong with it says so without any secret, nor a cause that may hold one. */
async function masked<Opened>(opening: Promise<Opened>, vault: SecretVault | null): Promise<Opened> {
  return await opening.catch((error: unknown) => {
    if (vault === null || !LockstepError.isInstance(error)) throw error
    const { code, message, hint } = error
    throw new LockstepError(code, vault.maskText(message), { hint })
  })
}

/** The server with every secret masked in what it answers and in what goes wrong with it. */
function maskServer(server: PassingServer, vault: SecretVault): PassingServer {
  return {
    ...server,
    async ask(method, params, signal) {
      const answer = await server.ask(method, params, signal).catch((error: unknown) => {
        // Without its cause, which may hold a secret.
        throw new Error(vault.maskText(messageOf(error)))
      })
      return vault.maskJson(answer) as JsonObject
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
  /** The value without any secret that was resolved so far; it keeps its shape. */
  readonly maskJson: (value: Json) => Json
  /** How many letters at the end of the text are the beginning of such a secret, whose rest may follow. */
  readonly openEnd: (text: string) => number
  /** Finds the secrets that a playbook declares; they are masked from then on. */
  readonly secrets: SecretResolver
  close(): Promise<void>
}

/** What a dry run does with tools. */
export interface DryBinding {
  /** Whether tools that only read are called all the same, with everything they need. */
  readonly callReads: boolean
  /** The tools that will be asked for, which stand in for those of a server that is not started. */
  readonly needed: readonly string[]
}

/** Binds the tools of a configuration. Throws `invalid_config` for a module without tools, `duplicate_tool` for a name used twice. */
export async function openTools(
  config: Config | null,
  options: {
    readonly inputs?: JsonObject
    /** The secrets of the playbook, by name: they are masked from the beginning, unless it is a dry run. */
    readonly secrets?: Playbook['secrets']
    readonly onNotice?: (text: string) => void
    /** Null binds for real. In a dry run no program is run for a secret, and what is started is told. */
    readonly dry?: DryBinding | null
  } = {},
): Promise<OpenTools> {
  const vault = await createVault()
  const masks = {
    maskText: (text: string) => vault.maskText(text),
    maskJson: (value: Json) => vault.maskJson(value),
    openEnd: (text: string) => vault.openEnd(text),
  }
  const secrets: SecretResolver = async (_, reference) =>
    await vault.resolve(readPlaybookReference(reference))
  // Masked from the beginning; one that is not to be had is told of by the call that needs it.
  for (const [name, reference] of options.dry == null ? Object.entries(options.secrets ?? {}) : [])
    await Promise.resolve(secrets(name, reference)).catch(() => undefined)
  if (config === null) return { tools: [], ...masks, secrets, close: async () => undefined }
  await learnSecrets(config, vault)
  const declared = (await declaredTools(config, vault))(options.inputs ?? {})
  const modules = await moduleTools(config.modules, vault)
  const say = (text: string) => options.onNotice?.(vault.maskText(text))
  const mcp = await mcpTools(config.mcpServers, vault, say, options.dry ?? null)
  const practice = await practiceTools(config)
  const tools = [...declared, ...modules, ...practice.tools, ...mcp.tools]
  const close = async () => void (await Promise.all([mcp.close(), practice.close()]))
  const names = new Set<string>()
  for (const { tool, origin } of tools) {
    if (names.has(tool.name)) {
      await close()
      throw new LockstepError(
        'duplicate_tool',
        `There is a tool '${tool.name}' already, besides the one of ${origin}.`,
      )
    }
    names.add(tool.name)
  }
  return { tools, ...masks, secrets, close }
}

/** The practice service of the user's data folder. */
export async function openPractice(): Promise<PracticeHome> {
  const { PracticeHome } = await import('./practice/practice-home.ts')
  return new PracticeHome(dataFolder())
}

/** The practice tools of a configuration, if it wants them. */
async function practiceTools(config: Config): Promise<Pick<OpenTools, 'tools' | 'close'>> {
  if (!config.practice) return { tools: [], close: async () => undefined }
  const { tools, url, close } = (await openPractice()).openTools()
  const origin = url === null ? 'practice' : `practice ${url}`
  return { tools: tools.map((tool) => ({ tool, origin, riskDeclared: true })), close }
}

/** A vault that knows the secret store of the user's data folder. The store is read when a secret of it is asked for. */
async function createVault(): Promise<SecretVault> {
  const { SecretVault } = await import('./adapter/secret-vault.ts')
  return new SecretVault(process.env, async (name) => {
    const { SecretStore } = await import('./source/secret-store.ts')
    return new SecretStore().get(name)
  })
}

/** Lets the mask know, before anything is shown, what can be looked up without running a program. */
async function learnSecrets(config: Config, vault: SecretVault): Promise<void> {
  for (const reference of secretsOfConfig(config)) {
    if (reference.from === 'exec') continue
    // A secret that is not there is told when the tool that needs it is used.
    await vault.resolve(reference).catch(() => undefined)
  }
}

/** The tools that are declared without code, as a run with some inputs calls them. */
async function declaredTools(
  config: Config,
  vault: SecretVault,
): Promise<(inputs: JsonObject) => BoundTool[]> {
  const { createHttpTool } = await import('./adapter/http/http-tool.ts')
  const { createExecTool } = await import('./adapter/exec/exec-tool.ts')
  return (inputs) => [
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
  all: Config['mcpServers'],
  vault: SecretVault,
  onNotice: (text: string) => void,
  dry: DryBinding | null,
): Promise<{ tools: BoundTool[]; close: () => Promise<void> }> {
  const servers = dry === null ? all : serversInDryRun(all, dry, onNotice)
  const left = Object.keys(all).filter((name) => !Object.hasOwn(servers, name))
  const { standInTools } = await import('./adapter/mcp/stand-in-tools.ts')
  const standIns =
    dry === null ? [] : standInTools(left, dry.needed, (server, tool) => all[server]?.tools[tool]?.risk)
  if (Object.keys(servers).length === 0) return { tools: standIns, close: async () => undefined }
  const { createMcpTools } = await import('./adapter/mcp/create-mcp-tools.ts')
  const { readMcpServers } = await import('./adapter/mcp/server-config.ts')
  const { maskTool } = await import('./adapter/masked-tool.ts')
  const resolved = readMcpServers(await resolveServers(servers, vault))
  const { tools, close } = await masked(createMcpTools(resolved, { onNotice, ...masking(vault) }), vault)
  const bound = tools.map((tool) => {
    const [server = '', ...rest] = tool.name.split('/')
    const riskDeclared = servers[server]?.tools[rest.join('/')]?.risk !== undefined
    return { tool: maskTool(tool, vault), origin: `mcp ${server}`, riskDeclared }
  })
  return { tools: [...bound, ...standIns], close }
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
