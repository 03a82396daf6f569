/**
 * What `lockstep apply` has published to the library of the data folder, read-only: every version there was, the newest of each is the one that is served.
 */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { KnownTool } from '../playbook/program-tool.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { Library, type PublishedVersion } from '../source/library.ts'
import { readForeign, type CheckedOutPlaybook, type CheckedOutPolicy, type ForeignTexts } from './checkout.ts'

/** What the texts of a library are read with. */
export interface LibraryTextsOptions {
  readonly home: string
  readonly tools: readonly KnownTool[]
  readonly onTrouble: (error: unknown) => void
}

/** The texts of the library of a data folder, as they are now. */
export class LibraryTexts implements ForeignTexts {
  readonly #library: Library
  readonly #options: LibraryTextsOptions
  /** How the index lay there when it was read. */
  #seen = ''
  #state: ForeignTexts['state'] = { playbooks: [], policies: [] }

  constructor(options: LibraryTextsOptions) {
    this.#library = new Library(options.home)
    this.#options = options
    this.#look()
  }

  get state(): ForeignTexts['state'] {
    return this.#state
  }

  async current(): Promise<void> {
    this.#look()
  }

  /** Reads it again where something was published; while that has errors, what was right before goes on to be served. */
  #look(): void {
    const file = join(this.#library.folder, 'published.jsonl')
    const index = statSync(file, { throwIfNoEntry: false })
    const seen = index === undefined ? '' : `${index.mtimeMs} ${index.size} ${index.ino}`
    if (seen === this.#seen) return
    this.#seen = seen
    try {
      this.#state = this.#read()
    } catch (error) {
      this.#options.onTrouble(error)
    }
  }

  #read(): ForeignTexts['state'] {
    const groups = Map.groupBy(this.#library.versions(), ({ kind, name }) => `${kind} ${name}`)
    const playbooks: CheckedOutPlaybook[] = []
    const policies: CheckedOutPolicy[] = []
    const scratch = join(this.#options.home, 'checkout', 'library')
    rmSync(scratch, { recursive: true, force: true })
    for (const [number, versions] of [...groups.values()].entries()) {
      const read = this.#readNewest(versions, join(scratch, String(number)))
      if ('policy' in read) policies.push(read)
      else playbooks.push(read)
    }
    return { playbooks, policies }
  }

  #readNewest(published: readonly PublishedVersion[], root: string): CheckedOutPlaybook | CheckedOutPolicy {
    const newest = published.at(-1)!
    const { text, parts } = this.#library.read(newest)
    const { path } = newest
    const folder = dirname(join(root, path))
    const files = [
      [join(root, path), text],
      ...[...parts].map(([part, each]) => [join(folder, part), each]),
    ] as const
    for (const [file, content] of files as readonly (readonly [string, string])[]) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      writeFileSync(file, content, { mode: 0o600 })
    }
    const read = readForeign({ path, text }, root, this.#options.tools, 'library')
    if (read === null || 'errors' in read)
      throw new LockstepError(
        'invalid_playbook',
        `${path} in the library has errors: ${read?.errors[0] ?? 'it is neither a playbook nor a policy'}`,
      )
    const versions = published.map(({ text: digest, by, at, commit }, index) => ({
      version: index + 1,
      digest,
      by,
      at: Date.parse(at),
      note: null,
      commit,
    }))
    const textOf = (wanted: number) => {
      const found = published[wanted - 1]
      return found === undefined ? null : this.#library.read(found).text
    }
    return { ...read, versions, textOf }
  }
}
