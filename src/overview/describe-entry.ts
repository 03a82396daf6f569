import type { JournalEntry } from '../journal/journal.ts'
import type { ApprovalVote } from '../run/approval.ts'
import { describeFoundOut } from '../run/found-out.ts'
import type { Outcome } from '../run/ticket.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { describeRule, describeVote } from './describe-vote.ts'
import type { HeldCall } from './held-call.ts'
import { describeCall } from './describe-call.ts'

/** What one entry says, in at most one line; what only machines need says nothing. */
export function describeEntry({ type, data, seq }: JournalEntry): string[] {
  const line = (mark: string, text: string) => [`${String(seq).padStart(4)} ${mark} ${text}`]
  const call = () => describeCall(text(data['tool']), isJsonObject(data['args']) ? data['args'] : {})
  switch (type) {
    case 'tool.admitted':
      return line(
        '✓',
        `${call()}  allowed${data['step'] === null ? '' : ` · step ${text(data['step'])}`} · ${text(data['callId'])}`,
      )
    case 'tool.held': {
      const { decision } = data['policy'] as unknown as Pick<HeldCall, 'decision'>
      return line(
        '?',
        `${call()}  WAITS FOR APPROVAL · ${describeRule({ decision })} · ${text(data['callId'])}`,
      )
    }
    case 'approval.voted': {
      const vote = data['vote'] as unknown as ApprovalVote
      return line('?', `${text(data['callId'])} ${describeVote(vote)} → ${text(data['comesTo'])}`)
    }
    case 'gateway.vote_refused': {
      const said = describeVote(data['vote'] as unknown as ApprovalVote)
      return line('!', `${text(data['callId'])} ${said} → does not count: ${text(data['refused'])}`)
    }
    case 'approval.expired':
      return line('?', `${text(data['callId'])} was not approved in time`)
    case 'tool.denied':
      return line(
        data['blocked'] === true ? '✗' : '!',
        `${call()}  DENIED ${text(data['code'])}: ${text(data['message'])}`,
      )
    case 'tool.settled':
      return line(
        '→',
        `${text(data['callId'])} ${text(data['outcome'])}${outcomeDetail(data)}${foundOut(data)}`,
      )
    case 'tool.unadmitted':
      return line(
        '!',
        `${text(data['tool'])} was recorded without having been let through: ${text(data['outcome'])}`,
      )
    case 'approval.decided':
      return line(
        '?',
        `${text(data['tool'])} ${data['approved'] === true ? 'approved' : 'refused by a person'}${reason(data['reason'])}`,
      )
    case 'step.opened':
    case 'iteration.started':
      return []
    case 'step.completed':
    case 'step.skipped':
    case 'step.failed':
    case 'step.escalated':
    case 'step.retried':
    case 'step.undecided': {
      const by = data['by'] === undefined ? '' : ` by ${text(data['by'])}`
      return line(
        '·',
        `step ${text(data['step'])} ${type.slice('step.'.length)}${by}${reason(data['error'] ?? data['reason'] ?? data['limit'])}`,
      )
    }
    case 'step.refused':
      return line('✗', `step ${text(data['step'])}: may not ${text(data['move'])}: ${list(data['reasons'])}`)
    case 'finish.refused':
      return line('✗', `final answer sent back; left: ${list(data['remaining']) || list(data['unsettled'])}`)
    case 'run.finished':
      return line('■', `${text(data['status'])}${reason(data['message'])}`)
    case 'model.answered':
      return data['text'] === '' ? [] : line('“', `the model wrote: ${short(text(data['text']))}`)
    default:
      return []
  }
}

function foundOut({ found, outcome }: JsonObject): string {
  if (!isJsonObject(found)) return ''
  const { note, by } = found
  const how = (['reconciled', 'repeated', 'only_reads', 'told'] as const).find(
    (each) => each === found['how'],
  )
  // A record from elsewhere may hold anything.
  if (how === undefined) return ''
  const said = {
    how,
    ...(typeof note === 'string' ? { note: short(note) } : {}),
    ...(typeof by === 'string' ? { by: short(by) } : {}),
  }
  return ` · ${describeFoundOut(said, outcome as Outcome)}`
}

function outcomeDetail(data: JsonObject): string {
  if (typeof data['error'] === 'string') return `: ${short(data['error'])}`
  return data['result'] === undefined || data['result'] === null
    ? ''
    : `: ${short(JSON.stringify(data['result']))}`
}

function reason(value: Json | undefined): string {
  return value === undefined || value === null || value === '' ? '' : `: ${short(text(value))}`
}

function list(value: Json | undefined): string {
  return Array.isArray(value) ? value.map((item) => text(item as Json)).join(', ') : ''
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

const longest = 200

function short(value: string): string {
  return value.length <= longest ? value : `${value.slice(0, longest - 1)}…`
}
