import type { Directory } from '../directory/directory.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { readOrigin } from '../overview/run-origin.ts'
import { recordedRequesters, requestersOf } from '../run/requesters-of.ts'
import { personsOf } from './starter.ts'
import type { TextShelf } from './text-shelf.ts'

/** Where is looked up what a record does not say. */
export interface RequesterSources {
  readonly directory: Directory
  readonly texts: Pick<TextShelf, 'editorsOf'>
}

/**
 * Everybody who had a part in asking for a run, and cannot approve its calls. Whoever was responsible for it when it began is taken from its
 * record, so that nothing that is done to keys and hooks afterwards changes that; of who joined later, and for records from before it was
 * written down, everybody counts who may have been behind them.
 */
export function runRequesters(
  { directory, texts }: RequesterSources,
  tenant: string,
  entries: readonly JournalEntry[],
): readonly string[] {
  const recorded = recordedRequesters(entries)
  const settled = new Set(recorded)
  const asked = requestersOf(entries).flatMap((actor) =>
    settled.has(actor) ? [actor] : personsOf(directory, tenant, actor),
  )
  if (recorded !== null) return [...new Set(asked)]
  const prompted = entries.find(({ type }) => type === 'agent.prompted')
  const runbook = prompted === undefined ? null : readOrigin(prompted.data).runbook
  const editors = runbook === null ? [] : texts.editorsOf(tenant, runbook.id, runbook.version)
  return [...new Set([...asked, ...editors.flatMap((actor) => personsOf(directory, tenant, actor))])]
}
