/**
 * A run as it happens, for everybody who follows it, as server-sent events.
 *
 * Owns: what was read of each run that somebody follows, and the connections of who does.
 * Talks to: the engine, which tells what is written.
 *
 * Invariants
 * F1  However many follow a run, its record is read once for all who begin at about the same place.
 * F2  Everybody is sent every entry after the one they name, in order, none twice. Who is sent an end has all of them.
 * F3  Who is slow keeps nobody waiting and costs no memory but their place; who takes nothing for a while is cut off, and may come again.
 * F4  Who may no longer see the run is cut off the next time it is looked, at the latest with the next sign of life.
 * F5  What everybody was sent is forgotten when it is much, so that a run that goes on for days costs no more than a short one.
 */
import type { ServerResponse } from 'node:http'
import { setImmediate as breathe } from 'node:timers/promises'
import type { EngineOrders } from '../engine/engine.ts'
import { sendEntry } from '../overview/send-entry.ts'

/** What streams stand on. */
export interface RunStreamsOptions {
  readonly engineOf: (tenant: string) => Promise<Pick<EngineOrders, 'tail'>>
  /** How often a sign of life is sent, in milliseconds. */
  readonly beatMs?: number
  /** How long somebody may take nothing, in milliseconds. */
  readonly patienceMs?: number
  /** How much of a run is kept although everybody was sent it, in bytes. */
  readonly keptBytes?: number
}

/** Somebody who follows a run. */
interface Follower {
  readonly out: ServerResponse
  readonly stillMay: () => Promise<boolean>
  /** The number of the last entry that was written to them. */
  position: number
  /** Whether they have to take what was written before more is. */
  full: boolean
  patience: NodeJS.Timeout | undefined
}

/** Which entries of which run are followed. */
export interface Followed {
  readonly tenant: string
  readonly run: string
  readonly after: number
  readonly from: number
}

/** How much is written at once to somebody who has to catch up. */
const chunkBytes = 64 * 1024
/** How much of a run is kept for who comes later, in bytes. */
const mostKept = 16_000_000
/** How long a record is read before others get a turn, in milliseconds. */
const longestTurn = 10
/** The longest pause between two rounds, in milliseconds. */
const longestPause = 100

/** The streams of all runs that are followed. */
export class RunStreams {
  readonly #options: RunStreamsOptions
  readonly #runs = new Map<string, Set<FollowedRun>>()
  #followers = 0

  constructor(options: RunStreamsOptions) {
    this.#options = options
  }

  /** How many connections there are. */
  get size(): number {
    return this.#followers
  }

  /**
   * Sends the entries of a run after a number until it ends, the connection does, or `stillMay` says no. `from` is an entry before the one that ends the run, so that the end is
   * seen; at most `after`.
   */
  follow(
    { tenant, run, after, from }: Followed,
    out: ServerResponse,
    stillMay: () => Promise<boolean>,
  ): void {
    const all = this.#runs.get(run) ?? new Set<FollowedRun>()
    this.#runs.set(run, all)
    let followed = [...all].find((each) => each.reachesBack(after))
    if (followed === undefined) {
      const begun = new FollowedRun(this.#options, { tenant, run, from }, () => {
        all.delete(begun)
        if (all.size === 0 && this.#runs.get(run) === all) this.#runs.delete(run)
      })
      all.add(begun)
      followed = begun
    }
    this.#followers++
    out.once('close', () => this.#followers--)
    followed.add(out, after, stillMay)
  }

  /** Cuts everybody off. */
  close(): void {
    for (const all of this.#runs.values()) for (const followed of all) followed.close()
    this.#runs.clear()
  }
}

class FollowedRun {
  readonly #options: RunStreamsOptions
  readonly #onEmpty: () => void
  #frames: Buffer[] = []
  /** The number of the entry before the first frame. */
  #base: number
  #bytes = 0
  readonly #followers = new Set<Follower>()
  readonly #controller = new AbortController()
  readonly #beat: NodeJS.Timeout
  #ended = false
  #over = false
  #round: NodeJS.Timeout | undefined
  #lastRoundMs = 0

  constructor(
    options: RunStreamsOptions,
    { tenant, run, from }: Pick<Followed, 'tenant' | 'run' | 'from'>,
    onEmpty: () => void,
  ) {
    this.#options = options
    this.#onEmpty = onEmpty
    this.#base = from
    this.#beat = setInterval(() => void this.#giveSign(), options.beatMs ?? 15_000).unref()
    void this.#read(tenant, run)
  }

  /** Whether it holds, or will hold, everything after an entry. */
  reachesBack(after: number): boolean {
    return after >= this.#base
  }

  add(out: ServerResponse, after: number, stillMay: () => Promise<boolean>): void {
    const follower: Follower = { out, stillMay, position: after, full: false, patience: undefined }
    this.#followers.add(follower)
    out.once('close', () => this.#remove(follower))
    out.on('drain', () => {
      follower.full = false
      clearTimeout(follower.patience)
      this.#write(follower)
    })
    this.#write(follower)
  }

  close(): void {
    this.#over = true
    this.#controller.abort()
    for (const { out } of this.#followers) out.end()
  }

  /** F1. */
  async #read(tenant: string, run: string): Promise<void> {
    try {
      const engine = await this.#options.engineOf(tenant)
      let began = performance.now()
      for await (const entry of engine.tail(run, this.#base + 1, this.#controller.signal)) {
        const sent = sendEntry(entry)
        const text = `id: ${sent.seq}\nevent: entry\ndata: ${JSON.stringify(sent)}\n\n`
        const frame = Buffer.from(text)
        this.#frames.push(frame)
        this.#bytes += frame.length
        if (entry.type === 'run.finished') this.#ended = true
        this.#scheduleRound()
        // A long record is read without keeping others waiting.
        if (performance.now() - began < longestTurn) continue
        await breathe()
        began = performance.now()
      }
    } catch {
      // Whoever comes again is told what is wrong, by the request itself.
    } finally {
      this.#over = true
      this.#scheduleRound()
    }
  }

  /** What comes in the meantime is written together; a round may take as long as the pause after it, so that followers never take more than half of the process. */
  #scheduleRound(): void {
    this.#round ??= setTimeout(
      () => {
        this.#round = undefined
        const began = performance.now()
        for (const follower of this.#followers) this.#write(follower)
        this.#lastRoundMs = performance.now() - began
        if (this.#bytes > (this.#options.keptBytes ?? mostKept)) this.#forget()
      },
      Math.min(this.#lastRoundMs, longestPause),
    )
  }

  /** F5. */
  #forget(): void {
    const sent = Math.min(...Array.from(this.#followers, ({ position }) => position)) - this.#base
    if (!(sent > 0)) return
    const gone = this.#frames.slice(0, sent)
    for (const frame of gone) this.#bytes -= frame.length
    this.#frames = this.#frames.slice(sent)
    this.#base += gone.length
  }

  /** F2, F3: writes what there is, as far as they take it. */
  #write(follower: Follower): void {
    const { out } = follower
    const last = () => this.#base + this.#frames.length
    while (!follower.full && follower.position < last()) {
      const chunk: Buffer[] = []
      let bytes = 0
      while (follower.position < last() && bytes < chunkBytes) {
        const frame = this.#frames[follower.position++ - this.#base]!
        chunk.push(frame)
        bytes += frame.length
      }
      if (!out.write(chunk.length === 1 ? chunk[0]! : Buffer.concat(chunk, bytes))) this.#waitFor(follower)
    }
    if (follower.full || !this.#over) return
    if (this.#ended) out.write('event: end\ndata: {}\n\n')
    out.end()
  }

  #waitFor(follower: Follower): void {
    follower.full = true
    const cutOff = () => {
      // What they took while the process was busy is noticed first.
      setImmediate(() => {
        if (follower.full) follower.out.destroy()
      })
    }
    follower.patience = setTimeout(cutOff, this.#options.patienceMs ?? 30_000).unref()
  }

  /** F4. */
  async #giveSign(): Promise<void> {
    for (const follower of this.#followers) {
      const may = await follower.stillMay().catch(() => false)
      if (!may) follower.out.end()
      else if (!follower.full && !follower.out.write(': \n\n')) this.#waitFor(follower)
    }
  }

  #remove(follower: Follower): void {
    clearTimeout(follower.patience)
    this.#followers.delete(follower)
    if (this.#followers.size > 0) return
    clearInterval(this.#beat)
    clearTimeout(this.#round)
    this.#controller.abort()
    this.#onEmpty()
  }
}
