import type { Tone } from '../../component/badge.tsx'
import type { IconName } from '../../component/icon.tsx'
import { noticeOf } from '../../../../src/api/notice-of-entry.ts'
import type { RunEntry } from '../../../../src/api/run-fold.ts'

/** What an entry says to people; null for what only machines need. */
export type Described = {
  readonly tone: Tone
  readonly icon: IconName
  readonly title: string
  readonly note?: string
}

type Data = RunEntry['data']

/** An entry of a run's record in words. A type that is not known here is shown under its own name. */
export function describeEntry(entry: RunEntry): Described | null {
  const { type, data, by } = entry
  const step = text(data['step'])
  switch (type) {
    case 'run.started':
      return { tone: 'info', icon: 'run', title: `Started by ${by}` }
    case 'tool.admitted':
      return { tone: 'info', icon: 'right', title: `${call(data)} let through`, ...ofStep(data) }
    case 'tool.held':
      return {
        tone: 'warn',
        icon: 'approval',
        title: `${call(data)} waits for approval`,
        ...note(data['message']),
      }
    case 'tool.denied':
      return {
        tone: 'bad',
        icon: 'close',
        title: `${call(data)} denied: ${text(data['code'])}`,
        ...note(data['message']),
      }
    case 'tool.settled':
      return settled(data)
    case 'tool.unadmitted':
      return {
        tone: 'warn',
        icon: 'warning',
        title: `${text(data['tool'])} was recorded without having been let through`,
      }
    case 'approval.voted': {
      const vote = record(data['vote'])
      const granted = text(vote['answer'] ?? vote['vote']) === 'approve'
      return {
        tone: granted ? 'ok' : 'bad',
        icon: granted ? 'check' : 'close',
        title: `${text(vote['person'])} ${granted ? 'approved' : 'denied'} ${text(data['callId'])}`,
        ...note(vote['reason']),
      }
    }
    case 'approval.expired':
      return { tone: 'warn', icon: 'clock', title: `Nobody approved ${text(data['callId'])} in time` }
    case 'step.completed':
      return { tone: 'ok', icon: 'check', title: `Step ${step} done`, ...note(data['result']) }
    case 'step.skipped':
      return { tone: 'still', icon: 'dash', title: `Step ${step} skipped`, ...note(data['reason']) }
    case 'step.failed':
      return { tone: 'bad', icon: 'close', title: `Step ${step} failed`, ...note(data['error']) }
    case 'step.escalated':
      return {
        tone: 'warn',
        icon: 'person',
        title: `Step ${step} was handed to a person`,
        ...note(data['limit']),
      }
    case 'step.retried':
      return { tone: 'info', icon: 'run', title: `Step ${step} begun again`, ...note(data['reason']) }
    case 'step.undecided':
      return {
        tone: 'warn',
        icon: 'warning',
        title: `Step ${step}: its condition cannot be told`,
        ...note(data['error']),
      }
    case 'step.refused':
      return {
        tone: 'bad',
        icon: 'close',
        title: `Step ${step} may not ${text(data['move'])}`,
        ...note(list(data['reasons'])),
      }
    case 'finish.refused':
      return {
        tone: 'bad',
        icon: 'close',
        title: 'The final answer was sent back',
        ...note([list(data['remaining']), list(data['unsettled'])].filter(Boolean).join('; ')),
      }
    case 'run.paused':
      return { tone: 'warn', icon: 'pause', title: `Paused by ${text(data['by'])}`, ...note(data['reason']) }
    case 'run.unpaused':
      return { tone: 'info', icon: 'run', title: `Resumed by ${text(data['by'])}`, ...note(data['reason']) }
    case 'cancel.requested':
      return {
        tone: 'warn',
        icon: 'stop',
        title: `Cancelled by ${text(data['by'])}`,
        ...note(data['reason']),
      }
    case 'compensation.begun':
      return { tone: 'warn', icon: 'warning', title: 'Undoing what was done', ...note(data['reason']) }
    case 'run.finished': {
      const done = data['status'] === 'succeeded'
      return {
        tone: done ? 'ok' : 'bad',
        icon: done ? 'check' : 'stop',
        title: `Ended: ${text(data['status'])}`,
        ...note(data['message']),
      }
    }
    case 'model.answered':
      return text(data['text']) === ''
        ? null
        : { tone: 'accent', icon: 'model', title: 'The model wrote', ...note(data['text']) }
    case 'message.sent':
      return {
        tone: 'accent',
        icon: data['by'] === 'model' ? 'model' : 'playbook',
        title: 'Said',
        ...note(data['text']),
      }
    case 'message.received':
      return { tone: 'info', icon: 'person', title: 'A person answered', ...note(data['text']) }
    case 'variable.set':
      return { tone: 'still', icon: 'dot', title: `$${text(data['name'])} = ${short(data['value'])}` }
    case 'step.opened':
    case 'step.entered':
    case 'iteration.started':
    case 'branch.passed':
    case 'message.handled':
    case 'call.due':
      return null
    case 'playbook.begun':
      return { tone: 'info', icon: 'playbook', title: `Playbook ${text(data['playbook'])} begun` }
    case 'playbook.failed':
      return { tone: 'bad', icon: 'close', title: 'The playbook failed', ...note(data['error']) }
    case 'loop.turned':
      return { tone: 'still', icon: 'dot', title: `Turn ${text(data['turn'])} of ${step}` }
    case 'branch.taken':
    case 'branch.ended':
    case 'loop.continued':
    case 'playbook.described':
    case 'playbook.returned':
    case 'person.awaited':
    case 'trigger.set':
      return null
    default: {
      const notice = noticeOf(entry)
      if (notice !== null) return { tone: 'still', icon: 'info', title: notice.text }
      return type === 'agent.prompted' ? null : { tone: 'still', icon: 'dot', title: type }
    }
  }
}

function settled(data: Data): Described {
  const outcome = text(data['outcome'])
  const id = text(data['callId'])
  if (data['shown'] === true)
    return { tone: 'still', icon: 'info', title: `${id} was only shown`, ...note(short(data['result'])) }
  if (outcome === 'succeeded')
    return { tone: 'ok', icon: 'check', title: `${id} succeeded`, ...note(short(data['result'])) }
  const tone = outcome === 'failed' ? 'bad' : 'warn'
  return {
    tone,
    icon: outcome === 'failed' ? 'close' : 'warning',
    title: `${id} ${outcome.replaceAll('_', ' ')}`,
    ...note(data['error']),
  }
}

function call(data: Data): string {
  const args = Object.values(record(data['args'])).filter((value) => typeof value !== 'object')
  return [text(data['tool']), ...args.slice(0, 2).map(String)].join(' ')
}

function ofStep(data: Data): { note?: string } {
  return data['step'] === null || data['step'] === undefined ? {} : { note: `step ${text(data['step'])}` }
}

function record(value: unknown): Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : {}
}

function note(value: unknown): { note?: string } {
  const said =
    typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
  return said === '' ? {} : { note: said }
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(', ') : ''
}

function text(value: unknown): string {
  return typeof value === 'string'
    ? value
    : value === undefined || value === null
      ? ''
      : JSON.stringify(value)
}

const longest = 240

function short(value: unknown): string {
  const said = text(value)
  return said.length <= longest ? said : `${said.slice(0, longest - 1)}…`
}
