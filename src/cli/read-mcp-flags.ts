import { parseArgs } from 'node:util'
import { LockstepError } from '../shared/lockstep-error.ts'
import { unknown } from './read-flags.ts'

const options = {
  playbook: { type: 'string' },
  servers: { type: 'string' },
  config: { type: 'string' },
  policy: { type: 'string', multiple: true },
  name: { type: 'string' },
  risk: { type: 'string', multiple: true },
  timeout: { type: 'string' },
  observe: { type: 'boolean' },
  run: { type: 'string' },
  input: { type: 'string', multiple: true },
  http: { type: 'string' },
  host: { type: 'string' },
  callers: { type: 'string' },
  lock: { type: 'string' },
  data: { type: 'string' },
} as const

/** What `lockstep mcp` was asked to do. */
export interface McpFlags {
  readonly action: 'serve' | 'lock'
  readonly playbook: string
  /** A file of servers, the command of the one server, or those of a configuration: the named one, or the nearest. */
  readonly servers:
    | { readonly file: string }
    | { readonly command: readonly string[]; readonly name: string }
    | { readonly config: string | undefined }
  /** Files of policies, besides those of the configuration. */
  readonly policies: readonly string[]
  readonly risks: Readonly<Record<string, string>>
  readonly timeoutSeconds: number | null
  readonly observe: boolean
  readonly run: string | null
  readonly inputs: Readonly<Record<string, unknown>>
  readonly http: { readonly port: number; readonly host: string; readonly callers: string | null } | null
  readonly lock: string | null
  readonly data: string | null
}

/** Reads the arguments of `lockstep mcp`. Throws `usage` that says what is missing or does not go together. */
export function readMcpFlags(args: readonly string[]): McpFlags {
  const dashes = args.indexOf('--')
  const own = dashes === -1 ? args : args.slice(0, dashes)
  const command = dashes === -1 ? [] : args.slice(dashes + 1)
  const { values, positionals } = parse(own)
  const [action = 'serve', ...more] = positionals
  if (action !== 'serve' && action !== 'lock') throw unknown('action of mcp', action, ['lock', 'settle'])
  if (more.length > 0) throw new LockstepError('usage', `mcp does not take ${more[0]}`)
  if (values.playbook === undefined) throw new LockstepError('usage', 'mcp needs --playbook FILE')
  const sources = [values.servers, values.config, command[0]].filter((source) => source !== undefined)
  if (sources.length > 1 || (dashes !== -1 && command.length === 0)) {
    throw new LockstepError(
      'usage',
      'mcp takes its servers from one of --servers FILE, --config FILE and -- COMMAND',
    )
  }
  if (command.length === 0 && (values.name ?? values.risk ?? values.timeout) !== undefined) {
    throw new LockstepError('usage', '--name, --risk and --timeout go with -- COMMAND', {
      hint: 'say it where the servers are declared',
    })
  }
  if (values.http === undefined && (values.host ?? values.callers) !== undefined) {
    throw new LockstepError('usage', '--host and --callers go with --http')
  }
  if (values.http !== undefined && (values.run ?? values.input) !== undefined) {
    throw new LockstepError(
      'usage',
      'over HTTP each call names its run, so --run and --input do not go with --http',
    )
  }
  return {
    action,
    playbook: values.playbook,
    servers:
      values.servers !== undefined
        ? { file: values.servers }
        : command.length > 0
          ? { command, name: values.name ?? 'upstream' }
          : { config: values.config },
    policies: values.policy ?? [],
    risks: pairs('risk', values.risk ?? [], (value) => value),
    timeoutSeconds: values.timeout === undefined ? null : numberOf('timeout', values.timeout, 1, 86_400),
    observe: values.observe ?? false,
    run: values.run ?? null,
    inputs: pairs('input', values.input ?? [], readInput),
    http:
      values.http === undefined
        ? null
        : {
            port: numberOf('http', values.http, 0, 65_535),
            host: values.host ?? '127.0.0.1',
            callers: values.callers ?? null,
          },
    lock: values.lock ?? null,
    data: values.data ?? null,
  }
}

function parse(args: readonly string[]): ReturnType<typeof parseStrictly> {
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (!Object.hasOwn(options, token.name)) {
      throw unknown(
        'option',
        token.rawName,
        Object.keys(options).map((name) => `--${name}`),
      )
    }
    const missing = options[token.name as keyof typeof options].type === 'string' && token.value === undefined
    if (missing) throw new LockstepError('usage', `${token.rawName} needs a value`)
  }
  return parseStrictly(args)
}

function parseStrictly(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (cause) {
    throw new LockstepError('usage', cause instanceof Error ? cause.message : String(cause))
  }
}

function pairs<Value>(
  flag: string,
  given: readonly string[],
  read: (value: string) => Value,
): Record<string, Value> {
  return Object.fromEntries(
    given.map((pair) => {
      const equals = pair.indexOf('=')
      if (equals < 1) throw new LockstepError('usage', `--${flag} wants name=value, not ${pair}`)
      return [pair.slice(0, equals), read(pair.slice(equals + 1))]
    }),
  )
}

/** Numbers, truth values and lists are written as JSON; everything else is text. */
function readInput(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function numberOf(flag: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new LockstepError('usage', `--${flag} wants a whole number from ${least} to ${most}, not ${text}`)
}
