import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { JournalEntry } from '../journal/journal.ts'
import { RunStreams, type RunStreamsOptions } from './run-stream.ts'

const servers: Server[] = []
const streams: RunStreams[] = []
afterEach(async () => {
  for (const each of streams.splice(0)) each.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** A record that grows while it is told. */
class Told {
  readonly entries: JournalEntry[] = []
  reads = 0
  #wake: (() => void)[] = []

  add(type: string, text = ''): void {
    const seq = this.entries.length + 1
    const entry = {
      v: 1 as const,
      run: 'r_1',
      seq,
      at: seq,
      tenant: 't',
      principal: 'ann',
      type,
      data: { text },
    }
    this.entries.push(entry)
    for (const wake of this.#wake.splice(0)) wake()
  }

  async *tail(_run: string, fromSeq: number, signal: AbortSignal): AsyncGenerator<JournalEntry> {
    this.reads++
    signal.addEventListener('abort', () => this.#wake.splice(0).forEach((wake) => wake()))
    for (let next = fromSeq - 1; !signal.aborted;) {
      const entry = this.entries[next]
      if (entry === undefined) await new Promise<void>((resolve) => this.#wake.push(resolve))
      else {
        next++
        yield entry
        if (entry.type === 'run.finished') return
      }
    }
  }
}

async function serve(told: Told, options: Partial<RunStreamsOptions> = {}, stillMay = async () => true) {
  const made = new RunStreams({ engineOf: async () => told, ...options })
  streams.push(made)
  const cut: string[] = []
  const server = createServer((request, response) => {
    const after = Number(/after=(\d+)/.exec(request.url ?? '')?.[1] ?? 0)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    response.once('close', () => cut.push(response.writableFinished ? 'ended' : 'cut'))
    made.follow({ tenant: 't', run: 'r_1', after, from: after }, response, stillMay)
  })
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, cut, streams: made, url: `http://127.0.0.1:${port}/` }
}

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, resolve).once('error', reject))
}

/** Everything that is sent until the connection ends. */
async function read(stream: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

function seqsIn(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq))
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => void setTimeout(resolve, 2))
}

describe('RunStreams', () => {
  it('F1, F2: sends many followers every entry after theirs, once and in order, from one reading', async () => {
    const told = new Told()
    for (let n = 0; n < 50; n++) told.add('x.y')
    const { url, streams: made } = await serve(told)
    const first = await open(url)
    const others = await Promise.all(Array.from({ length: 29 }, (_, n) => open(`${url}?after=${n + 1}`)))
    const all = [first, ...others].map(read)
    await until(() => made.size === 30)
    for (let n = 0; n < 50; n++) told.add('x.y')
    told.add('run.finished')
    for (const [after, text] of (await Promise.all(all)).entries()) {
      expect(seqsIn(text)).toEqual(Array.from({ length: 101 - after }, (_, n) => after + 1 + n))
      expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true)
    }
    expect(told.reads).toBe(1)
    await until(() => made.size === 0)
  })

  it('F3: cuts off who takes nothing, and others get everything meanwhile', async () => {
    const told = new Told()
    const { url, port, cut, streams: made } = await serve(told, { patienceMs: 200 })
    const slow = connect(port, '127.0.0.1')
    await new Promise<void>((resolve) => void slow.once('connect', resolve))
    slow.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    slow.pause()
    const fast = read(await open(url))
    await until(() => made.size === 2)
    // More than the system keeps for somebody who does not read.
    for (let n = 0; n < 800; n++) told.add('x.y', '1 '.repeat(9500))
    await until(() => cut.includes('cut'))
    told.add('run.finished')
    expect(seqsIn(await fast)).toHaveLength(801)
    slow.destroy()
  })

  it('F4: ends the stream of who may no longer see the run', async () => {
    const told = new Told()
    told.add('x.y')
    let may = true
    const { url } = await serve(told, { beatMs: 5 }, async () => {
      if (!may) throw new Error('the session has ended')
      return true
    })
    const stream = await open(url)
    let text = ''
    stream.on('data', (chunk) => (text += String(chunk)))
    await until(() => text.includes(': \n\n'))
    may = false
    await new Promise((resolve) => stream.once('end', resolve))
    expect(text).not.toContain('event: end')
  })

  it('F5: forgets what everybody was sent, and reads again for who comes from further back', async () => {
    const told = new Told()
    for (let n = 0; n < 20; n++) told.add('x.y')
    const { url, streams: made } = await serve(told, { keptBytes: 200 })
    const one = await open(`${url}?after=5`)
    let seen = ''
    one.on('data', (chunk) => (seen += String(chunk)))
    await until(() => seqsIn(seen).length === 15)
    told.add('x.y')
    await until(() => seqsIn(seen).length === 16)
    const two = read(await open(url))
    await until(() => made.size === 2)
    told.add('run.finished')
    await new Promise((resolve) => one.once('end', resolve))
    expect(seqsIn(seen)).toEqual(Array.from({ length: 17 }, (_, n) => 6 + n))
    expect(seqsIn(await two)).toEqual(Array.from({ length: 22 }, (_, n) => 1 + n))
    expect(told.reads).toBe(2)
  })

  it('stops reading when the last one has left, and begins again for the next', async () => {
    const told = new Told()
    told.add('x.y')
    const { url, streams: made } = await serve(told)
    const first = await open(url)
    await until(() => made.size === 1)
    first.destroy()
    await until(() => made.size === 0)
    const second = read(await open(`${url}?after=1`))
    await until(() => made.size === 1)
    told.add('run.finished')
    expect(seqsIn(await second)).toEqual([2])
    expect(told.reads).toBe(2)
  })
})
