/**
 * Brings together what is set in several places: flags before the environment, that before `.env`, that before the configuration, that before
 * what is usual. Every problem is told at once, each with its place.
 */
import { dirname, resolve } from 'node:path'
import { isJsonObject, type Json } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { redactText } from '../shared/redact.ts'
import type { Config } from './config.ts'
import { dataFolder } from './data-folder.ts'
import { dotEnvOf } from './dot-env.ts'
import type { LlmSettings, SettingOrigin, Settings, SettingShown } from './settings.ts'
import { settingRules, type SettingRule } from './settings-schema.ts'

/** What settings are made from. */
export interface SettingSources {
  /** By their names without dashes; a switch has the value '', and `no-NAME` turns one off. */
  readonly flags?: ReadonlyMap<string, string>
  readonly env?: Record<string, string | undefined>
  /** The configuration that applies; null for none. */
  readonly config?: Config | null
  /** Paths in flags and variables are found from here. */
  readonly folder?: string
}

/** Settings, each with where it was said. */
export interface LoadedSettings {
  readonly settings: Settings
  readonly shown: readonly SettingShown[]
  /** What is probably a mistake, such as a variable of ours that there is not. */
  readonly notes: readonly string[]
}

interface Found {
  readonly value: Json
  readonly origin: SettingOrigin
}

const mask = '********'
/** Variables of ours that are no settings of the server. */
const otherVariables: ReadonlySet<string> = new Set([
  'LOCKSTEP_MCP_TOKEN',
  'LOCKSTEP_FIXTURES',
  'LOCKSTEP_RUNS',
])

/** The settings that apply. Throws `usage` if a flag says something it cannot, else `invalid_config`; both name every problem. */
export function loadSettings({
  flags = new Map(),
  env = process.env,
  config = null,
  folder = process.cwd(),
}: SettingSources = {}): LoadedSettings {
  const found = new Map<string, Found>()
  const problems: { readonly text: string; readonly flag: boolean }[] = []
  for (const rule of settingRules) {
    const said = find(rule, { flags, env, config, folder })
    const checked = said.origin.from === 'default' ? null : rule.schema.safeParse(said.value)
    if (checked?.success === false) {
      const flag = said.origin.from === 'flag'
      problems.push({ text: `${place(said.origin)} ${checked.error.issues[0]!.message}`, flag })
    }
    found.set(rule.key, said)
  }
  problems.push(...checkPrices(found))
  if (problems.length > 0) {
    const texts = problems.map(({ text }) => text)
    const message = texts.length === 1 ? texts[0]! : `The settings have problems:\n  ${texts.join('\n  ')}`
    throw new LockstepError(problems.some(({ flag }) => flag) ? 'usage' : 'invalid_config', message, {
      hint: 'lockstep config --help lists what can be set',
    })
  }
  const settings = read(found, env)
  const shown = settingRules.map(({ key, secret }) => {
    const { value, origin } = found.get(key)!
    return { key, secret, origin, value: key === 'home' ? settings.home : veil(value, secret) }
  })
  return { settings, shown, notes: strangers(env) }
}

/** An address may hold a password, too. */
function veil(value: Json, secret: boolean): Json {
  if (typeof value !== 'string') return value
  return secret ? mask : redactText(value)
}

function find(rule: SettingRule, sources: Required<SettingSources>): Found {
  const { flags, env, config, folder } = sources
  const { key, flag, variable } = rule
  const off = `no-${key}`
  if (rule.kind === 'switch' && flags.has(off))
    return { value: false, origin: { from: 'flag', name: `--${off}` } }
  const given = flag === null ? undefined : flags.get(flag)
  if (given !== undefined)
    return { value: readText(rule, given, folder), origin: { from: 'flag', name: `--${flag}` } }
  const text = env[variable] ?? ''
  if (text !== '') {
    const file = dotEnvOf(env, variable)
    const origin: SettingOrigin =
      file === null ? { from: 'environment', name: variable } : { from: '.env', name: variable, file }
    return { value: readText(rule, text, file === null ? folder : dirname(file)), origin }
  }
  const written = rule.inFile ? valueAt((config?.server ?? null) as Json, key) : undefined
  if (written === undefined || config?.file == null)
    return { value: rule.standard, origin: { from: 'default' } }
  const value =
    rule.kind === 'path' && typeof written === 'string' ? resolve(dirname(config.file), written) : written
  return { value, origin: { from: 'file', name: `server.${key}`, file: config.file } }
}

/** The value of a text; one that cannot be read stays a text, which the schema refuses. */
function readText({ kind }: SettingRule, text: string, folder: string): Json {
  switch (kind) {
    case 'number':
      return /^\s*-?\d+(?:\.\d+)?(?:e-?\d+)?\s*$/i.test(text) ? Number(text) : text
    case 'switch':
      return /^(?:true|1|yes|on)$/i.test(text) ? true : /^(?:false|0|no|off)$/i.test(text) ? false : text
    case 'list':
      return text.split(/[\s,]+/).filter((part) => part !== '')
    case 'path':
      return resolve(folder, text)
    case 'text':
      return text
  }
}

function valueAt(server: Json, key: string): Json | undefined {
  let at: Json | undefined = server
  for (const part of key.split('.'))
    at = at !== undefined && isJsonObject(at) && Object.hasOwn(at, part) ? at[part] : undefined
  return at
}

function place(origin: SettingOrigin): string {
  switch (origin.from) {
    case 'flag':
    case 'environment':
      return origin.name
    case '.env':
      return `${origin.name} in ${origin.file}`
    case 'file':
      return `\`${origin.name}\` in ${origin.file}`
    case 'default':
      return 'the default'
  }
}

/** Half a price would count half of what is spent. */
function checkPrices(found: ReadonlyMap<string, Found>): { text: string; flag: false }[] {
  const keys = ['llm.token_price_input_usd', 'llm.token_price_output_usd']
  const given = keys.filter((key) => found.get(key)!.value !== null)
  if (given.length !== 1) return []
  const { origin } = found.get(given[0]!)!
  return [{ text: `${place(origin)} stands alone: both prices are needed, or none`, flag: false }]
}

function read(found: ReadonlyMap<string, Found>, env: Record<string, string | undefined>): Settings {
  const take = <Value>(key: string) => found.get(key)!.value as Value
  return {
    home: take<string | null>('home') ?? dataFolder(env),
    host: take('host'),
    port: take('port'),
    publicUrl: take<string | null>('public_url')?.replace(/\/+$/, '') ?? null,
    corsOrigins: take<readonly string[]>('cors_origins').map((origin) => new URL(origin).origin),
    rateLimit: { perSecond: take('rate_limit.per_second'), burst: take('rate_limit.burst') },
    bodyLimitBytes: take('body_limit_bytes'),
    logLevel: take('log_level'),
    session: { hours: take('session.hours'), linkMinutes: take('session.link_minutes') },
    from: take('from'),
    samples: take('samples'),
    llm: readLlm(take),
    webhooks: {
      allowPrivate: take('webhooks.allow_private'),
      timeoutSeconds: take('webhooks.timeout_seconds'),
    },
  }
}

/** The model that each provider is asked for if nobody names one. */
const usualModels: Readonly<Record<'openai' | 'anthropic', string>> = {
  openai: 'gpt-4o',
  anthropic: 'claude-sonnet-4-5',
}

function readLlm(take: <Value>(key: string) => Value): LlmSettings {
  const provider = take<LlmSettings['provider']>('llm.provider')
  const named = take<string | null>('model')
  // Written with the provider before it: openai_gpt-4o.
  const [, vendor = null, costModel = null] =
    /^(?:(openai|anthropic)[_:])?(.+)$/s.exec(take<string | null>('llm.cost_model') ?? '') ?? []
  const usual = provider === 'stub' ? 'none' : usualModels[provider]
  const own = vendor === provider && costModel !== null ? costModel : usual
  const model = named ?? (provider === 'stub' ? 'none' : `${provider}:${own}`)
  const [input, output] = [
    take<number | null>('llm.token_price_input_usd'),
    take<number | null>('llm.token_price_output_usd'),
  ]
  const price = input === null || output === null ? null : { input: million(input), output: million(output) }
  return { provider, model, costModel, price }
}

/** The price of a million tokens, without what counting in halves adds. */
function million(price: number): number {
  return Number((price * 1_000_000).toPrecision(12))
}

function strangers(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = settingRules.map(({ variable }) => variable)
  return Object.keys(env)
    .filter((name) => name.startsWith('LOCKSTEP_') && !known.includes(name) && !otherVariables.has(name))
    .map((name) => {
      const nearest = nearestName(name, known)
      return `${name} is no variable of Lockstep${nearest === null ? '' : `; did you mean ${nearest}?`}`
    })
}
