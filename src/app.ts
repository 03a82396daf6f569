/**
 * The one place where contracts meet implementations. What only some commands need is loaded when it is asked for.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { DeclaredValue } from './adapter/declared-tool.ts'
import type { McpToolsOptions } from './adapter/mcp/create-mcp-tools.ts'
import type { SecretVault } from './adapter/secret-vault.ts'
import type { AgentOptions } from './agent/agent-options.ts'
import type { AgentSetup, ReadyAgent } from './agent/prepare-agent.ts'
import type { PersonTerminal } from './agent/person-terminal.ts'
import type { writeOrder as WriteOrderFunction } from './agent/write-order.ts'
import type { writeVote as WriteVoteFunction } from './agent/write-vote.ts'
import type { QuestionAnswers } from './agent/question/ask-questions.ts'
import type { EngineClient } from './engine/engine-client.ts'
import type { OpenEngine, OpenEngineOptions } from './engine/embedded/open-engine.ts'
import type { ChainStore } from './journal/chain-store.ts'
import type { Journal } from './journal/journal.ts'
import type { Records } from './journal/records.ts'
import type { Upstream } from './mcp/gateway-tools.ts'
import type { PassingServer } from './mcp/passage.ts'
import type { Playbook } from './playbook/playbook.ts'
import type { PracticeHome } from './practice/practice-home.ts'
import type { QuestionBatch } from './run/program/question.ts'
import type { Json, JsonObject } from './shared/json.ts'
import { LockstepError } from './shared/lockstep-error.ts'
import { messageOf } from './shared/message-of.ts'
import type { Config, ConfigValue, McpServerConfig } from './source/config.ts'
import { secretsOfConfig } from './source/config-secrets.ts'
import { dataFolder } from './source/data-folder.ts'
import { loadModule } from './source/load-module.ts'
import { readPlaybookReference } from './source/playbook-reference.ts'
import { runFile, storeFile, usesFiles } from './source/store-place.ts'
import { serversInDryRun } from './source/servers-in-dry-run.ts'
import { isTool } from './tool/is-tool.ts'
import type { SecretResolver } from './tool/secret-resolver.ts'
import type { Tool } from './tool/tool.ts'

export type { AgentEvent } from './agent/agent-event.ts'
export type { AgentResult, ResumeOptions, RunOptions } from './agent/agent-options.ts'
export type { AgentStream } from './agent/agent.ts'
export type { AgentSetup, ReadyAgent } from './agent/prepare-agent.ts'
export { Interruption } from './agent/interruption.ts'
export { RunControl, type RunOrder } from './agent/run-control.ts'
export type { EngineClient } from './engine/engine-client.ts'
export type { OpenEngine } from './engine/embedded/open-engine.ts'
export type { HeldUp, RunRest, RunWork, Seat } from './engine/engine.ts'
export type { Person } from './agent/person.ts'
export { scriptTurn } from './agent/question/script-turn.ts'
export type { Checkpoint } from './journal/chain-checkpoint.ts'
export type { Journal, JournalEntry } from './journal/journal.ts'
export { refusalBehind } from './journal/reservation-refusal.ts'
export type { Records, RunSummary } from './journal/records.ts'
export { practiceDeclarations } from './practice/practice-declaration.ts'

/**
 * Where new runs are written down: the chained store beside the folder of runs, or files in it where `LOCKSTEP_STORE=files` asks for that. Throws `usage` for
 * any other store.
 */
async function openJournal(folder: string): Promise<Journal> {
  return usesFiles() ? await openFiles(folder) : await openChainStore(dirname(folder))
}

/** Writes an order into the record of a run that nobody is at work on, without binding any tool. */
export async function writeOrder(...args: Parameters<WriteOrder>): ReturnType<WriteOrder> {
  return await (await import('./agent/write-order.ts')).writeOrder(...args)
}

/**
 * The journal that holds a run of a data folder; where new runs are written if none does. Halts and the locks of targets bind whoever writes to it, but
 * for a dry run, which changes nothing; a journal in files knows neither.
 */
export async function openJournalOf(
  folder: string,
  run: string | null,
  use: JournalUse = {},
): Promise<Journal> {
  const journal = await findJournal(folder, run)
  if (use.dry === true || !('halted' in journal)) return journal
  const { bindJournal } = await import('./engine/embedded/bound-journal.ts')
  const tools = use.tools ?? []
  // A name that stands for several tools only reads if they all do.
  const acts = new Set(tools.filter(({ risk }) => risk !== 'read').map(({ name }) => name))
  const reads = new Set(tools.map(({ name }) => name).filter((name) => !acts.has(name)))
  return bindJournal(journal as ChainStore, (tool) => reads.has(tool))
}

/** What is done with a journal. */
export interface JournalUse {
  readonly dry?: boolean
  /** The tools that are called. */
  readonly tools?: readonly Tool[]
}

async function findJournal(folder: string, run: string | null): Promise<Journal> {
  if (run !== null && existsSync(runFile(folder, run))) return await openFiles(folder)
  const home = dirname(folder)
  if (run === null || !existsSync(join(home, storeFile))) return await openJournal(folder)
  const store = await openChainStore(home)
  if (!usesFiles() || (await store.has(run))) return store
  await store.close()
  return await openFiles(folder)
}

async function openFiles(folder: string): Promise<Journal> {
  const { FileJournal } = await import('./journal/file/file-journal.ts')
  return new FileJournal(folder)
}

/** The chained store of a data folder; its keys are made on first use. Throws `journal_unreadable` or `journal_unwritable`. */
export async function openChainStore(home: string): Promise<ChainStore> {
  const { openKeyRing } = await import('./journal/chain-keys.ts')
  const { SqliteJournal } = await import('./journal/sqlite/sqlite-journal.ts')
  return new SqliteJournal(join(home, storeFile), openKeyRing(join(home, 'keys')))
}

type WriteVote = typeof WriteVoteFunction
type WriteOrder = typeof WriteOrderFunction

/** Makes this process the engine of a data folder; null if another one is, or runs are written to files. */
export async function openEngine(
  home: string,
  options: Omit<OpenEngineOptions, 'openStore'>,
): Promise<OpenEngine | null> {
  if (usesFiles()) return null
  const engines = await import('./engine/embedded/open-engine.ts')
  return await engines.openEngine(home, { ...options, openStore: () => openChainStore(home) })
}

/** The engine of a data folder in another process; null if there is none. Throws `engine_unavailable`. */
export async function connectEngine(home: string): Promise<EngineClient | null> {
  const { engineAddress } = await import('./engine/engine-address.ts')
  const { EngineClient } = await import('./engine/engine-client.ts')
  return await EngineClient.connect(engineAddress(home))
}

/** Everything that was recorded beside and in a folder of runs; no store is made where there is none. */
export async function openRecords(folder: string): Promise<Records> {
  const { FileJournal } = await import('./journal/file/file-journal.ts')
  const { Records } = await import('./journal/records.ts')
  const home = dirname(folder)
  const chained = existsSync(join(home, storeFile)) ? await openChainStore(home) : null
  return new Records(new FileJournal(folder), chained)
}

/** The id of a public key in PEM. Throws what the platform throws for anything else. */
export async function publicKeyId(pem: string): Promise<string> {
  return (await import('./journal/chain-keys.ts')).keyId(pem)
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

/** A model that can be asked. */
export type Model = AgentOptions['model']

/** Where a person is asked who is the model. */
export interface PersonStreams {
  readonly input: Readable
  readonly output: Writable
}

/** The person at a terminal; everybody who asks them shares one. */
export async function openPerson(streams: PersonStreams): Promise<PersonTerminal> {
  return (await import('./agent/person-terminal.ts')).openPersonTerminal(streams)
}

/**
 * The model of a name; a scripted one goes on after the turns it has `answered`. Throws `unknown_model`, `missing_api_key`, `missing_package` or `invalid_script`, each with
 * what to do.
 */
export async function openModel(
  name: string,
  person: PersonStreams | PersonTerminal,
  answered = 0,
): Promise<Model> {
  if (name === 'me') return (await import('./agent/person-model.ts')).createPersonModel(person)
  const script = /^scripted:(.+)$/s.exec(name)
  if (script !== null)
    return (await import('./agent/scripted-model.ts')).loadScriptedModel(script[1]!, answered)
  return await (await import('./agent/resolve-model.ts')).resolveModel(name)
}

/** Asks a model, by its name, questions in one request. Throws what `openModel` throws, and `model_answer_invalid` when an answer does not fit twice. */
export async function answerQuestions(
  name: string,
  batch: QuestionBatch,
  person: PersonStreams,
): Promise<QuestionAnswers['answers']> {
  const { askQuestions } = await import('./agent/question/ask-questions.ts')
  const { resolveModel } = await import('./agent/resolve-model.ts')
  const model = await resolveModel(await openModel(name, person))
  const { signal } = new AbortController()
  const { answers } = await askQuestions(batch, {
    model,
    maxRetries: 2,
    maxTokens: null,
    signal,
    onText: null,
  })
  return answers
}

/** Makes an agent. Throws what stops a run from starting, such as a tool that is missing. */
export async function prepareAgent(setup: AgentSetup): Promise<ReadyAgent> {
  return await (await import('./agent/prepare-agent.ts')).prepareAgent(setup)
}

/** Writes down what a person says to a held call, without binding any tool. */
export async function writeVote(...args: Parameters<WriteVote>): ReturnType<WriteVote> {
  return await (await import('./agent/write-vote.ts')).writeVote(...args)
}
