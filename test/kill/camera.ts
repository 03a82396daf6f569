/** Takes pictures of a disk: of the store and of the practice service together, as a crash at that moment would leave them. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { ChainStore } from '../../src/journal/chain-store.ts'
import type { LazyAppend } from '../../src/journal/lazy-append.ts'
import { scratch } from './scratch.ts'

/** A folder with everything of a job, and when it looked like this. */
export interface Picture {
  readonly folder: string
  readonly moment: string
}

/** The files of the journal and of the practice service; what SQLite can do without is not among them. */
const journalFiles = ['journal.db', 'journal.db-wal']
const practiceFiles = ['practice.db', 'practice.db-wal']

/** Pictures of one job, of which no two are alike. */
export class Camera {
  readonly pictures: Picture[] = []
  readonly #folder: string
  readonly #album = scratch()
  readonly #seen = new Set<string>()
  #appends = 0
  #safe: string

  constructor(folder: string) {
    this.#folder = folder
    this.#safe = this.#copy('safe-0', journalFiles, folder)
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
      const number = ++this.#appends
      const what = `${number} (${facts.map(({ type, data }) => [type, data['callId']].join(' ')).join(', ')})`
      this.#take(`before ${what}`, this.#folder)
      // What was written without waiting for the disk is lost in a power cut.
      this.#take(`before ${what}, what was not on the disk yet is lost`, this.#safe)
      const entries = await store.append(run, facts, options)
      if ((options as LazyAppend).lazy !== true)
        this.#safe = this.#copy(`safe-${number}`, journalFiles, this.#folder)
      this.#take(`after ${what}`, this.#folder)
      return entries
    }
  }

  #take(moment: string, journal: string): void {
    const name = `picture-${this.pictures.length}`
    const folder = this.#copy(name, journalFiles, journal)
    this.#copy(name, practiceFiles, this.#folder)
    const hash = createHash('sha256')
    for (const file of [...journalFiles, ...practiceFiles]) {
      const path = join(folder, file)
      hash.update(file).update(existsSync(path) ? readFileSync(path) : '')
    }
    const key = hash.digest('hex')
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    if (existsSync(join(this.#folder, 'keys')))
      cpSync(join(this.#folder, 'keys'), join(folder, 'keys'), { recursive: true })
    this.pictures.push({ folder, moment })
  }

  #copy(name: string, files: readonly string[], from: string): string {
    const folder = join(this.#album, name)
    mkdirSync(folder, { recursive: true })
    for (const file of files)
      if (existsSync(join(from, file))) copyFileSync(join(from, file), join(folder, file))
    return folder
  }
}
