/** Every check of a configuration, in one pass; problems are values with their place. */
import { resolve } from 'node:path'
import type { DocumentPath } from '../document/diagnostic.ts'
import { type Problem, type Report, reportInto } from '../document/problem.ts'
import { compileTemplate } from '../expression/compile-template.ts'
import { checkKeys } from '../playbook/check-keys.ts'
import { checkShape } from '../playbook/check-shape.ts'
import type { Spelling } from '../playbook/wording.ts'
import { compileJsonSchema, type JsonSchema } from '../shared/json-schema.ts'
import { type Json, isJsonObject } from '../shared/json.ts'
import { nearestName } from '../shared/nearest-name.ts'
import type { Config, ConfigValue, McpServerConfig, ToolConfig } from './config.ts'
import { type CheckedConfigFile, configSchema } from './config-schema.ts'
import { readConfigValue } from './config-value.ts'
import { ConfigWording } from './config-wording.ts'

type HttpFile = CheckedConfigFile['tools']['http'][number]
type ExecFile = CheckedConfigFile['tools']['exec'][number]
type McpFile = CheckedConfigFile['mcpServers'][string]

/** The headers that carry secrets, and never as plain text of a configuration. */
const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
])
/** The headers that belong to the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
])

/** Judges a configuration; it is null when there are errors. Paths in it are found from the folder. */
export function checkConfig(
  value: Json,
  options: { readonly spelling: Spelling; readonly folder: string; readonly file: string | null },
): { config: Config | null; problems: readonly Problem[] } {
  const problems: Problem[] = []
  const report = reportInto(problems)
  const wording = new ConfigWording(value, options.spelling)
  const known = checkKeys(value, configSchema, { spelling: options.spelling, report, wording })
  const broken = checkShape(known, configSchema, { report, wording })
  const config =
    broken.length > 0
      ? null
      : new ConfigReader(report, wording, options.folder).read(configSchema.parse(known), options.file)
  return {
    config: problems.length === 0 ? config : null,
    problems: problems.map((problem) => ({ ...problem, path: wording.path(problem.path) })),
  }
}

/** Makes a configuration from a file whose shape is right, and reports what its texts get wrong. */
class ConfigReader {
  readonly #report: Report
  readonly #wording: ConfigWording
  readonly #folder: string

  constructor(report: Report, wording: ConfigWording, folder: string) {
    this.#report = report
    this.#wording = wording
    this.#folder = folder
  }

  read(file: CheckedConfigFile, path: string | null): Config {
    const names = new Set<string>()
    const { http, exec, modules } = file.tools
    for (const [kind, tools] of Object.entries({ http, exec })) {
      for (const [index, { name }] of tools.entries()) {
        if (names.has(name)) {
          const message = `there is a tool \`${name}\` already`
          this.#report('duplicate_item', ['tools', kind, index, 'name'], message)
        }
        names.add(name)
      }
    }
    return {
      file: path,
      http: http.map((tool, index) => this.#http(tool, ['tools', 'http', index])),
      exec: exec.map((tool, index) => this.#exec(tool, ['tools', 'exec', index])),
      modules: modules.map((module) => resolve(this.#folder, module)),
      mcpServers: Object.fromEntries(
        Object.entries(file.mcpServers).map(([name, server]) => [
          name,
          this.#mcp(server, ['mcpServers', name]),
        ]),
      ),
      policies: file.policies.map((policy) => resolve(this.#folder, policy)),
      people: file.people,
      callReadsInDryRun: file.dry_run.call_reads,
    }
  }

  #http(tool: HttpFile, path: DocumentPath): Config['http'][number] {
    this.#url(tool, [...path, 'url'])
    this.#json(tool.query, [...path, 'query'], tool.input)
    if (tool.body !== undefined) {
      this.#json(tool.body, [...path, 'body'], tool.input)
      if (tool.method === 'GET' || tool.method === 'HEAD') {
        const message = `a ${tool.method} request has no \`body\``
        this.#report('conflicting_keys', [...path, 'body'], message, { at: 'key' })
      }
    }
    return {
      ...this.#common(tool, path),
      method: tool.method,
      url: tool.url,
      headers: this.#headers(tool.headers, [...path, 'headers'], tool.input),
      query: tool.query,
      body: tool.body,
      statusesWithoutEffect: tool.statuses_without_effect,
    }
  }

  #exec(tool: ExecFile, path: DocumentPath): Config['exec'][number] {
    tool.command.forEach((part, index) => this.#template(part, [...path, 'command', index], tool.input))
    if (tool.stdin !== undefined) this.#json(tool.stdin, [...path, 'stdin'], tool.input)
    this.#plain(tool.cwd, [...path, 'cwd'])
    tool.pass_env.forEach((name, index) => this.#variable(name, [...path, 'pass_env', index], 'value'))
    return {
      ...this.#common(tool, path),
      command: tool.command,
      cwd: resolve(this.#folder, tool.cwd ?? '.'),
      env: this.#variables(tool.env, [...path, 'env'], tool.input),
      passEnv: tool.pass_env,
      allowDash: tool.allow_dash,
      stdin: tool.stdin,
      output: tool.output,
      exitCodesWithoutEffect: tool.exit_codes_without_effect,
    }
  }

  #mcp(server: McpFile, path: DocumentPath): McpServerConfig {
    const { command, url, type } = server
    const env = this.#variables(server.env, [...path, 'env'], 'none')
    const headers = this.#headers(server.headers, [...path, 'headers'], 'none')
    if ((command === undefined) === (url === undefined)) {
      const code = command === undefined ? 'missing_key' : 'conflicting_keys'
      this.#report(code, path, `${this.#wording.owner(path)} needs either \`command\` or \`url\``)
    }
    const foreign = command === undefined ? (['args', 'env', 'cwd'] as const) : (['headers'] as const)
    for (const key of foreign) {
      const given = server[key]
      if (given !== undefined && Object.keys(given).length > 0) {
        const message = `\`${key}\` has no meaning for a server with a \`${command === undefined ? 'url' : 'command'}\``
        this.#report('conflicting_keys', [...path, key], message, { at: 'key' })
      }
    }
    if (type !== undefined && (type === 'stdio') !== (command !== undefined)) {
      this.#report('conflicting_keys', [...path, 'type'], `\`type\` says ${type}, the other keys do not`)
    }
    const settings = {
      tools: server.tools,
      ...(server.timeout_seconds === undefined ? {} : { timeoutSeconds: server.timeout_seconds }),
      ...(server.max_result_bytes === undefined ? {} : { maxResultBytes: server.max_result_bytes }),
      ...(server.pass.length === 0 ? {} : { pass: server.pass }),
    }
    if (command !== undefined) {
      const cwd = resolve(this.#folder, server.cwd ?? '.')
      return { ...settings, command, args: server.args, env, cwd }
    }
    if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
      const place = this.#wording.place([...path, 'url'])
      this.#report('value_not_allowed', [...path, 'url'], `${place} must be an address: https://…`)
    }
    return { ...settings, url: url ?? '', headers }
  }

  #common(tool: HttpFile | ExecFile, path: DocumentPath): ToolConfig {
    if (tool.input !== undefined) {
      try {
        compileJsonSchema(tool.input)
      } catch (error) {
        const place = this.#wording.place([...path, 'input'])
        this.#report(
          'invalid_schema',
          [...path, 'input'],
          `${place} is not a JSON Schema: ${(error as Error).message}`,
        )
      }
    }
    return {
      name: tool.name,
      description: tool.description,
      input: tool.input ?? null,
      risk: tool.risk ?? null,
      timeoutSeconds: tool.timeout_seconds,
      maxResultBytes: tool.max_result_bytes,
    }
  }

  /** A folder is the operator's choice: it holds no placeholder. */
  #plain(text: string | undefined, path: DocumentPath): void {
    if (text !== undefined && /[{}]/.test(text))
      this.#report('value_not_allowed', path, `${this.#wording.place(path)} can hold no placeholder`)
  }

  /** The host stands in the text itself; what an argument may fill in comes after it. */
  #url(tool: HttpFile, path: DocumentPath): void {
    this.#template(tool.url, path, tool.input)
    const origin = /^https?:\/\/[^/?#\\@{}\s]+(?=[/?]|$)/.exec(tool.url)
    if (origin === null || !URL.canParse(origin[0])) {
      this.#report(
        'value_not_allowed',
        path,
        `${this.#wording.place(path)} must begin with http:// or https:// and a host, without placeholders, user or password`,
        { suggestion: 'placeholders may stand in the path and the query' },
      )
    } else if (tool.url.replaceAll(/\{[^{}]*\}/g, '').includes('#')) {
      this.#report(
        'value_not_allowed',
        path,
        `${this.#wording.place(path)} has a fragment (#), which is never sent`,
      )
    }
  }

  #headers(
    given: HttpFile['headers'],
    path: DocumentPath,
    input: JsonSchema | undefined | 'none',
  ): Record<string, ConfigValue> {
    for (const [name, value] of Object.entries(given)) {
      const at = [...path, name]
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
        this.#report('invalid_name', at, `\`${name}\` is no name of a header`, { at: 'key' })
      if (ownHeaders.has(name.toLowerCase()))
        this.#report('value_not_allowed', at, `the header \`${name}\` cannot be set`, { at: 'key' })
      const literal = typeof value === 'string' && !/\{|(?:^|\s)(?:env|file|store):/.test(value)
      if (secretHeaders.has(name.toLowerCase()) && literal) {
        this.#report('value_not_allowed', at, `\`${name}\` holds a secret in plain text`, {
          suggestion:
            'refer to it: `Bearer env:NAME`, `file:PATH`, `store:NAME` or `[exec:PROGRAM, ARGUMENT]`',
        })
      }
    }
    return this.#values(given, path, input)
  }

  #variables(
    given: ExecFile['env'],
    path: DocumentPath,
    input: JsonSchema | undefined | 'none',
  ): Record<string, ConfigValue> {
    for (const name of Object.keys(given)) this.#variable(name, [...path, name], 'key')
    return this.#values(given, path, input)
  }

  #variable(name: string, path: DocumentPath, at: 'key' | 'value'): void {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      this.#report('invalid_name', path, `\`${name}\` is no name of a variable`, { at })
  }

  #values(
    given: HttpFile['headers'],
    path: DocumentPath,
    input: JsonSchema | undefined | 'none',
  ): Record<string, ConfigValue> {
    const values: Record<string, ConfigValue> = {}
    for (const [name, text] of Object.entries(given)) {
      const { value, problem } = readConfigValue(text, this.#folder)
      if (value === null) {
        this.#report(
          'value_not_allowed',
          [...path, name],
          `${this.#wording.place([...path, name])} ${problem}`,
        )
        continue
      }
      // What is given to a server when it is connected cannot depend on a call.
      if (value.kind === 'text' && input !== 'none') this.#template(value.text, [...path, name], input)
      values[name] = value
    }
    return values
  }

  /** Every text in a JSON value is a template. */
  #json(value: Json, path: DocumentPath, input: JsonSchema | undefined): void {
    if (typeof value === 'string') {
      // Only headers and variables hold references; here one would be sent as it stands.
      if (/^(?:env|file|exec):|^store:[\w.-]+$/.test(value)) {
        this.#report('value_not_allowed', path, `${this.#wording.place(path)} cannot refer to a secret`, {
          suggestion: 'put the secret into a header or a variable',
        })
      }
      this.#template(value, path, input)
    } else if (Array.isArray(value)) value.forEach((item, index) => this.#json(item, [...path, index], input))
    else if (isJsonObject(value))
      for (const [key, item] of Object.entries(value)) this.#json(item, [...path, key], input)
  }

  #template(text: string, path: DocumentPath, input: JsonSchema | undefined): void {
    const { template, errors } = compileTemplate(text, { names: ['args', 'inputs'] })
    const place = this.#wording.place(path)
    for (const { message, start, end } of errors)
      this.#report('invalid_expression', path, `${place}: ${message}`, { range: { start, end } })
    const properties = typeof input === 'object' ? input['properties'] : undefined
    if (template === null || !isJsonObject(properties)) return
    for (const { name, path: members, start, end } of template.references) {
      const [member] = members
      if (name !== 'args' || member === undefined || Object.hasOwn(properties, member)) continue
      const nearest = nearestName(member, Object.keys(properties))
      this.#report('invalid_expression', path, `${place}: the \`input\` has no \`${member}\``, {
        range: { start, end },
        suggestion: nearest === null ? null : `did you mean \`${nearest}\`?`,
      })
    }
  }
}
