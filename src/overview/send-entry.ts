import type { JournalEntry } from '../journal/journal.ts'
import { isJsonObject, type Json } from '../shared/json.ts'
import { redactObject } from '../shared/redact.ts'

/** An entry as people are sent it: without secrets, and without what only machines need. */
export interface SentEntry {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly by: string
  readonly data: Record<string, SentJson>
}

/** JSON whose lists are its own, so that who is sent it may do with it what they want. */
export type SentJson = string | number | boolean | null | SentJson[] | { [name: string]: SentJson }

/** The longest text that is sent in full; the export has all of it. */
const longest = 20_000

/** Makes an entry fit to be sent. */
export function sendEntry({ seq, type, at, principal, data }: JournalEntry): SentEntry {
  // What a model said is told once: the message in its provider's form says the same again.
  const { message: _, ...told } = data
  const shown = redactObject(type === 'model.answered' ? told : data)
  return { seq, type, at: sendTime(at), by: principal, data: shorten(shown) as SentEntry['data'] }
}

/** A time as it is sent; one that is none is the beginning of time. */
export function sendTime(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}

function shorten(value: Json): SentJson {
  if (typeof value === 'string')
    return value.length <= longest
      ? value
      : `${value.slice(0, longest)}… [cut: ${value.length} characters]`.toWellFormed()
  if (Array.isArray(value)) return (value as readonly Json[]).map(shorten)
  if (!isJsonObject(value)) return value as SentJson
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each)]))
}
