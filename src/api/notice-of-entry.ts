import { answersIn, listOf, questionsIn, saidBy, textOf } from './entry-values.ts'
import type { RunEntry } from './run-fold.ts'

/** What an entry tells that is neither a call nor said by anybody, in a line; null where there is no such thing. */
export function noticeOf({ type, data }: RunEntry): { readonly kind: string; readonly text: string } | null {
  const step = textOf(data['step']) ?? ''
  switch (type) {
    case 'agent.prompted': {
      const task = textOf(data['text']) ?? ''
      return task === '' ? null : { kind: 'task', text: task }
    }
    case 'step.retried':
      return { kind: 'retried', text: `${step} is begun anew` }
    case 'step.undecided':
      return { kind: 'undecided', text: `${step}: ${textOf(data['error'])}` }
    case 'step.escalated':
      return { kind: 'escalated', text: `${step}: ${textOf(data['limit'])}` }
    case 'step.refused':
      return { kind: 'refused', text: `${step}: may not ${textOf(data['move'])}: ${listOf(data['reasons'])}` }
    case 'finish.refused': {
      const left = listOf(data['remaining']) || listOf(data['unsettled'])
      return { kind: 'refused', text: `the final answer was sent back; left: ${left}` }
    }
    case 'tool.denied':
      return data['blocked'] === true ? null : { kind: 'observed', text: textOf(data['message']) ?? '' }
    case 'question.asked':
      return { kind: 'question', text: questionsIn(data).join('; ') }
    case 'question.answered':
      return { kind: 'answer', text: answersIn(data) }
    case 'gateway.opened':
      return { kind: 'served', text: 'a gateway serves this run to a client of its own' }
    case 'gateway.vote_refused':
      return { kind: 'vote_refused', text: textOf(data['refused']) ?? '' }
    case 'run.paused':
      return { kind: 'paused', text: saidBy(data) }
    case 'run.unpaused':
      return { kind: 'unpaused', text: saidBy(data) }
    case 'cancel.requested':
      return { kind: 'cancelled', text: saidBy(data) }
    case 'compensation.begun':
      return { kind: 'undoing', text: textOf(data['reason']) ?? '' }
    default:
      return null
  }
}
