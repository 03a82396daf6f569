import type { RunEntry } from '../../../../src/api/run-fold.ts'

/** Puts entries where they belong; one that came twice, as after a lost connection, stands once. */
export function mergeEntries(before: readonly RunEntry[], fresh: readonly RunEntry[]): readonly RunEntry[] {
  let last = before.at(-1)?.seq ?? 0
  const inOrder = fresh.every(({ seq }) => seq > last && (last = seq) > 0)
  if (inOrder) return [...before, ...fresh]
  const all = new Map([...before, ...fresh].map((entry) => [entry.seq, entry]))
  return [...all.values()].toSorted((left, right) => left.seq - right.seq)
}
