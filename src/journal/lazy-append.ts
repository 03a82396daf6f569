/** What a writer may say of an append besides; a store that does not know it keeps every append at once. */
export interface LazyAppend {
  /**
   * The writer does not wait until the facts are safe from a power failure, only until they have left the process. The next append that
   * does wait makes them safe too, because a store keeps the order; and the store does it by itself soon after.
   */
  readonly lazy?: boolean
}
