import type { JsonObject } from '../shared/json.ts'
import type { ReadEntry } from './read-export.ts'

/** What the chain of a tenant says about a run. */
export interface KnownRun {
  readonly run: string
  readonly number: number
  readonly at: number
  closed: { readonly entries: number; readonly head: string; readonly by: number } | null
}

/** What the chain of a tenant says. */
export interface TenantLog {
  readonly runs: ReadonlyMap<string, KnownRun>
  /** What is wrong with it: openings that are withheld although they are asked for, and numbers that do not follow. */
  readonly problems: readonly { readonly seq: number; readonly message: string }[]
}

/** Reads the chain of a tenant; `isAsked` says for the time of an opening whether it may not be withheld. */
export function readTenantLog(entries: readonly ReadEntry[], isAsked: (at: number) => boolean): TenantLog {
  const runs = new Map<string, KnownRun>()
  const problems: { readonly seq: number; readonly message: string }[] = []
  let opened = 0
  for (const entry of entries) {
    const { type, at, seq } = entry.link
    const isOpening = type === 'run.opened'
    if (isOpening) opened++
    const fact = payloadOf(entry)
    const run = fact?.['run']
    if (fact === null || typeof run !== 'string') {
      if (isOpening && isAsked(at))
        problems.push({ seq, message: `which run was number ${opened} of the tenant is withheld` })
      continue
    }
    if (isOpening) {
      const number = Number(fact['number'])
      if (number !== opened)
        problems.push({ seq, message: `run ${run} has number ${number}, and ${opened} comes next` })
      runs.set(run, { run, number, at, closed: null })
    }
    const about = runs.get(run)
    if (about !== undefined && type === 'run.closed')
      about.closed = { entries: Number(fact['entries']), head: String(fact['head']), by: seq }
  }
  return { runs, problems }
}

/** The payload of an entry; null if it is not there or cannot be read. */
export function payloadOf(entry: ReadEntry): JsonObject | null {
  try {
    return entry.data()
  } catch {
    return null
  }
}
