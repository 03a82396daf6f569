/**
 * The one definition of what can be set for `lockstep serve`. The `server` part of a configuration, the environment variables, the flags and
 * their reference come from here. Every `error` completes "`key` …".
 */
import { z } from 'zod'
import type { Json } from '../shared/json.ts'

const mapping = { error: 'must be a mapping (a dictionary)' }
const filled = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' })
const flag = z.boolean({ error: 'must be true or false' })
const amount = z.number({ error: 'must be a number, 0 or more' }).min(0, {
  error: 'must be a number, 0 or more',
})
const between = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  return z.int({ error }).min(least, { error }).max(most, { error })
}
const address = (rule: string, isRight: (url: URL) => boolean) =>
  z.string({ error: rule }).refine(
    (text) => {
      const url = URL.parse(text)
      return url !== null && /^https?:$/.test(url.protocol) && isRight(url)
    },
    { error: rule },
  )
const isOrigin = (url: URL) =>
  url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
const origin = address('must be an address without a path: https://lockstep.example', isOrigin)
const origins = 'must be a list of addresses without a path: [https://tools.example]'
const choice = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` })

/** The levels of the log, from quiet to chatty. */
export const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const
/** Whose models are asked; `stub` asks none. */
export const llmProviders = ['stub', 'openai', 'anthropic'] as const

/** The `server` part of a configuration file; what is not said is set elsewhere or has its default. */
export const serverSchema = z.strictObject(
  {
    host: filled.optional(),
    port: between(0, 65_535).optional(),
    public_url: origin.optional(),
    cors_origins: z.array(address(origins, isOrigin), { error: origins }).optional(),
    body_limit_bytes: between(1024, 100_000_000).optional(),
    log_level: choice(logLevels).optional(),
    from: filled.optional(),
    samples: flag.optional(),
    model: filled.optional(),
    rate_limit: z
      .strictObject(
        { per_second: between(1, 100_000).optional(), burst: between(1, 1_000_000).optional() },
        mapping,
      )
      .optional(),
    session: z
      .strictObject(
        { hours: between(1, 168).optional(), link_minutes: between(1, 10_080).optional() },
        mapping,
      )
      .optional(),
    llm: z
      .strictObject(
        {
          provider: choice(llmProviders).optional(),
          cost_model: filled.optional(),
          token_price_input_usd: amount.optional(),
          token_price_output_usd: amount.optional(),
        },
        mapping,
      )
      .optional(),
    webhooks: z
      .strictObject({ allow_private: flag.optional(), timeout_seconds: between(1, 60).optional() }, mapping)
      .optional(),
  },
  mapping,
)

/** The `server` part of a configuration file. */
export type ServerFile = z.output<typeof serverSchema>

/** How one thing is set. */
export interface SettingRule {
  /** Where it stands below `server`, and what people call it. */
  readonly key: string
  /** Whether a configuration file may hold it: keys of services and what says where the file is may not. */
  readonly inFile: boolean
  readonly variable: string
  /** The flag of `lockstep serve`, without dashes; null for none. */
  readonly flag: string | null
  /** How its text in a variable or a flag is read. */
  readonly kind: 'text' | 'number' | 'switch' | 'list' | 'path'
  /** What it is if nobody says anything; null for nothing. */
  readonly standard: Json
  readonly secret: boolean
  /** Judges the value, and completes "`key` …". */
  readonly schema: z.ZodType
  /** What it does, in a sentence. */
  readonly about: string
}

type Told = Pick<SettingRule, 'standard' | 'about'> & Partial<Pick<SettingRule, 'flag' | 'kind'>>

function inFile(key: string, variable: string, told: Told): SettingRule {
  return {
    key,
    variable,
    inFile: true,
    secret: false,
    flag: null,
    kind: 'text',
    schema: schemaAt(key),
    ...told,
  }
}

function outside(
  key: string,
  variable: string,
  told: Told & { secret?: boolean; schema?: z.ZodType },
): SettingRule {
  return { key, variable, inFile: false, secret: false, flag: null, kind: 'text', schema: filled, ...told }
}

/** What the schema of the file says of a key such as `rate_limit.burst`. */
function schemaAt(key: string): z.ZodType {
  let at: z.ZodType = serverSchema
  for (const part of key.split('.')) {
    const { shape } = (at instanceof z.ZodOptional ? at.unwrap() : at) as typeof serverSchema
    at = shape[part as keyof typeof shape] as z.ZodType
  }
  return at
}

const webAddress = address('must be an address: https://…', () => true)

/** Everything that can be set, in the order in which people read it. */
export const settingRules: readonly SettingRule[] = [
  outside('home', 'LOCKSTEP_HOME', {
    kind: 'path',
    standard: null,
    about: 'The data folder: runs, keys, secrets. Without it, `lockstep` in the data folder of the user.',
  }),
  outside('store', 'LOCKSTEP_STORE', {
    standard: 'sqlite',
    schema: choice(['sqlite', 'files']),
    about: 'Where new runs are kept: `sqlite` is the chained store, which the server needs.',
  }),
  inFile('host', 'LOCKSTEP_HOST', {
    flag: 'host',
    standard: '127.0.0.1',
    about: 'The address to listen on. Anything but this machine needs TLS in front.',
  }),
  inFile('port', 'LOCKSTEP_PORT', {
    flag: 'port',
    kind: 'number',
    standard: 8000,
    about: 'The port to listen on; 0 takes any that is free.',
  }),
  inFile('public_url', 'LOCKSTEP_PUBLIC_URL', {
    flag: 'public-url',
    standard: null,
    about: 'How people reach the server, for links and cookies. Without it, the address that is listened on.',
  }),
  inFile('cors_origins', 'LOCKSTEP_CORS_ORIGINS', {
    kind: 'list',
    standard: [],
    about: 'Which other origins browsers may call the API from, with API keys.',
  }),
  inFile('rate_limit.per_second', 'LOCKSTEP_RATE_LIMIT_PER_SECOND', {
    kind: 'number',
    standard: 20,
    about: 'How many requests a second each user or key may send, in the long run.',
  }),
  inFile('rate_limit.burst', 'LOCKSTEP_RATE_LIMIT_BURST', {
    kind: 'number',
    standard: 100,
    about: 'How many of them at once.',
  }),
  inFile('body_limit_bytes', 'LOCKSTEP_BODY_LIMIT_BYTES', {
    kind: 'number',
    standard: 2_000_000,
    about: 'The longest body of a request.',
  }),
  inFile('log_level', 'LOCKSTEP_LOG_LEVEL', {
    flag: 'log-level',
    standard: 'warn',
    about: `What is logged: ${logLevels.map((level) => `\`${level}\``).join(', ')}.`,
  }),
  inFile('session.hours', 'LOCKSTEP_SESSION_HOURS', {
    kind: 'number',
    standard: 12,
    about: 'How long a person stays signed in who does nothing. After seven days everybody signs in again.',
  }),
  inFile('session.link_minutes', 'LOCKSTEP_LINK_MINUTES', {
    kind: 'number',
    standard: 15,
    about: 'How long a one-time link can be used. Those of the first start can be used for a day.',
  }),
  inFile('from', 'LOCKSTEP_FROM', {
    flag: 'from',
    kind: 'path',
    standard: null,
    about: 'A Git checkout whose playbooks and policies are served, read-only; their version is the commit.',
  }),
  inFile('samples', 'LOCKSTEP_SAMPLES', {
    kind: 'switch',
    standard: true,
    about:
      'Whether the first start publishes samples and begins a run on the practice service. `--no-samples` says no.',
  }),
  inFile('model', 'LOCKSTEP_MODEL', {
    flag: 'model',
    standard: null,
    about: 'The model of steps that need one, as in `lockstep run --model`. It goes before `llm.provider`.',
  }),
  inFile('llm.provider', 'LLM_PROVIDER', {
    standard: 'stub',
    about:
      'Whose model is asked: `stub` asks none, and a step that needs one stops with the reason; `openai`; `anthropic`.',
  }),
  inFile('llm.cost_model', 'COST_MODEL', {
    standard: null,
    about:
      'The model whose price counts, such as `openai_gpt-4o`. If it is one of the provider, it is also the one that is asked.',
  }),
  inFile('llm.token_price_input_usd', 'TOKEN_PRICE_INPUT_USD', {
    kind: 'number',
    standard: null,
    about: 'What one token costs that the model reads, in US dollars. Both prices or none.',
  }),
  inFile('llm.token_price_output_usd', 'TOKEN_PRICE_OUTPUT_USD', {
    kind: 'number',
    standard: null,
    about: 'What one token costs that the model writes.',
  }),
  outside('openai_api_key', 'OPENAI_API_KEY', {
    secret: true,
    standard: null,
    about: 'The key for models of OpenAI.',
  }),
  outside('openai_base_url', 'OPENAI_BASE_URL', {
    schema: webAddress,
    standard: null,
    about: 'Another address for models of OpenAI.',
  }),
  outside('anthropic_api_key', 'ANTHROPIC_API_KEY', {
    secret: true,
    standard: null,
    about: 'The key for models of Anthropic.',
  }),
  outside('anthropic_base_url', 'ANTHROPIC_BASE_URL', {
    schema: webAddress,
    standard: null,
    about: 'Another address for models of Anthropic.',
  }),
  outside('openai_compatible_api_key', 'OPENAI_COMPATIBLE_API_KEY', {
    secret: true,
    standard: null,
    about: 'The key for `openai-compatible:` models, where they want one.',
  }),
  outside('openai_compatible_base_url', 'OPENAI_COMPATIBLE_BASE_URL', {
    schema: webAddress,
    standard: null,
    about: 'The address of `openai-compatible:` models.',
  }),
  outside('practice_url', 'LOCKSTEP_PRACTICE_URL', {
    schema: webAddress,
    standard: null,
    about: 'A practice service that is served elsewhere.',
  }),
  inFile('webhooks.allow_private', 'LOCKSTEP_WEBHOOKS_ALLOW_PRIVATE', {
    kind: 'switch',
    standard: false,
    about: 'Whether webhooks may be sent to addresses of this machine and of private networks.',
  }),
  inFile('webhooks.timeout_seconds', 'LOCKSTEP_WEBHOOKS_TIMEOUT_SECONDS', {
    kind: 'number',
    standard: 10,
    about: 'How long a receiver of a webhook may take to answer.',
  }),
]
