/** What is known of JSON that nobody can change: its texts, and how much there is of it. */
export interface KnownJson {
  readonly text: string
  readonly canonical: string
  readonly nodes: number
  readonly characters: number
  readonly depth: number
}

const known = new WeakMap<object, KnownJson>()

/** What is known of a value; undefined for one that was never made known. */
export function knownJson(value: object): KnownJson | undefined {
  return known.get(value)
}

/** Makes a value known. Only for plain JSON that is frozen throughout: it is not read again where it is copied or written. */
export function makeKnown(value: object, facts: KnownJson): void {
  known.set(value, facts)
}
