import { readFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import type { RunOrder } from '../agent/run-control.ts'
import { isProcessLocked } from '../journal/process-lock.ts'
import type { Halt, JournalEntry } from '../journal/journal.ts'
import type { ApprovalVote } from '../run/approval.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { EngineAddress } from './engine-address.ts'
import {
  protocolVersion,
  readError,
  readLines,
  type EngineMethod,
  type EngineReply,
} from './engine-protocol.ts'
import type { EngineOrders, RunRest, VoteAnswer } from './engine.ts'

interface Waiting {
  readonly resolve: (result: Json) => void
  readonly reject: (error: unknown) => void
  readonly onEntry: ((entry: JournalEntry) => void) | null
}

/** How long an engine that is about to listen, or to end, is waited for, in milliseconds. */
const patience = 2_000

/** The engine of another process, over its socket. */
export class EngineClient implements EngineOrders {
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  #gone: LockstepError | null = null
  #pid = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    const read = readLines((message) => this.#hear(message as EngineReply))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      try {
        read(String(chunk))
      } catch {
        socket.destroy()
      }
    })
    socket.on('error', () => undefined)
    socket.on('close', () => this.#end())
  }

  /** Connects to the engine of a data folder; null if there is none. Throws `engine_unavailable` for one that does not answer. */
  static async connect(address: EngineAddress): Promise<EngineClient | null> {
    const until = Date.now() + patience
    for (;;) {
      if (!isProcessLocked(address.lock)) return null
      try {
        return await EngineClient.#open(address)
      } catch (error) {
        if (
          LockstepError.isInstance(error) &&
          error.code === 'engine_unavailable' &&
          error.cause === undefined
        )
          throw error
        if (Date.now() >= until) {
          throw new LockstepError('engine_unavailable', `The engine on ${address.socket} does not answer.`, {
            cause: error,
            hint: 'Another process has this store, and cannot be reached. Let it end, or stop it.',
          })
        }
        await new Promise((resolve) => void setTimeout(resolve, 50))
      }
    }
  }

  static async #open(address: EngineAddress): Promise<EngineClient> {
    const token = readFileSync(address.token, 'utf8')
    const socket = createConnection(address.socket)
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    const client = new EngineClient(socket)
    const { pid } = (await client.#ask('hello', { v: protocolVersion, token })) as { pid: number }
    client.#pid = pid
    return client
  }

  /** The process of the engine. */
  get pid(): number {
    return this.#pid
  }

  /** Begins a run there, by a description of it; the engine works on when this process is gone. */
  async begin(run: string, request: JsonObject): Promise<void> {
    await this.#ask('begin', { run, request })
  }

  async resume(run: string): Promise<RunRest> {
    return (await this.#ask('resume', { run })) as unknown as RunRest
  }

  async order(run: string, order: RunOrder): Promise<boolean> {
    return (await this.#ask('order', { run, order: order as unknown as Json })) as boolean
  }

  async vote(run: string, callId: string, vote: Omit<ApprovalVote, 'at'>): Promise<VoteAnswer> {
    return (await this.#ask('vote', { run, callId, vote: vote as unknown as Json })) as unknown as VoteAnswer
  }

  async halt(by: string, reason: string): Promise<boolean> {
    return (await this.#ask('halt', { by, reason })) as boolean
  }

  async unhalt(by: string, reason: string): Promise<boolean> {
    return (await this.#ask('unhalt', { by, reason })) as boolean
  }

  async halted(): Promise<Halt | null> {
    return (await this.#ask('halted', {})) as Halt | null
  }

  async runs(): Promise<readonly string[]> {
    return (await this.#ask('runs', {})) as readonly string[]
  }

  async *tail(run: string, fromSeq: number, signal: AbortSignal): AsyncGenerator<JournalEntry> {
    const entries: JournalEntry[] = []
    let wake: (() => void) | null = null
    const id = this.#last + 1
    const stir = () => wake?.()
    let over: { readonly error: unknown } | true | null = null
    this.#ask('tail', { run, from: fromSeq }, (entry) => {
      entries.push(entry)
      stir()
    }).then(
      () => {
        over = true
        stir()
      },
      (error: unknown) => {
        over = { error }
        stir()
      },
    )
    const onAbort = () => {
      this.#send({ id, stop: true })
      stir()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      while (!signal.aborted) {
        for (const entry of entries.splice(0)) yield entry
        if (over === true) return
        if (over !== null) throw (over as { error: unknown }).error
        if (entries.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Lets go of the engine, which works on. */
  close(): void {
    this.#socket.destroy()
  }

  #ask(method: EngineMethod, params: JsonObject, onEntry: Waiting['onEntry'] = null): Promise<Json> {
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      if (this.#gone !== null) return reject(this.#gone)
      this.#waiting.set(id, { resolve, reject, onEntry })
      this.#send({ id, method, params })
    })
  }

  #send(message: object): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(message)}\n`)
  }

  #hear(reply: EngineReply): void {
    const waiting = this.#waiting.get(reply.id)
    if (waiting === undefined) return
    if ('entry' in reply) return waiting.onEntry?.(reply.entry as unknown as JournalEntry)
    this.#waiting.delete(reply.id)
    if ('error' in reply) waiting.reject(readError(reply.error))
    else waiting.resolve(reply.result)
  }

  #end(): void {
    this.#gone = new LockstepError('engine_unavailable', 'The engine has ended.', {
      hint: 'See where the run stands: lockstep show RUN. Take it up: lockstep resume RUN.',
    })
    for (const { reject } of this.#waiting.values()) reject(this.#gone)
    this.#waiting.clear()
  }
}
