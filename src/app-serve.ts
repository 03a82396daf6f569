/**
 * Opens everything that a server stands on, and closes it again.
 *
 * Invariants
 * P1  One server per data folder: it holds the place of the engine as long as it lives.
 * P2  What was opened is closed in the reverse order, also where opening goes wrong halfway.
 * P3  Closing leaves every run such that it can be taken up: nothing new is begun, and what is in flight is waited for.
 */
import type { FastifyInstance } from 'fastify'
import { mkdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openChainStore, openModel, openTools, prepareAgent, writeOrder, writeVote } from './app.ts'
import { ActLog } from './directory/act-log.ts'
import { Directory } from './directory/directory.ts'
import { localTenant, openDirectory, type FirstLink } from './directory/open-directory.ts'
import { systemActor } from './directory/principal.ts'
import { linkAddress } from './gateway/sign-in-routes.ts'
import { EmbeddedEngine, type EmbeddedEngineOptions } from './engine/embedded/embedded-engine.ts'
import { openEngine } from './engine/embedded/open-engine.ts'
import { engineAddress } from './engine/engine-address.ts'
import { Overview } from './overview/overview.ts'
import { Checkout } from './platform/checkout.ts'
import { LibraryTexts } from './platform/library-texts.ts'
import { Metrics } from './platform/metrics.ts'
import { modelsOf, pricesOf } from './platform/model-prices.ts'
import type { Platform } from './platform/platform.ts'
import { RunDesk } from './platform/run-desk.ts'
import { TenantEngines } from './platform/tenant-engines.ts'
import { TextShelf, type ConfiguredPolicy } from './platform/text-shelf.ts'
import { knownTools, type CatalogueTool, type ToolCatalogue } from './platform/tool-catalogue.ts'
import { isUntouched, publishSamples } from './platform/samples.ts'
import { PracticeHome } from './practice/practice-home.ts'
import { digest } from './shared/digest.ts'
import { LockstepError } from './shared/lockstep-error.ts'
import type { Config } from './source/config.ts'
import { loadPolicy } from './source/load-policy.ts'
import { packageRoot } from './source/package-root.ts'
import { removeServerNote, writeServerNote } from './source/server-note.ts'
import type { Settings } from './source/settings.ts'
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
  const { directory, firstLinks } = await openDirectory({
    store,
    now,
    idleMs: settings.session.hours * 3_600_000,
    linkMs: settings.session.linkMinutes * 60_000,
  })
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
  const known = knownTools(tools)
  const foreign =
    settings.from === null
      ? new LibraryTexts({ home, tools: known, onTrouble: trouble('library') })
      : await Checkout.open({
          folder: settings.from,
          scratch: join(home, 'checkout'),
          tools: known,
          onTrouble: trouble('checkout'),
          now,
        })
  const configured = readConfigured(config)
  const texts = new TextShelf({ directory, foreign, configured, tools, startedAt: now() })
  const engines = new TenantEngines(async (tenant) =>
    tenant === localTenant ? place.engine : await EmbeddedEngine.open({ ...engineOptions, store, tenant }),
  )
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
    recover: () => engines.recover(store, desk, (run, error) => onTrouble(`run ${run}`, error)),
    close: ({ graceMs = 10_000 } = {}) => (closed ??= close(graceMs)),
  }
}

/** A server that answers. */
export interface Served {
  readonly platform: OpenPlatform
  /** Where it is listened on this machine. */
  readonly url: string
  /** Addresses that sign somebody in, once, where nobody else could. */
  readonly firstLinks: readonly { readonly email: string; readonly address: string }[]
  /** The run that a first start began. */
  readonly sampleRun: string | null
  /** Ends it: nothing more is taken, and what is in flight is waited for. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/**
 * Opens the platform, listens, and goes on with what was under way; a first start publishes samples. Throws `cannot_listen` with what to do about it, and what `openPlatform`
 * throws.
 */
export async function serve(
  options: Omit<PlatformOptions, 'url'> & { readonly log?: NodeJS.WritableStream },
): Promise<Served> {
  const { settings, log } = options
  const { host, port } = settings
  let url = ''
  const platform = await openPlatform({ ...options, url: () => url })
  let app: FastifyInstance | null = null
  try {
    const { createPlatformGateway } = await import('./gateway/platform-gateway.ts')
    const made = await createPlatformGateway(platform, log === undefined ? {} : { log })
    app = made
    await made.listen({ host, port })
    url = addressOf(host, (made.server.address() as AddressInfo).port)
    writeServerNote(settings.home, { pid: process.pid, url, since: new Date().toISOString() })
    await platform.recover()
    const sampleRun = await offerSamples(platform, options)
    const firstLinks = platform.firstLinks.map(({ email, token }) => ({
      email,
      address: linkAddress(platform.url(), token),
    }))
    const close = async (how?: { readonly graceMs?: number }) => {
      removeServerNote(settings.home)
      await made.close()
      await platform.close(how)
    }
    return { platform, url, firstLinks, sampleRun, close }
  } catch (error) {
    await app?.close()
    await platform.close({ graceMs: 0 })
    throw cannotListen(error, host, port)
  }
}

/** Begins the sample run of a first start; what goes wrong with it keeps nobody from working. */
async function offerSamples(
  platform: OpenPlatform,
  { settings, onTrouble }: Pick<PlatformOptions, 'settings' | 'onTrouble'>,
): Promise<string | null> {
  try {
    return settings.samples && (await isUntouched(platform)) ? await publishSamples(platform) : null
  } catch (error) {
    onTrouble?.('samples', error)
    return null
  }
}

function addressOf(host: string, port: number): string {
  const name = ['0.0.0.0', '::', '127.0.0.1', '::1'].includes(host)
    ? 'localhost'
    : host.includes(':')
      ? `[${host}]`
      : host
  return `http://${name}:${port}`
}

function cannotListen(error: unknown, host: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException
  const why: Readonly<Record<string, readonly [string, string]>> = {
    EADDRINUSE: [
      'is taken by another program',
      'End that one, or take another port: lockstep serve --port N',
    ],
    EACCES: ['is not allowed to this user', 'Take a port above 1023: lockstep serve --port N'],
    EADDRNOTAVAIL: ['is no address of this machine', 'Set --host to one that is.'],
  }
  const [says, hint] = why[code ?? ''] ?? []
  if (says === undefined || hint === undefined) return error
  return new LockstepError('cannot_listen', `${host}:${port} ${says}.`, { cause: error, hint })
}

/** Makes a link that signs a user of the first tenant in, once, in the store itself, so that it works beside a server. Throws `usage` if there is no such user. */
export async function makeLink(
  settings: Settings,
  email: string,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const store = await openChainStore(settings.home)
  try {
    const directory = new Directory(await ActLog.open(store, Date.now), {
      linkMs: settings.session.linkMinutes * 60_000,
    })
    const user = directory.people.byEmail(localTenant, email)
    if (user === null || user.disabled)
      throw new LockstepError('usage', `there is nobody with the address ${email}`, {
        hint: `known: ${directory.people
          .list(localTenant)
          .map((each) => each.email)
          .join(', ')}`,
      })
    return await directory.links.make(systemActor(localTenant), user.id)
  } finally {
    await store.close()
  }
}

function placeTaken(home: string): LockstepError {
  const { lock } = engineAddress(home)
  return new LockstepError('engine_running', `Another process works on ${home} (${lock}).`, {
    hint: 'lockstep status says which. End it, or set LOCKSTEP_HOME to another folder.',
  })
}

/** Binds what does not depend on a run once, and the rest for each. */
async function openCatalogue(
  config: Config | null,
  { home, samples }: Settings,
  onTrouble: (what: string, error: unknown) => void,
): Promise<ToolCatalogue> {
  // The samples act on it, whatever else is configured.
  const practice = config?.practice === true || samples ? new PracticeHome(home).openTools() : null
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

function readVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
