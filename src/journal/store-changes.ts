/** How far a store was read: a position, and what lies there, so that another store, or one that lost something, is told from it. */
export interface StoreMark {
  readonly position: number
  readonly proof: string
}

/** What was written to a store after a mark. */
export interface StoreChanges {
  /** Whether the store goes on from the mark. Where it does not, everything has to be read again, and nothing is told. */
  readonly follows: boolean
  /** The runs that have changed, each once, in the order of their first change: how many entries each has, and whether they were erased. */
  readonly runs: readonly { readonly run: string; readonly entries: number; readonly erased: boolean }[]
  /** Up to where it was looked; null in a store in which there is nothing. */
  readonly mark: StoreMark | null
  /** Whether there is more behind it. */
  readonly more: boolean
}
