import type { SealedEntry } from '../journal/chain.ts'
import type { RunCard } from './run-card.ts'

/** What a list can still say of a run whose payloads were erased, or whose record cannot be trusted; null where there is no entry at all. */
export function unreadableCard(entries: readonly SealedEntry[]): RunCard | null {
  const first = entries[0]?.link
  const last = entries.at(-1)?.link
  if (first === undefined || last === undefined) return null
  return {
    run: first.run,
    tenant: first.tenant,
    project: null,
    runbook: null,
    playbook: null,
    digest: null,
    mode: 'execute',
    status: 'unreadable',
    reason: null,
    startedAt: first.at,
    endedAt: entries.findLast(({ link }) => link.type === 'run.finished')?.link.at ?? null,
    lastAt: last.at,
    startedBy: first.principal,
    model: null,
    calls: 0,
    denied: 0,
    tokens: 0,
    cost: null,
    waiting: 0,
    parent: null,
    entries: entries.length,
  }
}
