import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigLoadError } from './config-load-error.ts'
import { findConfig, loadConfig } from './load-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

let files = 0

/** The problems of a configuration as `line:code message, suggestion`. */
async function problemsOf(text: string, suffix = 'yaml'): Promise<string[]> {
  const path = write(`c${++files}.${suffix}`, text)
  const error: unknown = await loadConfig(path).catch((thrown: unknown) => thrown)
  if (!(error instanceof ConfigLoadError)) return error instanceof Error ? [error.message] : []
  return error.diagnostics.map(
    ({ line, code, message, suggestion }) =>
      `${line}:${code} ${message}${suggestion === null ? '' : `, ${suggestion}`}`,
  )
}

/** One http tool with a line changed or added. */
const http = (...lines: string[]) =>
  [
    'tools:',
    '  http:',
    '    - name: t',
    '      description: d',
    ...lines.map((line) => `      ${line}`),
  ].join('\n')

const exec = (...lines: string[]) =>
  [
    'tools:',
    '  exec:',
    '    - name: t',
    '      description: d',
    ...lines.map((line) => `      ${line}`),
  ].join('\n')

describe('loadConfig', () => {
  it('knows policies by their whole paths, and people by their names', async () => {
    const path = write(
      'people/lockstep.config.yaml',
      'policies: [policies/a.yaml, ../b.yaml]\npeople: { ann: [Lead], bob: [] }\n',
    )
    const { policies, people } = await loadConfig(path)
    expect(policies).toEqual([join(folder, 'people/policies/a.yaml'), join(folder, 'b.yaml')])
    expect(people).toEqual({ ann: ['Lead'], bob: [] })
  })

  it('says where policies or people are something else', async () => {
    expect(await problemsOf('policies: a.yaml\npeople: { ann: Lead }\npeple: {}')).toEqual([
      '1:wrong_type `policies` must be a list of files, not "a.yaml", write it as a list: [a.yaml]',
      '2:wrong_type `people.ann` must be a list of roles, not "Lead", write it as a list: [Lead]',
      '3:unknown_key unknown key `peple` in the configuration, did you mean `people`?',
    ])
    const code = `export default { policies: ['a.yaml'], people: { aB_c: ['Lead', ''] } }`
    expect((await problemsOf(code, 'ts'))[0]).toMatch(/`people\.aB_c` must not be empty/)
  })

  it.each([
    ['ls -l', '[ls, -l]'],
    ["sh -c '{args.x}'", "[sh, -c, '''{args.x}''']"],
  ])('shows how the command %j is written as a list', async (command, list) => {
    const text = `tools: { exec: [{ name: a, description: d, command: ${JSON.stringify(command)} }] }`
    expect(await problemsOf(text)).toEqual([
      expect.stringContaining(`write it as a list, one element for each argument: ${list}`),
    ])
  })

  it('fills in the defaults, of which the first is caution', async () => {
    const path = write(
      'full/lockstep.config.yaml',
      `tools:
  http:
    - { name: get, description: d, url: "https://a.example/x/{args.id}" }
  exec:
    - { name: run, description: d, command: [node, s.js], cwd: sub }
  modules: [./tools.ts]
mcpServers:
  files: { command: npx, args: [-y, server] }
  remote: { type: http, url: https://mcp.example, headers: { Authorization: Bearer env:TOKEN, X-Api-Key: store:shop.key } }
`,
    )
    const config = await loadConfig(path)
    expect(config.http[0]).toMatchObject({ method: 'GET', risk: null, timeoutSeconds: 30, input: null })
    expect(config.exec[0]).toMatchObject({ passEnv: ['PATH'], output: 'text', cwd: join(folder, 'full/sub') })
    expect(config.modules).toEqual([join(folder, 'full/tools.ts')])
    expect(config.callReadsInDryRun).toBe(false)
    expect(config.mcpServers).toMatchObject({
      files: { command: 'npx' },
      remote: {
        headers: {
          Authorization: { kind: 'secret', prefix: 'Bearer ', reference: { from: 'env', name: 'TOKEN' } },
          'X-Api-Key': { kind: 'secret', prefix: '', reference: { from: 'store', name: 'shop.key' } },
        },
      },
    })
  })

  it('names three typos at once, each with its line and what was meant', async () => {
    const text = `tools:
  http:
    - name: lookup
      descripton: d
      url: https://a.example/{args.oder_id}
      methd: GET
      input: { type: object, properties: { order_id: { type: string } } }
mcpServer: {}
`
    expect(await problemsOf(text)).toEqual([
      '3:missing_key `description` of the http tool `lookup` is missing',
      '4:unknown_key unknown key `descripton` in the http tool `lookup`, did you mean `description`?',
      '6:unknown_key unknown key `methd` in the http tool `lookup`, did you mean `method`?',
      '8:unknown_key unknown key `mcpServer` in the configuration, did you mean `mcpServers`?',
    ])
    const mended = text
      .replace('descripton', 'description')
      .replace('methd', 'method')
      .replace('mcpServer', 'mcpServers')
    expect(await problemsOf(mended)).toEqual([
      '5:invalid_expression `url` of the http tool `lookup`: the `input` has no `oder_id`, did you mean `order_id`?',
    ])
  })

  it.each([
    'https://{args.host}/x',
    'https://a.example{args.x}',
    '{args.url}',
    'https://user:pass@a.example/',
    'ftp://a.example/',
    'file:///etc/passwd',
    'https://',
    'https://a.example:99999/',
    '//a.example/x',
    'https://a.example\\{args.x}',
  ])('keeps the origin out of reach: refuses the url %s', async (url) => {
    expect(await problemsOf(http(`url: ${JSON.stringify(url)}`))).toEqual([
      expect.stringMatching(/^5:value_not_allowed `url` of the http tool `t` must begin with http/),
    ])
  })

  it.each([
    [http('url: https://a.example', 'headers: { Authorization: Bearer abc }'), /plain text, refer to it/],
    [
      http('url: https://a.example', 'headers: { Authorization: "Basic user:hunter2" }'),
      /plain text, refer to it/,
    ],
    [http('url: https://a.example', 'query: { key: "env:TOKEN" }'), /cannot refer to a secret/],
    [
      http('url: https://a.example', 'method: POST', 'body: { key: "file:token" }'),
      /cannot refer to a secret/,
    ],
    [http('url: https://a.example', 'headers: { Host: b.example }'), /cannot be set/],
    [http('url: https://a.example', 'headers: { "a b": c }'), /no name of a header/],
    [http('url: https://a.example', 'headers: { A: "env:{args.x}" }'), /holds no placeholder/],
    [
      http('url: https://a.example', 'headers: { A: "exec:pass show x" }'),
      /must be a list, one element an argument/,
    ],
    [http('url: https://a.example', 'headers: { A: "env:" }'), /must name a variable/],
    [http('url: https://a.example', 'headers: { A: "store:" }'), /must name a secret of the store/],
    [http('url: https://a.example', 'headers: { A: "store:a b" }'), /must name a secret of the store/],
    [http('url: https://a.example', 'headers: { A: [store:a] }'), /must be a string: store:/],
    [http('url: https://a.example', 'headers: { A: "store:{args.x}" }'), /holds no placeholder/],
    [http('url: https://a.example', 'query: { key: "store:token" }'), /cannot refer to a secret/],
    [http('url: https://a.example', 'body: "{args}"'), /a GET request has no `body`/],
    [http('url: https://a.example', 'method: POST', 'body: { a: ["{args."] }'), /^7:invalid_expression/],
    [http('url: https://a.example', 'input: { type: nonsense }'), /not a JSON Schema/],
    [http('url: https://a.example', 'risk: reed'), /value_not_allowed.*did you mean `read`\?/],
    [http('url: https://a.example/x#y'), /fragment/],
    [http('url: https://a.example', 'timeout: 3'), /did you mean `timeout_seconds`/],
    [exec('command: echo {args.x}'), /must be a list of strings/],
    [exec('command: [a]', 'cwd: "{args.x}"'), /`cwd` of the exec tool `t` can hold no placeholder/],
    [exec('command: []'), /must not be empty/],
    [exec('command: [a]', 'env: { "A-B": c }'), /no name of a variable/],
    [exec('command: [a]', 'shell: true'), /unknown key `shell` in the exec tool `t`/],
    ['mcpServers: { a: {} }', /needs either `command` or `url`/],
    ['mcpServers: { a: { command: x, url: "https://a" } }', /needs either `command` or `url`/],
    ['mcpServers: { a: { command: x, type: http } }', /`type` says http/],
    ['mcpServers: { a: { command: x, headers: { A: b } } }', /`headers` has no meaning/],
    ['[]', /must be a mapping/],
    ['tools: { http: [{}, {}', /invalid_yaml/],
  ])('refuses %s', async (text, message) => {
    expect((await problemsOf(text)).join('\n')).toMatch(message)
  })

  it('lets a tool name stand once', async () => {
    const text = `${http('url: https://a.example')}\n    - { name: t, description: d, url: https://a.example }\n`
    expect(await problemsOf(text)).toEqual(['6:duplicate_item there is a tool `t` already'])
  })

  it('reads JSON, and TypeScript in its own spelling', async () => {
    expect(await problemsOf('{"tools": {"modules": []}, "dry_run": {"call_reads": true}}', 'json')).toEqual(
      [],
    )
    const tool = `{ name: 't', description: 'd', url: 'https://a.example', timeoutSeconds: 3 }`
    const good = write('good.mts', `export default { tools: { http: [${tool}] } } satisfies object\n`)
    expect((await loadConfig(good)).http[0]?.timeoutSeconds).toBe(3)
    expect(
      await problemsOf(`export default { tools: { http: [${tool.replace('Seconds', 'Secs')}] } }`, 'mts'),
    ).toEqual([
      'null:unknown_key unknown key `timeoutSecs` in the http tool `t`, did you mean `timeoutSeconds`?',
    ])
    expect(await problemsOf('export const other = 1', 'mts')).toEqual([expect.stringContaining('not_json')])
    expect(await problemsOf('throw new Error("oh")', 'mts')).toEqual([
      expect.stringContaining('cannot be loaded: oh'),
    ])
  })

  it('says so when there is no file', async () => {
    await expect(loadConfig(join(folder, 'none.yaml'))).rejects.toMatchObject({ code: 'invalid_config' })
  })
})

describe('findConfig', () => {
  it('takes that of the nearest folder above', () => {
    const path = write('up/lockstep.config.yml', 'tools: {}')
    mkdirSync(join(folder, 'up/a/b'), { recursive: true })
    expect(findConfig(join(folder, 'up/a/b'))).toBe(path)
    expect(findConfig(folder)).toBe(null)
  })

  it('refuses to choose between two', () => {
    write('two/lockstep.config.yml', 'tools: {}')
    write('two/lockstep.config.json', '{}')
    expect(() => findConfig(join(folder, 'two'))).toThrow(/two configurations/)
  })
})
