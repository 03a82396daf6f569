/**
 * The journal as the runs of an engine write to it: with each admission its target is reserved, with each settlement it is given back, and nothing is
 * admitted while the tenant is halted.
 *
 * Owns: nothing; what is reserved lies in the store, in the same commit as the facts (J6, J8).
 */
import type { AppendOptions, JournalEntry, JournalFact, Release, Reservation } from '../../journal/journal.ts'
import type { ChainStore } from '../../journal/chain-store.ts'
import type { LazyAppend } from '../../journal/lazy-append.ts'
import type { Turnstile } from './turnstile.ts'

/** The key under which a target is locked in its tenant. */
export function targetKey(target: string): string {
  return `target:${target}`
}

/** Hears what was written, in its order. */
export type EntryListener = (run: string, entries: readonly JournalEntry[]) => void

/** The part of a store that runs use. */
export type RunJournal = Pick<ChainStore, 'ledger' | 'append' | 'read' | 'runs' | 'close' | 'keep' | 'kept'>

/** The store, guarded. `close` closes nothing: the store outlives each run. */
export function guardJournal(store: ChainStore, turnstile: Turnstile, onEntries: EntryListener): RunJournal {
  return {
    ledger: store.ledger,
    async append(run: string, facts: readonly JournalFact[], options: AppendOptions & LazyAppend) {
      const { reservations, releases } = changesOf(run, facts, turnstile)
      const guarded =
        reservations.length + releases.length === 0 ? options : { ...options, reservations, releases }
      const entries = await store.append(run, facts, guarded)
      for (const { type, data } of facts) {
        if (type === 'tool.admitted') turnstile.noteAdmitted(run, String(data['callId']))
        else if (isSettlement(type, data)) turnstile.noteSettled(run, String(data['callId']))
        else if (type === 'run.finished') turnstile.noteEnded(run)
      }
      onEntries(run, entries)
      return entries
    },
    async read(run, fromSeq) {
      const entries = await store.read(run)
      for (const [callId, target] of openTargets(entries)) turnstile.adopt(run, callId, target)
      return fromSeq === undefined ? entries : entries.slice(Math.max(0, fromSeq - 1))
    },
    runs: () => store.runs(),
    keep: (text) => store.keep(text),
    kept: (digest) => store.kept(digest),
    close: async () => undefined,
  }
}

/** The calls of a record that are open, or of unknown outcome, and what they act on. */
function openTargets(entries: readonly JournalEntry[]): Map<string, string> {
  const open = new Map<string, string>()
  for (const { type, data } of entries) {
    const callId = String(data['callId'])
    if (type === 'tool.admitted' && typeof data['target'] === 'string') open.set(callId, data['target'])
    else if (isSettlement(type, data)) open.delete(callId)
  }
  return open
}

function changesOf(run: string, facts: readonly JournalFact[], turnstile: Turnstile) {
  const reservations: Reservation[] = []
  const releases: Release[] = []
  for (const { type, data } of facts) {
    const callId = String(data['callId'])
    if (type === 'tool.admitted') {
      if (reservations.length === 0) reservations.push({ kind: 'unhalted' })
      const target = turnstile.targetFor(run, callId)
      if (target !== null) reservations.push({ kind: 'lock', key: targetKey(target) })
    } else if (isSettlement(type, data)) {
      const target = turnstile.targetFor(run, callId)
      if (target !== null && !turnstile.isShared(run, callId, target))
        releases.push({ kind: 'lock', key: targetKey(target) })
    }
  }
  return { reservations, releases }
}

/** Says whether a fact tells how a call ended; one of unknown outcome has not. */
export function isSettlement(type: string, data: JournalFact['data']): boolean {
  return type === 'tool.settled' && data['outcome'] !== 'unknown'
}
