import type { JournalEntry } from '../journal/journal.ts'
import { HeldCalls, type HeldCall } from '../overview/held-call.ts'
import { digest } from '../shared/digest.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { redactObject, redactText } from '../shared/redact.ts'

/** What others are told of. */
export const eventTypes = [
  'approval.pending',
  'approval.decided',
  'approval.expired',
  'run.finished',
] as const

/** What others are told of. */
export type EventType = (typeof eventTypes)[number] | 'test'

/** Something that happened, as others are told of it. */
export interface WebhookEvent {
  /** The same for the same entry, whenever it is made. */
  readonly id: string
  readonly type: EventType
  readonly at: number
  /** The approval or the run that it is about. */
  readonly subject: string
  readonly run: string | null
  readonly data: JsonObject
}

/** The events that the record of a run holds, in order. Secrets are masked; what is about people and calls is told as approvers see it. */
export function eventsOfRun(entries: readonly JournalEntry[]): readonly WebhookEvent[] {
  const held = new HeldCalls()
  const events: WebhookEvent[] = []
  for (const entry of entries) {
    held.apply(entry)
    const { type, data } = entry
    const call = () => held.at(entry.at).find(({ callId }) => callId === String(data['callId']))
    switch (type) {
      case 'tool.held':
        events.push(...about(entry, 'approval.pending', call()))
        break
      case 'approval.voted':
        if (data['comesTo'] === 'granted' || data['comesTo'] === 'denied')
          events.push(...about(entry, 'approval.decided', call()))
        break
      case 'approval.expired':
        events.push(...about(entry, 'approval.expired', call()))
        break
      case 'run.finished':
        events.push(finished(entry, entries[0]!))
        break
      default:
    }
  }
  return events
}

/** An event by which a receiver can be tried. */
export function testEvent(webhook: string, at: number, nonce: string): WebhookEvent {
  const data = { message: 'This is a trial: nothing has happened.' }
  return { id: eventId(webhook, nonce), type: 'test', at, subject: webhook, run: null, data }
}

function about(entry: JournalEntry, type: EventType, call: HeldCall | undefined): WebhookEvent[] {
  if (call === undefined) return []
  const { id, run, tool, args, step, askedAt, askedBy, expiresAt, decision, votes, state } = call
  const last = votes.at(-1)
  const said: JsonObject = {
    approval: id,
    run,
    tool,
    args: redactObject(args),
    step,
    rule: decision.rule,
    reason: redactText(decision.reason),
    askedBy,
    askedAt: iso(askedAt),
    expiresAt: iso(expiresAt),
    state: type === 'approval.pending' ? 'waiting' : state,
    ...(type === 'approval.decided' && last !== undefined
      ? { decidedBy: last.person, decision: last.answer as Json, said: last.reason ?? null }
      : {}),
  }
  return [{ id: eventId(run, String(entry.seq)), type, at: entry.at, subject: id, run, data: said }]
}

function finished({ run, seq, at, data }: JournalEntry, first: JournalEntry): WebhookEvent {
  const status = String(data['status'])
  // Of a run that succeeded it is its answer, which is for whoever may read the run.
  const reason = status === 'succeeded' ? null : data['message']
  return {
    id: eventId(run, String(seq)),
    type: 'run.finished',
    at,
    subject: run,
    run,
    data: {
      run,
      status,
      reason: typeof reason === 'string' ? redactText(reason) : null,
      startedBy: first.principal,
      startedAt: iso(first.at),
      endedAt: iso(at),
    },
  }
}

function eventId(...parts: string[]): string {
  return `evt_${digest(parts.join('/')).slice('sha256:'.length, 'sha256:'.length + 24)}`
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
