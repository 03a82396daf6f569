import { LockstepError } from '../../shared/lockstep-error.ts'
import { journalVersion, type JournalEntry } from '../journal.ts'

/**
 * The whole lines of a file as entries, and how many bytes they take. What was cut short is none. Throws `journal_unreadable` for a line
 * that is something else.
 */
export function readEntries(text: string, path: string): { entries: JournalEntry[]; size: number } {
  const zero = text.indexOf('\0')
  const written = zero === -1 ? text : text.slice(0, zero)
  const whole = written.slice(0, written.lastIndexOf('\n') + 1)
  const lines = whole === '' ? [] : whole.slice(0, -1).split('\n')
  const entries = lines.map((line, index) => readEntry(line, index + 1, path))
  return { entries, size: Buffer.byteLength(whole) }
}

function readEntry(line: string, seq: number, path: string): JournalEntry {
  let entry: Partial<JournalEntry> | null = null
  try {
    entry = JSON.parse(line) as Partial<JournalEntry>
  } catch {
    // Falls through to the one error below: a line that is no JSON is no entry.
  }
  if (entry?.v === journalVersion && entry.seq === seq) return entry as JournalEntry
  throw new LockstepError(
    'journal_unreadable',
    `Line ${seq} of ${path} is not entry ${seq} of a journal of version ${journalVersion}.`,
    {
      hint: 'The file was changed or belongs to another version of Lockstep. Restore it from a copy.',
    },
  )
}
