/** Every check of a configuration, in one pass; problems are values with their place. */
import { resolve } from 'node:path'
import type { DocumentPath } from '../document/diagnostic.ts'
import { type Problem, type Report, reportInto } from '../document/problem.ts'
import { checkKeys } from '../playbook/check-keys.ts'
import { checkShape } from '../playbook/check-shape.ts'
import type { Spelling } from '../playbook/wording.ts'
import { compileJsonSchema } from '../shared/json-schema.ts'
import type { Json } from '../shared/json.ts'
import { nearestName } from '../shared/nearest-name.ts'
import type { Config, FindingConfig, McpServerConfig, ToolConfig } from './config.ts'
import { ConfigFields } from './config-fields.ts'
import { type CheckedConfigFile, configSchema } from './config-schema.ts'
import { callNames, ConfigTemplates, type TemplateScope } from './config-template.ts'
import { ConfigWording } from './config-wording.ts'

type HttpFile = CheckedConfigFile['tools']['http'][number]
type ExecFile = CheckedConfigFile['tools']['exec'][number]
type McpFile = CheckedConfigFile['mcpServers'][string]

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
  readonly #templates: ConfigTemplates
  readonly #fields: ConfigFields

  constructor(report: Report, wording: ConfigWording, folder: string) {
    this.#templates = new ConfigTemplates(report, wording)
    this.#fields = new ConfigFields(report, wording, folder, this.#templates)
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
    this.#undoing(file, names)
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
      practice: file.practice,
      callReadsInDryRun: file.dry_run.call_reads,
      server: file.server ?? {},
    }
  }

  /** What undoes a call has to be there when it is needed; tools of modules and servers are not known before. */
  #undoing({ tools, mcpServers, practice }: CheckedConfigFile, names: ReadonlySet<string>): void {
    if (tools.modules.length > 0 || Object.keys(mcpServers).length > 0) return
    for (const kind of ['http', 'exec'] as const) {
      for (const [index, { compensate }] of tools[kind].entries()) {
        const name = compensate?.tool
        if (name === undefined || names.has(name) || (practice && name.startsWith('practice.'))) continue
        const path = ['tools', kind, index, 'compensate', 'tool']
        const nearest = nearestName(name, names)
        this.#report('unknown_tool', path, `${this.#wording.place(path)}: there is no tool \`${name}\``, {
          suggestion: nearest === null ? null : `did you mean \`${nearest}\`?`,
        })
      }
    }
  }

  #http(tool: HttpFile, path: DocumentPath): Config['http'][number] {
    const scope = { names: callNames, input: tool.input }
    this.#fields.url(tool.url, [...path, 'url'], scope)
    this.#templates.json(tool.query, [...path, 'query'], scope)
    if (tool.body !== undefined) {
      this.#templates.json(tool.body, [...path, 'body'], scope)
      if (tool.method === 'GET' || tool.method === 'HEAD') {
        const message = `a ${tool.method} request has no \`body\``
        this.#report('conflicting_keys', [...path, 'body'], message, { at: 'key' })
      }
    }
    return {
      ...this.#common(tool, path),
      method: tool.method,
      url: tool.url,
      headers: this.#fields.headers(tool.headers, [...path, 'headers'], scope),
      query: tool.query,
      body: tool.body,
      statusesWithoutEffect: tool.statuses_without_effect,
      idempotencyHeader: this.#keyHeader(tool, path),
      reconcile: this.#httpReconcile(tool, [...path, 'reconcile'], scope),
    }
  }

  /** The header that carries the key: the one that is named, or the usual one of a tool that is idempotent. */
  #keyHeader(tool: HttpFile, path: DocumentPath): string | null {
    const { idempotency_header: named, idempotent, headers } = tool
    const name = named ?? (idempotent ? 'Idempotency-Key' : null)
    if (name === null) return null
    const at = named === undefined ? [...path, 'idempotent'] : [...path, 'idempotency_header']
    if (named !== undefined) this.#fields.headerName(named, at, 'value')
    if (Object.keys(headers).some((header) => header.toLowerCase() === name.toLowerCase())) {
      this.#report('conflicting_keys', at, `\`headers\` sets \`${name}\`, which carries the key of each call`)
    }
    return name
  }

  #httpReconcile(
    tool: HttpFile,
    path: DocumentPath,
    scope: TemplateScope,
  ): Config['http'][number]['reconcile'] {
    const { reconcile } = tool
    if (reconcile === undefined) return null
    const { url, headers } = reconcile
    this.#fields.url(url, [...path, 'url'], scope)
    // The headers of a tool are meant for its own host, and may hold secrets.
    if (headers === undefined && URL.parse(url)?.origin !== URL.parse(tool.url)?.origin) {
      const message = `${this.#wording.place([...path, 'url'])} is another host than that of the tool`
      this.#report('value_not_allowed', [...path, 'url'], message, {
        suggestion: 'say which `headers` it is sent; `{}` for none',
      })
    }
    const given = headers === undefined ? null : this.#fields.headers(headers, [...path, 'headers'], scope)
    return { url, headers: given, ...this.#finding(reconcile, path, scope, ['status', 'body']) }
  }

  #exec(tool: ExecFile, path: DocumentPath): Config['exec'][number] {
    const scope = { names: callNames, input: tool.input }
    this.#command(tool.command, [...path, 'command'], scope)
    if (tool.stdin !== undefined) this.#templates.json(tool.stdin, [...path, 'stdin'], scope)
    this.#fields.plain(tool.cwd, [...path, 'cwd'])
    tool.pass_env.forEach((name, index) => this.#fields.variable(name, [...path, 'pass_env', index], 'value'))
    return {
      ...this.#common(tool, path),
      command: tool.command,
      cwd: resolve(this.#folder, tool.cwd ?? '.'),
      env: this.#fields.variables(tool.env, [...path, 'env'], scope),
      passEnv: tool.pass_env,
      allowDash: tool.allow_dash,
      stdin: tool.stdin,
      output: tool.output,
      exitCodesWithoutEffect: tool.exit_codes_without_effect,
      reconcile: this.#execReconcile(tool, [...path, 'reconcile'], scope),
    }
  }

  #execReconcile(
    { reconcile }: ExecFile,
    path: DocumentPath,
    scope: TemplateScope,
  ): Config['exec'][number]['reconcile'] {
    if (reconcile === undefined) return null
    const { command, applied, not_applied } = reconcile
    this.#command(command, [...path, 'command'], scope)
    if (applied === undefined && not_applied !== undefined) {
      const message = '`not_applied` needs `applied`: without both, exit codes say it'
      this.#report('missing_key', [...path, 'not_applied'], message)
    }
    return { command, ...this.#finding(reconcile, path, scope, ['output']) }
  }

  #command(command: readonly string[], path: DocumentPath, scope: TemplateScope): void {
    command.forEach((part, index) => this.#templates.template(part, [...path, index], scope))
  }

  /** What an answer says about a call. */
  #finding(
    given: { applied?: string | undefined; not_applied?: string | undefined; result?: Json | undefined },
    path: DocumentPath,
    { names, input }: TemplateScope,
    answer: readonly string[],
  ): FindingConfig {
    const scope = { names: [...names, ...answer], input }
    this.#templates.condition(given.applied, [...path, 'applied'], scope)
    this.#templates.condition(given.not_applied, [...path, 'not_applied'], scope)
    if (given.result !== undefined) this.#templates.json(given.result, [...path, 'result'], scope)
    return {
      applied: given.applied ?? null,
      notApplied: given.not_applied ?? null,
      result: given.result,
    }
  }

  #mcp(server: McpFile, path: DocumentPath): McpServerConfig {
    const { command, url, type } = server
    const env = this.#fields.variables(server.env, [...path, 'env'], null)
    const headers = this.#fields.headers(server.headers, [...path, 'headers'], null)
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
      ...this.#effect(tool, path),
    }
  }

  /** What is known of the effects of a tool. */
  #effect(
    tool: HttpFile | ExecFile,
    path: DocumentPath,
  ): Pick<ToolConfig, 'target' | 'idempotent' | 'compensate'> {
    const { target, idempotent, compensate, input, risk } = tool
    if (risk === 'read') {
      for (const key of ['idempotent', 'reconcile', 'compensate'] as const) {
        if (tool[key] === undefined || tool[key] === false) continue
        const message = `\`${key}\` has no meaning for a tool that only reads`
        this.#report('conflicting_keys', [...path, key], message, { at: 'key' })
      }
    }
    if (target !== undefined) {
      this.#templates.template(target, [...path, 'target'], { names: ['args', 'inputs'], input })
    }
    if (compensate !== undefined) {
      const scope = { names: ['args', 'inputs', 'result'], input }
      this.#templates.json(compensate.input, [...path, 'compensate', 'input'], scope)
    }
    return {
      target: target ?? null,
      idempotent,
      compensate: (compensate as ToolConfig['compensate']) ?? null,
    }
  }
}
