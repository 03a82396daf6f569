import type { JournalEntry } from '../journal/journal.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
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
  const whole = type === 'model.answered' ? told : data
  const shown = finish(redactObject(shorten(whole) as JsonObject), whole) as SentEntry['data']
  return { seq, type, at: sendTime(at), by: principal, data: shown }
}

/** A time as it is sent; one that is none is the beginning of time. */
export function sendTime(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}

/** What stands at the end of a text that was cut before secrets were taken out may be half of one. */
const margin = 5000

/** Cut first, because taking secrets out of a long text takes long; and then so much shorter that no half of a secret is left at its end. */
function shorten(value: Json): Json {
  if (typeof value === 'string')
    return value.length <= longest + margin ? value : value.slice(0, longest + margin)
  if (Array.isArray(value)) return (value as readonly Json[]).map(shorten)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each)]))
}

function finish(shown: Json, whole: Json | undefined): SentJson {
  if (typeof shown === 'string') {
    const length = typeof whole === 'string' ? whole.length : shown.length
    if (length <= longest) return shown
    const kept = shown.slice(0, Math.min(longest, Math.max(0, shown.length - margin)))
    return `${kept}… [cut: ${length} characters]`.toWellFormed()
  }
  if (Array.isArray(shown)) {
    const items = Array.isArray(whole) ? (whole as readonly Json[]) : []
    return (shown as readonly Json[]).map((each, index) => finish(each, items[index]))
  }
  if (!isJsonObject(shown)) return shown as SentJson
  const members = isJsonObject(whole) ? whole : {}
  return Object.fromEntries(Object.entries(shown).map(([name, each]) => [name, finish(each, members[name])]))
}
