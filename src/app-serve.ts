/**
 * Opens everything that a server stands on, and closes it again.
 *
 * Invariants
 * P1  One server per data folder: it holds the place of the engine as long as it lives.
 * P2  What was opened is closed in the reverse order, also where opening goes wrong halfway.
 * P3  Closing leaves every run such that it can be taken up: nothing new is begun, and what is in flight is waited for.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listPrices, priceLists, type PriceTable } from './agent/price-table.ts'
import { openChainStore, openModel, openTools, prepareAgent, writeOrder, writeVote } from './app.ts'
import { openDirectory, type FirstLink } from './directory/open-directory.ts'
import { EmbeddedEngine, type EmbeddedEngineOptions } from './engine/embedded/embedded-engine.ts'
import { openEngine } from './engine/embedded/open-engine.ts'
import { engineAddress } from './engine/engine-address.ts'
import type { ChainStore } from './journal/chain-store.ts'
import { Overview } from './overview/overview.ts'
import { Checkout } from './platform/checkout.ts'
import { Metrics } from './platform/metrics.ts'
import type { ModelList, Platform } from './platform/platform.ts'
import { RunDesk } from './platform/run-desk.ts'
import { TextShelf, type ConfiguredPolicy } from './platform/text-shelf.ts'
import { knownTools, type CatalogueTool, type ToolCatalogue } from './platform/tool-catalogue.ts'
import { PracticeHome } from './practice/practice-home.ts'
import { digest } from './shared/digest.ts'
import { LockstepError } from './shared/lockstep-error.ts'
import type { Config } from './source/config.ts'
import { loadPolicy } from './source/load-policy.ts'
import type { LlmSettings, Settings } from './source/settings.ts'
import { dryRunTool } from './tool/dry-run-tool.ts'
import { Outbox } from './webhook/outbox.ts'

/** How a platform is opened. */
export interface PlatformOptions {
  readonly settings: Settings
  /** The configuration with tools and policies; null for none. */
  readonly config?: Config | null
  readonly now?: () => number
  /** Where people reach the server, where the settings do not say; asked whenever an address is made. */
  readonly url?: () => string
  /** Hears what went wrong and keeps nothing from going on. */
  readonly onTrouble?: (what: string, error: unknown) => void
}

/** A platform that is open. */
export interface OpenPlatform extends Platform {
  /** Links for who starts the server, where nobody else could sign in. */
  readonly firstLinks: readonly FirstLink[]
  /** Takes up the runs of this server that have not ended; says how many. */
  recover(): Promise<number>
  /** Ends everything (P3). */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** Opens the platform of a data folder. Throws `engine_running` if another process works on it, and whatever keeps a part of it from being opened. */
export async function openPlatform(options: PlatformOptions): Promise<OpenPlatform> {
  const opened: (() => Promise<unknown> | unknown)[] = []
  try {
    return await open(options, opened)
  } catch (error) {
    for (const close of opened.toReversed()) await Promise.resolve(close()).catch(() => undefined)
    throw error
  }
}

async function open(
  { settings, config = null, now = Date.now, url, onTrouble = () => undefined }: PlatformOptions,
  opened: (() => Promise<unknown> | unknown)[],
): Promise<OpenPlatform> {
  const { home } = settings
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const trouble = (what: string) => (error: unknown) => onTrouble(what, error)
  let ready = false
  let closing = false
  const metrics = new Metrics()
  const parts: { desk?: RunDesk; overview?: Overview; outbox?: Outbox } = {}
  const engineOptions: Omit<EmbeddedEngineOptions, 'store'> = {
    load: (run) => parts.desk!.load(run),
    onTrouble(run, error) {
      parts.desk?.trouble(run, error)
      onTrouble(`run ${run}`, error)
    },
    onEntries(run, entries) {
      metrics.hear(run, entries)
      parts.overview?.hear(run, entries)
      parts.outbox?.hear(run, entries)
      parts.desk?.hear(run, entries)
    },
  }
  const place = await openEngine(home, { ...engineOptions, openStore: () => openChainStore(home) })
  if (place === null) throw placeTaken(home)
  opened.push(() => place.close())
  const { store } = place
  const { directory, firstLinks } = await openDirectory({ store, now })
  const overview = await Overview.open({
    path: join(home, 'views.db'),
    store,
    now,
    onTrouble: trouble('views'),
  })
  parts.overview = overview
  opened.push(() => overview.close())
  const tools = await openCatalogue(config, settings, onTrouble)
  opened.push(() => tools.close())
  const checkout =
    settings.from === null
      ? null
      : await Checkout.open({
          folder: settings.from,
          scratch: join(home, 'checkout'),
          tools: knownTools(tools),
          onTrouble: trouble('checkout'),
          now,
        })
  const configured = readConfigured(config)
  const texts = new TextShelf({ directory, checkout, configured, tools, startedAt: now() })
  const engines = new Engines(store, engineOptions, place.engine)
  opened.push(() => engines.close())
  const desk = new RunDesk({
    store,
    directory,
    texts,
    tools,
    engineOf: (tenant) => engines.of(tenant),
    prepare: prepareAgent,
    openModel: (name, answered) =>
      openModel(name, { input: process.stdin, output: process.stderr }, answered),
    model: settings.llm.model,
    prices: pricesOf(settings.llm),
    writeVote,
    writeOrder,
  })
  parts.desk = desk
  const address = () => settings.publicUrl ?? url?.() ?? `http://${settings.host}:${settings.port}`
  const outbox = await Outbox.open({
    path: join(home, 'webhooks.db'),
    store,
    targets: (tenant) => directory.webhooks.list(tenant).map((each) => ({ ...each, tenant })),
    hasTargets: () => directory.tenants.all().some(({ webhooks }) => webhooks.size > 0),
    secretOf: (_, webhook) => directory.webhooks.secret(webhook),
    about: async (tenant, run) => {
      const card = await overview.run(tenant, run)
      return { playbook: card?.playbook ?? null, project: card?.project ?? null }
    },
    url: address,
    limits: {
      allowPrivate: settings.webhooks.allowPrivate,
      timeoutMs: settings.webhooks.timeoutSeconds * 1000,
    },
    now,
    onTrouble: trouble('webhooks'),
  })
  parts.outbox = outbox
  opened.push(() => outbox.close())
  ready = true
  let closed: Promise<void> | null = null
  const close = async (graceMs: number) => {
    closing = true
    await engines.close({ graceMs })
    await outbox.close()
    await tools.close()
    await overview.close()
    await place.close({ graceMs })
  }
  return {
    version: readVersion(),
    settings,
    config,
    store,
    directory,
    overview,
    tools,
    texts,
    desk,
    outbox,
    metrics,
    models: modelsOf(settings.llm),
    firstLinks,
    now,
    url: address,
    engineOf: (tenant) => engines.of(tenant),
    isReady: () => ready && !closing,
    recover: () => recover(store, desk, engines, (run, error) => onTrouble(`run ${run}`, error)),
    close: ({ graceMs = 10_000 } = {}) => (closed ??= close(graceMs)),
  }
}

function placeTaken(home: string): LockstepError {
  const { lock } = engineAddress(home)
  return new LockstepError('engine_running', `Another process works on ${home} (${lock}).`, {
    hint: 'lockstep status says which. End it, or set LOCKSTEP_HOME to another folder.',
  })
}

/** The engines, one for each tenant, over one store. */
class Engines {
  readonly #store: ChainStore
  readonly #options: Omit<EmbeddedEngineOptions, 'store'>
  readonly #engines = new Map<string, Promise<EmbeddedEngine>>()

  constructor(store: ChainStore, options: Omit<EmbeddedEngineOptions, 'store'>, local: EmbeddedEngine) {
    this.#store = store
    this.#options = options
    this.#engines.set('local', Promise.resolve(local))
  }

  of(tenant: string): Promise<EmbeddedEngine> {
    const known = this.#engines.get(tenant)
    if (known !== undefined) return known
    const engine = EmbeddedEngine.open({ ...this.#options, store: this.#store, tenant })
    this.#engines.set(tenant, engine)
    engine.catch(() => this.#engines.delete(tenant))
    return engine
  }

  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    const all = await Promise.allSettled(this.#engines.values())
    await Promise.all(
      all.map((each) => (each.status === 'fulfilled' ? each.value.close(options) : undefined)),
    )
  }
}

/** Runs that the command line began are left to it. */
async function recover(
  store: ChainStore,
  desk: RunDesk,
  engines: Engines,
  onTrouble: (run: string, error: unknown) => void,
): Promise<number> {
  let taken = 0
  for (const tenant of await store.tenants()) {
    const engine = await engines.of(tenant)
    for (const run of await store.openRuns(tenant)) {
      try {
        if (!(await desk.isOwn(run))) continue
        engine.resume(run).catch((error: unknown) => onTrouble(run, error))
        taken++
      } catch (error) {
        onTrouble(run, error)
      }
    }
  }
  return taken
}

/** Binds what does not depend on a run once, and the rest for each. */
async function openCatalogue(
  config: Config | null,
  { home, samples }: Settings,
  onTrouble: (what: string, error: unknown) => void,
): Promise<ToolCatalogue> {
  const practice = (config?.practice ?? samples) ? new PracticeHome(home).openTools() : null
  const onNotice = (text: string) => onTrouble('tools', new Error(text))
  const shared = await openTools(
    config === null ? null : { ...config, http: [], exec: [], practice: false },
    { onNotice },
  )
  const own = config === null ? null : { ...config, modules: [], mcpServers: {}, practice: false }
  const listed = await openTools(own)
  const fixed: CatalogueTool[] = [
    ...shared.tools.map(({ tool, origin }) => ({ tool, origin, practice: false })),
    ...(practice?.tools ?? []).map((tool) => ({ tool, origin: 'practice', practice: true })),
  ]
  const tools = [...listed.tools.map(({ tool, origin }) => ({ tool, origin, practice: false })), ...fixed]
  assertOnce(tools)
  const callReads = config?.callReadsInDryRun ?? false
  return {
    tools,
    async bind({ inputs, secrets, dry }) {
      const bound = await openTools(own, { inputs, secrets, dry: dry ? { callReads, needed: [] } : null })
      const all = [...bound.tools.map(({ tool }) => tool), ...fixed.map(({ tool }) => tool)]
      return {
        ...bound,
        tools: dry
          ? all.map((tool) => dryRunTool(tool, { callReads: callReads || isPractice(tool.name, fixed) }))
          : all,
        maskText: (text) => shared.maskText(bound.maskText(text)),
        maskJson: (value) => shared.maskJson(bound.maskJson(value)),
      }
    },
    close: async () => void (await Promise.all([shared.close(), listed.close(), practice?.close()])),
  }
}

/** Looking at the practice service harms nobody, and lets a dry run show more. */
function isPractice(name: string, tools: readonly CatalogueTool[]): boolean {
  return tools.some(({ tool, practice }) => practice && tool.name === name)
}

function assertOnce(tools: readonly CatalogueTool[]): void {
  const names = new Set<string>()
  for (const { tool, origin } of tools) {
    if (names.has(tool.name))
      throw new LockstepError(
        'duplicate_tool',
        `There is a tool '${tool.name}' already, besides the one of ${origin}.`,
      )
    names.add(tool.name)
  }
}

function readConfigured(config: Config | null): ConfiguredPolicy[] {
  return (config?.policies ?? []).map((path) => {
    const policy = loadPolicy(path)
    const text = readFileSync(path, 'utf8')
    return { path, text, policy, digest: digest(text) }
  })
}

/** What the model costs that is asked, where the settings say other than the list. */
function pricesOf({ model, price, costModel }: LlmSettings): PriceTable {
  const id = model.replace(/^[^:]*:/, '').replace(/@https?:.*$/, '')
  const listed = costModel !== null && Object.hasOwn(listPrices, costModel) ? listPrices[costModel]! : null
  const own = price ?? listed
  return own === null ? {} : { [id]: own }
}

function modelsOf(llm: LlmSettings): ModelList {
  const own = Object.entries(pricesOf(llm)).map(([model, { input, output }]) => ({
    model,
    inputUsd: input,
    outputUsd: output,
    source: 'the settings of this server',
  }))
  const listed = priceLists.flatMap(({ prices, source, asOf }) =>
    Object.entries(prices).map(([model, { input, output }]) => ({
      model,
      inputUsd: input,
      outputUsd: output,
      source: `${source}, ${asOf}`,
    })),
  )
  return { current: llm.model, prices: [...own, ...listed] }
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
