import type { z } from 'zod'
import type { entry } from '../../../../src/api/run-shapes.ts'

/** An entry of a run's record. */
export type RunEntry = z.output<typeof entry>

/** Puts an entry where it belongs; one that came twice, as after a lost connection, stands once. */
export function addEntry(entries: readonly RunEntry[], added: RunEntry): readonly RunEntry[] {
  const last = entries.at(-1)
  if (last === undefined || added.seq > last.seq) return [...entries, added]
  if (entries.some(({ seq }) => seq === added.seq)) return entries
  return [...entries, added].toSorted((left, right) => left.seq - right.seq)
}
