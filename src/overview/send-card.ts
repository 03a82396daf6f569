import type { RunCard } from './run-card.ts'
import { sendTime } from './send-entry.ts'

/** A run as it is sent in lists. */
export interface SentCard extends Pick<
  RunCard,
  | 'project'
  | 'digest'
  | 'mode'
  | 'status'
  | 'reason'
  | 'startedBy'
  | 'model'
  | 'calls'
  | 'denied'
  | 'tokens'
  | 'cost'
  | 'waiting'
> {
  readonly id: string
  readonly runbook: { id: string | null; name: string; version: number | null }
  readonly startedAt: string
  readonly endedAt: string | null
  readonly lastAt: string
}

/** Makes a card fit to be sent. The views keep it as a text, so that changing it takes the next `viewsVersion`. */
export function sendCard(card: RunCard): SentCard {
  const { run, project, runbook, digest, mode, status, reason, startedBy, model } = card
  const { calls, denied, tokens, cost, waiting } = card
  return {
    id: run,
    project,
    runbook: {
      id: runbook?.id ?? null,
      name: playbookName(card),
      version: runbook === null || !Number.isInteger(runbook.version) ? null : runbook.version,
    },
    digest,
    mode,
    status,
    reason,
    startedAt: sendTime(card.startedAt),
    endedAt: card.endedAt === null ? null : sendTime(card.endedAt),
    lastAt: sendTime(card.lastAt),
    startedBy,
    model,
    calls,
    denied,
    tokens: Math.round(tokens),
    cost,
    waiting,
  }
}

/** What people call the playbook of a run. */
export function playbookName({ runbook, playbook }: Pick<RunCard, 'runbook' | 'playbook'>): string {
  return runbook?.name ?? playbook ?? 'unknown'
}
