import { isJsonObject, type Json } from '../shared/json.ts'
import { auditApprovals, decisionOf } from './audit-approval.ts'
import type { AuditEntry, AuditRun } from './audit-run.ts'

/** What an auditor looks at first, in this order. */
export const exceptionKinds = [
  'break_glass',
  'halted_call',
  'asserted_identity',
  'unknown_outcome',
  'left_undone',
  'unadmitted_call',
  'denial',
  'approval_denied',
  'approval_expired',
  'timeout',
  'limit',
  'observed_only',
] as const

export type ExceptionKind = (typeof exceptionKinds)[number]

/** Something out of the ordinary. */
export interface AuditException {
  readonly kind: ExceptionKind
  readonly run: string
  readonly seq: number
  readonly at: number
  readonly who: string
  readonly tool: string
  readonly step: string
  readonly what: string
}

/** Everything out of the ordinary in the runs, broken glass first. */
export function auditExceptions(runs: readonly AuditRun[]): readonly AuditException[] {
  return runs
    .flatMap(exceptionsOf)
    .toSorted((one, other) => rank(one) - rank(other) || one.at - other.at || one.seq - other.seq)
}

function rank({ kind }: AuditException): number {
  return exceptionKinds.indexOf(kind)
}

function exceptionsOf(audited: AuditRun): readonly AuditException[] {
  const { run, principal, openedAt, enforced, entries } = audited
  const found: AuditException[] = []
  const tools = new Map<string, string>()
  const unknown = new Map<string, AuditException>()
  const note = (kind: ExceptionKind, { seq, at, principal: who, data }: AuditEntry, what: string) => {
    const tool = String(data['tool'] ?? tools.get(String(data['callId'])) ?? '')
    const exception = { kind, run, seq, at, who, tool, step: text(data['step']), what }
    found.push(exception)
    return exception
  }
  if (!enforced) {
    const what = 'the playbook was observed, not enforced'
    found.push({ kind: 'observed_only', run, seq: 1, at: openedAt, who: principal, tool: '', step: '', what })
  }
  for (const entry of entries) {
    const { type, data } = entry
    const callId = String(data['callId'])
    if (typeof data['tool'] === 'string') tools.set(callId, data['tool'])
    const glass = decisionOf(data)['breakGlass']
    if (isJsonObject(glass)) note('break_glass', entry, `the glass was broken: ${text(glass['reason'])}`)
    const halted = audited.halted.get(entry.seq)
    if (halted !== undefined) note('halted_call', entry, halted)
    switch (type) {
      case 'tool.denied':
        note('denial', entry, `${text(data['code'])}: ${text(data['message'])}`)
        break
      case 'approval.expired':
        note('approval_expired', entry, 'nobody approved it in time')
        break
      case 'approval.voted':
        noteVote(entry, data['vote'], note)
        break
      case 'tool.settled':
        // What is found out later is no longer out of the ordinary.
        if (data['outcome'] === 'unknown')
          unknown.set(callId, note('unknown_outcome', entry, text(data['error']) || 'nobody knows'))
        else if (unknown.has(callId)) found.splice(found.indexOf(unknown.get(callId)!), 1)
        break
      case 'tool.unadmitted':
        note('unadmitted_call', entry, 'a call was recorded that the gate had not let through')
        break
      case 'step.failed':
      case 'step.escalated': {
        const { limit } = data as { limit?: Json }
        if (typeof limit !== 'string') break
        note(limit === 'timeout_seconds' ? 'timeout' : 'limit', entry, text(data['error']) || limit)
        break
      }
      case 'run.finished':
        noteUndone(entry, entries, note)
    }
  }
  return found
}

type Note = (kind: ExceptionKind, entry: AuditEntry, what: string) => AuditException

function noteVote(entry: AuditEntry, vote: Json | undefined, note: Note): void {
  if (!isJsonObject(vote)) return
  const { person, identity, answer, reason } = vote
  if (identity === 'asserted') note('asserted_identity', entry, `nobody checked that it was ${text(person)}`)
  if (answer === 'deny') note('approval_denied', entry, `${text(person)} denied it: ${text(reason)}`)
}

/** What was done, could have been undone, and was not, although undoing had begun. */
function noteUndone(entry: AuditEntry, entries: readonly AuditEntry[], note: Note): void {
  if (!entries.some(({ type }) => type === 'compensation.begun')) return
  const undoing = new Map<string, string>()
  const left = new Map<string, string>()
  for (const { type, data } of entries) {
    const callId = String(data['callId'])
    if (type === 'tool.admitted' && typeof data['undoes'] === 'string') undoing.set(callId, data['undoes'])
    if (type !== 'tool.settled' || data['outcome'] !== 'succeeded') continue
    if (isJsonObject(data['undo'])) left.set(callId, text(data['undo']['tool']))
    left.delete(undoing.get(callId) ?? '')
  }
  if (left.size === 0) return
  const calls = Array.from(left, ([callId, tool]) => `${callId} (by ${tool})`)
  note('left_undone', entry, `not undone: ${calls.join(', ')}`)
}

/** How many approvals were given or asked for in the runs. */
export function countApprovals(runs: readonly AuditRun[]): number {
  return runs.reduce((sum, run) => sum + auditApprovals(run).length, 0)
}

function text(value: Json | undefined): string {
  return value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
}
