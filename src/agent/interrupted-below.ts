import type { JournalEntry } from '../journal/journal.ts'
import type { Ticket } from '../run/ticket.ts'

/**
 * What a person has to do about runs below that were interrupted together with this one: they are not taken up by themselves, because
 * what they had in flight was admitted by both records. Empty if there is none.
 */
export function interruptedBelow(
  entries: readonly JournalEntry[],
  open: Iterable<Pick<Ticket, 'callId'>>,
): string {
  const children = new Map<unknown, unknown>()
  for (const { type, data } of entries) {
    if (type === 'agent.delegated') children.set(data['callId'], data['child'])
    if (type === 'agent.returned') children.delete(data['callId'])
  }
  return Array.from(open, ({ callId }) => {
    const child = children.get(callId)
    return child === undefined
      ? ''
      : `; run ${String(child)} was at work under ${callId} and is not taken up: read its record, then resume this run with settle: { '${callId}': { outcome } }`
  }).join('')
}
