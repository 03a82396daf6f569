import type { ChainStore } from '../journal/chain-store.ts'
import { isJsonObject, type Json } from '../shared/json.ts'

const mostKept = 10_000

/** The names of playbooks by their digests, from the texts that were kept with the runs. */
export class PlaybookNames {
  readonly #store: Pick<ChainStore, 'kept'>
  readonly #known = new Map<string, string>()

  constructor(store: Pick<ChainStore, 'kept'>) {
    this.#store = store
  }

  /** Finds the name out, if there is one. */
  async learn(digest: string | null): Promise<void> {
    if (digest === null || this.#known.has(digest)) return
    const text = await this.#store.kept(digest)
    const name = text === null ? null : nameIn(text)
    if (this.#known.size >= mostKept) this.#known.clear()
    if (name !== null) this.#known.set(digest, name)
  }

  /** The name as far as it was found out. */
  of(digest: string | null): string | null {
    return digest === null ? null : (this.#known.get(digest) ?? null)
  }
}

function nameIn(text: string): string | null {
  try {
    const document = JSON.parse(text) as Json
    if (!isJsonObject(document)) return null
    const { name, id } = document
    return typeof name === 'string' && name !== '' ? name : typeof id === 'string' ? id : null
  } catch {
    return null
  }
}
