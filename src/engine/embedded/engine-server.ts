/**
 * Lets other processes of the same user reach the engine of this one.
 *
 * Owns: the socket, the lock that says that there is an engine, and the token.
 *
 * Invariants
 * N1  One engine per store: who does not get the lock is none.
 * N2  Nobody is answered who does not know what only the owner of the data folder can read.
 * N3  A socket that a killed engine left behind is no engine: the lock says so, and the next engine takes its place.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { takeProcessLock, type ProcessLock } from '../../journal/process-lock.ts'
import type { RunOrder } from '../../agent/run-control.ts'
import type { Halt, JournalEntry } from '../../journal/journal.ts'
import type { ApprovalVote } from '../../run/approval.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import type { EngineAddress } from '../engine-address.ts'
import {
  engineMethods,
  protocolVersion,
  readLines,
  writeError,
  type EngineMethod,
  type EngineReply,
} from '../engine-protocol.ts'
import type { EngineOrders } from '../engine.ts'

/** What clients may ask for: all that an engine does for others, and to begin a run by a description of it. */
export interface ServedEngine extends EngineOrders {
  begin(run: string, request: JsonObject): Promise<void>
}

/** Takes the place of the engine of a data folder; null if there is one (N1). Throws what the system says to a folder that cannot be written. */
export function takeEnginePlace(address: EngineAddress): ProcessLock | null {
  return takeProcessLock(address.lock)
}

/** A socket that is listened on. */
export interface EngineService {
  close(): Promise<void>
}

/** Listens on the socket. Only who holds the place of the engine may (N3). Throws `cannot_listen`. */
export async function serveEngine(address: EngineAddress, engine: ServedEngine): Promise<EngineService> {
  const token = randomBytes(32).toString('hex')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    new Conversation(socket, engine, token).begin()
  })
  try {
    writeFileSync(address.token, token, { mode: 0o600 })
    chmodSync(address.token, 0o600)
    await listen(server, address.socket)
  } catch (cause) {
    throw new LockstepError('cannot_listen', `The engine cannot listen on ${address.socket}.`, { cause })
  }
  // A socket alone keeps no process alive.
  server.unref()
  return {
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      rmSync(address.token, { force: true })
    },
  }
}

async function listen(server: Server, path: string): Promise<void> {
  const isFile = process.platform !== 'win32'
  if (isFile) rmSync(path, { force: true })
  const mask = isFile ? process.umask(0o177) : 0
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
    })
    if (isFile) chmodSync(path, 0o600)
  } finally {
    if (isFile) process.umask(mask)
  }
}

/** What one client says, and is answered. */
class Conversation {
  readonly #socket: Socket
  readonly #engine: ServedEngine
  readonly #token: string
  readonly #going = new Map<number, AbortController>()
  #known = false

  constructor(socket: Socket, engine: ServedEngine, token: string) {
    this.#socket = socket
    this.#engine = engine
    this.#token = token
  }

  begin(): void {
    const read = readLines((message) => this.#hear(message))
    this.#socket.setEncoding('utf8')
    this.#socket.on('data', (chunk) => {
      try {
        read(String(chunk))
      } catch {
        this.#socket.destroy()
      }
    })
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => {
      for (const controller of this.#going.values()) controller.abort()
    })
  }

  #hear(message: unknown): void {
    const { id, method, params, stop } = message as Record<string, unknown>
    if (typeof id !== 'number') throw new TypeError('a request has a number')
    if (stop === true) return this.#going.get(id)?.abort()
    if (!(engineMethods as readonly unknown[]).includes(method) || this.#going.has(id))
      throw new TypeError('unknown request')
    if (!this.#known && method !== 'hello') throw new TypeError('nobody said hello')
    const controller = new AbortController()
    this.#going.set(id, controller)
    void this.#answer(id, method as EngineMethod, (params ?? {}) as JsonObject, controller.signal)
  }

  async #answer(id: number, method: EngineMethod, params: JsonObject, signal: AbortSignal): Promise<void> {
    try {
      this.#say({ id, result: await this.#do(id, method, params, signal) })
    } catch (error) {
      this.#say({ id, error: writeError(error) })
      if (!this.#known) this.#socket.end()
    } finally {
      this.#going.delete(id)
    }
  }

  async #do(id: number, method: EngineMethod, params: JsonObject, signal: AbortSignal): Promise<Json> {
    const engine = this.#engine
    const run = String(params['run'])
    const text = (name: string) => String(params[name])
    switch (method) {
      case 'hello':
        this.#greet(params)
        return { v: protocolVersion, pid: process.pid }
      case 'begin':
        await engine.begin(run, params['request'] as JsonObject)
        return null
      case 'resume':
        return (await engine.resume(run)) as unknown as Json
      case 'order':
        return await engine.order(run, params['order'] as unknown as RunOrder)
      case 'vote':
        return (await engine.vote(
          run,
          text('callId'),
          params['vote'] as unknown as Omit<ApprovalVote, 'at'>,
        )) as Json
      case 'halt':
        return await engine.halt(text('by'), text('reason'))
      case 'unhalt':
        return await engine.unhalt(text('by'), text('reason'))
      case 'halted':
        return (await engine.halted()) as (Halt & JsonObject) | null
      case 'runs':
        return await engine.runs()
      case 'tail':
        for await (const entry of engine.tail(run, Number(params['from']), signal)) this.#tell(id, entry)
        return null
    }
  }

  #greet({ v, token }: JsonObject): void {
    if (v !== protocolVersion) {
      throw new LockstepError(
        'engine_unavailable',
        `The engine speaks version ${protocolVersion} of its protocol, and was asked in version ${JSON.stringify(v ?? null)}.`,
        { hint: 'Use the same version of Lockstep on both sides.' },
      )
    }
    const given = Buffer.from(String(token))
    const own = Buffer.from(this.#token)
    if (given.length !== own.length || !timingSafeEqual(given, own))
      throw new LockstepError('engine_unavailable', 'The engine does not answer strangers.')
    this.#known = true
  }

  #tell(id: number, entry: JournalEntry): void {
    this.#say({ id, entry: entry as unknown as JsonObject })
  }

  #say(reply: EngineReply): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(reply)}\n`)
  }
}
