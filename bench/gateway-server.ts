/** The server that bench/gateway.ts asks: a platform with many runs and its gateway, and beside it a bare Fastify that answers the same bytes. */
import Fastify from 'fastify'
import { openPlatform } from '../src/app-serve.ts'
import { openChainStore } from '../src/app.ts'
import { systemActor } from '../src/directory/principal.ts'
import type { EmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts'
import { createPlatformGateway } from '../src/gateway/platform-gateway.ts'
import type { JournalFact } from '../src/journal/journal.ts'
import { publishSamples } from '../src/platform/samples.ts'
import { loadSettings } from '../src/source/load-settings.ts'

/** What the bench asks of the server. */
export type Order =
  | { readonly type: 'bytes'; readonly text: string }
  | { readonly type: 'busy'; readonly run: string; readonly entries: number; readonly everyMs: number }
  | { readonly type: 'memory' }

/** What the server tells the bench. */
export type Told =
  | {
      readonly type: 'ready'
      readonly port: number
      readonly bare: number
      readonly key: string
      readonly run: string
      readonly busy: string
      readonly viewsMs: number
    }
  | { readonly type: 'done' }
  | { readonly type: 'memory'; readonly megabytes: number }

const [home, count] = [process.argv[2]!, Number(process.argv[3])]
const tell = (told: Told) => void process.send!(told)
const author = { tenant: 'local', principal: 'admin@local' }
const { settings: loaded } = loadSettings({ env: { LOCKSTEP_HOME: home, LOCKSTEP_PORT: '0' } })
const settings = { ...loaded, rateLimit: { perSecond: 1e9, burst: 1e9 } }

/** One real run, from its first entry to its last, so that what is copied is what runs leave behind. */
async function realRun(): Promise<{ readonly run: string; readonly facts: readonly JournalFact[] }> {
  const platform = await openPlatform({ settings })
  const run = await publishSamples(platform)
  const engine = await platform.engineOf('local')
  const { overview, store } = platform
  const scope = { tenant: 'local', projects: null }
  for (;;) {
    const [held] = (await overview.approvals(scope, { state: 'waiting', limit: 1 })).items
    if (held !== undefined) {
      const vote = { person: 'approver@local', identity: 'local', roles: ['OnCall'], reason: null } as const
      await engine.vote(run, held.call, { ...vote, answer: 'approve' })
      break
    }
    await new Promise((resolve) => void setTimeout(resolve, 10))
  }
  while ((await overview.run('local', run))?.endedAt == null)
    await new Promise((resolve) => void setTimeout(resolve, 10))
  const facts = (await store.read(run)).map(({ type, at, data }) => ({ type, at, data }))
  await platform.close()
  return { run, facts }
}

async function fill(facts: readonly JournalFact[]): Promise<void> {
  const store = await openChainStore(home)
  const began = Date.now() - count * 1000
  for (let from = 0; from < count; from += 500) {
    const some = Array.from({ length: Math.min(500, count - from) }, (_, n) => from + n)
    await Promise.all(
      some.map((n) => {
        const moved = facts.map((fact, index) => ({ ...fact, at: began + n * 1000 + index }))
        return store.append(`r_${String(n).padStart(36, '0')}`, moved, { ...author, expectedSeq: 0 })
      }),
    )
  }
  await store.close()
}

const { run, facts } = await realRun()
// Short ones, so that many are soon there: what lists show of a run does not depend on its length.
await fill([...facts.slice(0, 8), facts.at(-1)!])
const began = performance.now()
const platform = await openPlatform({ settings })
const viewsMs = performance.now() - began
const app = await createPlatformGateway(platform)
await app.listen({ port: 0, host: '127.0.0.1' })
const wanted = { name: 'bench', role: 'Admin', project: null, expiresAt: null } as const
const { secret } = await platform.directory.keys.make(systemActor('local'), wanted)

let bytes = ''
const bare = Fastify()
bare.route({
  method: ['GET', 'POST'],
  url: '/bytes',
  handler: (_, reply) => {
    reply.type('application/json; charset=utf-8')
    return reply.send(bytes)
  },
})
await bare.listen({ port: 0, host: '127.0.0.1' })

const busy = 'r_busy'
const engine = (await platform.engineOf('local')) as EmbeddedEngine
await engine.journal.append(busy, facts.slice(0, 2), { ...author, expectedSeq: 0 })
let written = 2

process.on('message', (order: Order) => void obey(order))
async function obey(order: Order): Promise<void> {
  if (order.type === 'bytes') bytes = order.text
  if (order.type === 'busy') {
    for (let n = 0; n < order.entries; n++) {
      const said = { type: 'agent.reminded', at: Date.now(), data: { text: `Entry ${n} of a busy run.` } }
      await engine.journal.append(order.run, [said], { ...author, expectedSeq: written++ })
      await new Promise((resolve) => void setTimeout(resolve, order.everyMs))
    }
  }
  if (order.type === 'memory') {
    globalThis.gc?.()
    tell({ type: 'memory', megabytes: process.memoryUsage().rss / 1e6 })
  } else tell({ type: 'done' })
}

const portOf = (server: { readonly server: { address(): unknown } }) =>
  (server.server.address() as { readonly port: number }).port
tell({ type: 'ready', port: portOf(app), bare: portOf(bare), key: secret, run, busy, viewsMs })
process.on('disconnect', () => process.exit(0))
