import { fork, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Order, Told } from './gateway-server.ts'
import { load, type Load } from './load-http.ts'
import { percentile, type Row } from './measure.ts'

const many = Number(process.env['LOCKSTEP_BENCH_RUNS'] ?? 100_000)
const few = 100
const followers = 1000
const rounds = 3
const roundMs = 2000

type Ready = Extract<Told, { type: 'ready' }>

/** A server in a process of its own, and how it is asked something besides HTTP. */
class Server {
  readonly #child: ChildProcess
  readonly ready: Promise<Ready>

  constructor(home: string, runs: number) {
    const file = new URL('gateway-server.ts', import.meta.url)
    this.#child = fork(file, [home, String(runs)], { execArgv: ['--expose-gc'] })
    this.ready = this.#told('ready')
  }

  async bytes(text: string): Promise<void> {
    await this.#order({ type: 'bytes', text }, 'done')
  }

  busy(run: string, entries: number, everyMs: number): Promise<unknown> {
    return this.#order({ type: 'busy', run, entries, everyMs }, 'done')
  }

  async memory(): Promise<number> {
    return (await this.#order({ type: 'memory' }, 'memory')).megabytes
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.disconnect()
    await ended
  }

  async #order<Type extends Told['type']>(
    order: Order,
    answer: Type,
  ): Promise<Extract<Told, { type: Type }>> {
    const told = this.#told(answer)
    this.#child.send(order)
    return await told
  }

  #told<Type extends Told['type']>(type: Type): Promise<Extract<Told, { type: Type }>> {
    return new Promise((resolve, reject) => {
      const listen = (told: Told) => {
        if (told.type !== type) return
        this.#child.off('message', listen as never)
        resolve(told as Extract<Told, { type: Type }>)
      }
      this.#child.on('message', listen as never)
      this.#child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    })
  }
}

/** The gateway beside a bare Fastify that answers the same bytes, with many runs stored and with few, followers of a busy run, and how it starts. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-bench-'))
  try {
    const small = await askedOf(join(folder, 'few'), few, false)
    const large = await askedOf(join(folder, 'many'), many, true)
    return [
      ...large.rows,
      {
        what: `GET /runs?limit=50 with ${many} runs, beside ${few}`,
        unit: '×',
        p50: large.list / small.list,
        p99: null,
        goal: 0.9,
        atLeast: true,
      },
      ...(await startRows(join(folder, 'start'))),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function askedOf(home: string, runs: number, all: boolean): Promise<{ rows: Row[]; list: number }> {
  const server = new Server(home, runs)
  const ready = await server.ready
  try {
    const { port, key } = ready
    const list = await beside(server, ready, `GET /runs?limit=50 with ${runs} runs`, {
      port,
      key,
      path: '/runs?limit=50',
      connections: 20,
      ms: roundMs,
    })
    if (!all) return { rows: [], list: list.perSecond }
    const single = await beside(
      server,
      ready,
      'GET /runs/{id}',
      { port, key, path: `/runs/${ready.run}`, connections: 20, ms: roundMs },
      0.5,
    )
    const body = JSON.stringify({ runbook: 'rollback-release' })
    const begun = await beside(server, ready, 'POST /runs', {
      port,
      key,
      path: '/runs',
      body,
      connections: 20,
      ms: roundMs,
    })
    const rows: Row[] = [
      ...single.rows,
      ...list.rows,
      ...begun.rows,
      ...(await followed(server, ready)),
      {
        what: `views of ${runs} runs made anew`,
        unit: 's',
        p50: ready.viewsMs / 1000,
        p99: null,
        goal: null,
      },
    ]
    return { rows, list: list.perSecond }
  } finally {
    await server.end()
  }
}

/** The route and the bare one in turns, so that what else the machine does meets both. */
async function beside(
  server: Server,
  { bare }: Ready,
  what: string,
  asked: Load,
  goal: number | null = null,
): Promise<{ rows: Row[]; perSecond: number }> {
  const { body } = await load({ ...asked, ms: 300 })
  await server.bytes(body)
  const plain: Load = { ...asked, port: bare, path: '/bytes' }
  await load({ ...plain, ms: 300 })
  const [ours, theirs] = [[] as number[], [] as number[]]
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    theirs.push((await load(plain)).perSecond)
    const measured = await load(asked)
    if (measured.status >= 300) throw new Error(`${what} was answered ${measured.status}: ${measured.body}`)
    ours.push(measured.perSecond)
    times.push(...measured.times)
  }
  const perSecond = percentile(ours, 0.5)
  const ratio = perSecond / percentile(theirs, 0.5)
  return {
    perSecond,
    rows: [
      { what, unit: 'requests/s', p50: perSecond, p99: null, goal: null },
      {
        what: `${what}: time`,
        unit: 'ms',
        p50: percentile(times, 0.5),
        p99: percentile(times, 0.99),
        goal: null,
      },
      {
        what: `${what}, beside bare Fastify (${body.length} bytes)`,
        unit: '×',
        p50: ratio,
        p99: null,
        goal,
        atLeast: true,
      },
    ],
  }
}

/** Many who follow one run that writes an entry every so often: how late each is told of each. */
async function followed(server: Server, { port, key, busy }: Ready): Promise<Row[]> {
  const before = await server.memory()
  const delays: number[] = []
  const sockets = await Promise.all(
    Array.from(
      { length: followers },
      () =>
        new Promise<ReturnType<typeof connect>>((resolve, reject) => {
          const socket = connect(port, '127.0.0.1')
          socket.once('error', reject)
          socket.write(
            `GET /runs/${busy}/events?after=2 HTTP/1.1\r\nhost: bench\r\nx-api-key: ${key}\r\n\r\n`,
          )
          socket.once('data', () => resolve(socket))
          socket.on('data', (chunk) => {
            const now = Date.now()
            for (const [, at] of chunk.toString('latin1').matchAll(/"at":"([^"]+)"/g))
              delays.push(now - Date.parse(at!))
          })
        }),
    ),
  )
  const entries = 100
  await server.busy(busy, entries, 20)
  while (delays.length < followers * entries) await new Promise((resolve) => void setTimeout(resolve, 20))
  const during = await server.memory()
  for (const socket of sockets) socket.destroy()
  return [
    {
      what: `${followers} followers of a run with an entry every 20 ms: delay`,
      unit: 'ms',
      p50: percentile(delays, 0.5),
      p99: percentile(delays, 0.99),
      goal: null,
    },
    { what: `memory for ${followers} followers`, unit: 'MB', p50: during - before, p99: null, goal: null },
  ]
}

/** How the command starts, with an empty data folder and again, and what it takes when nobody asks for anything. */
async function startRows(home: string): Promise<Row[]> {
  const first = await started(home)
  const again = await started(home)
  return [
    {
      what: 'lockstep serve, from start to ready, the first time',
      unit: 's',
      p50: first.seconds,
      p99: null,
      goal: 2,
    },
    { what: 'lockstep serve, from start to ready', unit: 's', p50: again.seconds, p99: null, goal: 2 },
    { what: 'memory of lockstep serve at rest', unit: 'MB', p50: again.megabytes, p99: null, goal: 200 },
  ]
}

async function started(home: string): Promise<{ seconds: number; megabytes: number }> {
  const began = performance.now()
  const command = new URL('../bin/lockstep.js', import.meta.url).pathname
  const child = spawn(process.execPath, [command, 'serve', '--port', '0'], {
    env: { ...process.env, LOCKSTEP_HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      text += String(chunk)
      if (text.includes('Ctrl-C ends it.')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`lockstep serve ended with ${code}: ${text}`)))
  })
  const url = /serves (http:\S+)/.exec(text)![1]!
  const { status } = await fetch(`${url}/readyz`)
  const seconds = (performance.now() - began) / 1000
  if (status !== 200) throw new Error(`/readyz was answered ${status}`)
  await new Promise((resolve) => void setTimeout(resolve, 2000))
  const pages = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  child.removeAllListeners('exit')
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
  return { seconds, megabytes: Number(pages?.[1] ?? 0) / 1000 }
}
