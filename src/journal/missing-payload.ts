import { isTenantChain } from './chain.ts'
import type { ReadExport } from './read-export.ts'
import { payloadOf } from './tenant-log.ts'

/** A payload that is gone, and where. */
export interface MissingPayload {
  readonly chain: string
  readonly seq: number
  readonly message: string
}

/**
 * The first payload of each chain that is gone although no tenant's chain says that the run was erased: somebody destroyed it. What a
 * tenant's chain says of other runs than those of the export may be withheld.
 */
export function missingPayloads({
  manifest,
  chains,
}: Omit<ReadExport, 'problems'>): readonly MissingPayload[] {
  const missing: MissingPayload[] = []
  const erased = new Set<string>()
  for (const [chain, entries] of chains) {
    if (!isTenantChain(chain)) continue
    for (const entry of entries) {
      const run = entry.link.type === 'run.erased' ? payloadOf(entry)?.['run'] : null
      if (typeof run === 'string') erased.add(run)
    }
  }
  for (const [chain, entries] of chains) {
    if (erased.has(chain) || (isTenantChain(chain) && manifest?.complete !== true)) continue
    const gone = entries.find(({ hash, salted, view }) => hash !== null && salted === null && view === null)
    if (gone === undefined) continue
    const { seq } = gone.link
    const message = `the payload of entry ${seq} is missing or unreadable, and nothing says that it was erased`
    missing.push({ chain, seq, message })
  }
  return missing
}
