/** Takes pictures of a disk: of the store and of the practice service together, as a crash at that moment would leave them. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { ChainStore } from '../../src/journal/chain-store.ts'
import type { LazyAppend } from '../../src/journal/lazy-append.ts'
import { scratch } from './scratch.ts'

/** Files by their names. */
type Disk = ReadonlyMap<string, Buffer>

/** Everything of a job, and when it looked like this. */
export interface Picture {
  readonly disk: Disk
  readonly moment: string
  /** Where the keys of the job lie. */
  readonly keys: string
}

/** The files of the journal and of the practice service; what SQLite can do without is not among them. */
const journalFiles = ['journal.db', 'journal.db-wal']
const practiceFiles = ['practice.db', 'practice.db-wal']

/** A new folder that looks like the picture. */
export function develop({ disk, keys }: Picture): string {
  const folder = scratch()
  for (const [name, bytes] of disk) writeFileSync(join(folder, name), bytes)
  if (existsSync(keys)) cpSync(keys, join(folder, 'keys'), { recursive: true })
  return folder
}

/** Pictures of one job, of which no two are alike. They are kept in memory: most of them are never looked at. */
export class Camera {
  readonly pictures: Picture[] = []
  readonly #folder: string
  readonly #seen = new Set<string>()
  /** What was read once is kept once, however many pictures it is in. */
  readonly #kept = new Map<string, Buffer>()
  #appends = 0
  #safe: Disk

  constructor(folder: string) {
    this.#folder = folder
    this.#safe = this.#read(journalFiles)
  }

  /** The store, with a picture before and after each append. */
  watch = (store: ChainStore): ChainStore =>
    new Proxy(store, {
      get: (target, name) => {
        if (name === 'append') return this.#append(target)
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })

  #append(store: ChainStore): ChainStore['append'] {
    return async (run, facts, options) => {
      const what = `${++this.#appends} (${facts.map(({ type, data }) => [type, data['callId']].join(' ')).join(', ')})`
      this.#take(`before ${what}`, this.#read(journalFiles))
      // What was written without waiting for the disk is lost in a power cut.
      this.#take(`before ${what}, what was not on the disk yet is lost`, this.#safe)
      const entries = await store.append(run, facts, options)
      const after = this.#read(journalFiles)
      if ((options as LazyAppend).lazy !== true) this.#safe = after
      this.#take(`after ${what}`, after)
      return entries
    }
  }

  #take(moment: string, journal: Disk): void {
    const disk = new Map([...journal, ...this.#read(practiceFiles)])
    const key = Array.from(disk, ([name, bytes]) => `${name} ${digest(bytes)}`).join()
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.pictures.push({ disk, moment, keys: join(this.#folder, 'keys') })
  }

  #read(names: readonly string[]): Disk {
    const present = names.filter((name) => existsSync(join(this.#folder, name)))
    return new Map(present.map((name) => [name, this.#keep(readFileSync(join(this.#folder, name)))]))
  }

  #keep(bytes: Buffer): Buffer {
    const key = digest(bytes)
    const kept = this.#kept.get(key) ?? bytes
    this.#kept.set(key, kept)
    return kept
  }
}

const digests = new WeakMap<Buffer, string>()

function digest(bytes: Buffer): string {
  const known = digests.get(bytes) ?? createHash('sha256').update(bytes).digest('hex')
  digests.set(bytes, known)
  return known
}
