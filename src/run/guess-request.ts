import type { EventOf, RunEvent } from './event.ts'
import type { Facts, RunRequest } from './request.ts'
import type { RunState } from './state.ts'

type Call = EventOf<'tool.admitted' | 'tool.held' | 'tool.denied'>

/** A request that may have led to an event; for a call, with the event that judges it and what it acts on. */
export interface Guess {
  readonly request: RunRequest
  readonly call: Call | null
  readonly target: string | null
}

/** The requests that can have led to the events from the given place on, likeliest first; none if the event follows by itself only. */
export function guessRequests(events: readonly RunEvent[], index: number, state: RunState): readonly Guess[] {
  const event = events[index]!
  switch (event.type) {
    case 'tool.admitted':
    case 'tool.held':
      return [callOf(event)]
    case 'tool.denied': {
      // Where the playbook only observes, the call is let through all the same, and says what it acts on.
      const passed = event.blocked ? [] : callAfter(events, index + 1)
      return [{ ...callOf(event), target: passed[0]?.target ?? null }]
    }
    case 'step.opened':
      return callAfter(events, index)
    case 'step.skipped': {
      const { by, step, reason } = event
      if (by === 'host' || by === 'model') return [plain({ type: 'skip', by, step, reason })]
      return by === 'finish' ? finishOf(events, index).map(plain) : callAfter(events, index)
    }
    default:
      return guessOthers(event, events, index, state).map(plain)
  }
}

/** A request that is no call. */
function plain(request: RunRequest): Guess {
  return { request, call: null, target: null }
}

function guessOthers(
  event: RunEvent,
  events: readonly RunEvent[],
  index: number,
  state: RunState,
): readonly RunRequest[] {
  const asked = state.program?.pending
  const question = asked?.kind === 'questions' ? asked.id : null
  const unanswered = (error: string | null): RunRequest[] =>
    question === null || error === null ? [] : [{ type: 'unanswered', id: question, error }]
  switch (event.type) {
    case 'approval.voted': {
      const { at: _at, ...vote } = event.vote
      return [{ ...event, type: 'vote', vote }]
    }
    case 'tool.settled': {
      const tool = state.byCallId.get(event.callId)?.tool ?? ''
      return [{ ...event, type: 'settle', tool }]
    }
    case 'tool.unadmitted':
      return [{ ...event, type: 'settle' }]
    case 'step.completed': {
      const { by, step, result } = event
      if (by !== 'host' && by !== 'model') return []
      return [{ type: 'complete', by, step, result }, ...finishOf(events, index)]
    }
    case 'step.failed': {
      const { by, step, error } = event
      if (by === 'host' || by === 'model') return [{ type: 'fail', by, step, error }]
      return by === 'program' ? unanswered(error) : [{ type: 'iterate' }]
    }
    case 'step.escalated':
    case 'iteration.started':
      return [{ type: 'iterate' }]
    case 'step.retried':
      return [{ type: 'retry', step: event.step, reason: event.reason }]
    case 'step.refused':
      return [refused(event)]
    case 'finish.refused':
      return [{ type: 'finish', message: finishOf(events, index)[0]?.message ?? null }]
    case 'run.finished': {
      const { status, message } = event
      const finish: RunRequest = { type: 'finish', message }
      if (status === 'succeeded') return [finish]
      return [finish, { type: 'leave' }, ...unanswered(message), { type: 'end', status, message }]
    }
    case 'question.answered': {
      const { id, answers, usage } = event
      return [{ type: 'answer', id, answers, ...(usage === null ? {} : { usage }) }]
    }
    case 'cancel.requested':
      return [{ ...event, type: 'cancel' }]
    case 'run.paused':
      return [{ ...event, type: 'pause' }]
    case 'run.unpaused':
      return [{ ...event, type: 'unpause' }]
    case 'message.received':
      return [{ type: 'message', text: event.text }]
    case 'program.ending':
      return [{ type: 'leave' }]
    case 'act.done':
      return (['model', 'host'] as const).map((by) => ({ ...event, type: 'complete', by }))
    default:
      return []
  }
}

function callOf(event: Call): Guess {
  const { callId, tool, args } = event
  const target = event.type === 'tool.denied' ? null : (event.target ?? null)
  return { request: { type: 'call', callId, tool, args }, call: event, target }
}

/** The facts behind a verdict, as they are recorded with it. Of an older record, those that its code speaks of, from its words. */
export function factsOf(
  event: Call,
  now: number,
  target: string | null,
): { readonly facts: Facts; readonly onItsWord: string | null } {
  const facts = { now, target, ...event.facts }
  if (event.type !== 'tool.denied' || event.facts !== undefined) return { facts, onItsWord: null }
  const { code, message, tool } = event
  const detail = (before: string) => message.slice(before.length, -1)
  switch (code) {
    case 'unknown_tool':
      return { facts: { ...facts, registered: false }, onItsWord: `that there was no tool '${tool}'` }
    case 'vetoed': {
      const veto = detail(`'${tool}' was vetoed: `)
      return { facts: { ...facts, veto }, onItsWord: 'the veto of something outside the playbook' }
    }
    case 'invalid_arguments': {
      const malformed = detail(`The call of '${tool}' is not well formed: `)
      return { facts: { ...facts, malformed }, onItsWord: 'that the arguments could not be read' }
    }
    default:
      return { facts, onItsWord: null }
  }
}

/** The call for which steps were passed over: it comes behind them. */
function callAfter(events: readonly RunEvent[], index: number): readonly Guess[] {
  for (let at = index; at < events.length; at++) {
    const event = events[at]!
    if (event.type === 'tool.admitted' || event.type === 'tool.held') return [callOf(event)]
    if (event.type !== 'step.skipped' && event.type !== 'step.opened') return []
  }
  return []
}

/** The final answer that completed or skipped what was left: it comes behind them. */
function finishOf(
  events: readonly RunEvent[],
  index: number,
): readonly Extract<RunRequest, { type: 'finish' }>[] {
  for (let at = index; at < events.length; at++) {
    const event = events[at]!
    if (event.type === 'run.finished') return [{ type: 'finish', message: event.message }]
    if (!['step.skipped', 'step.completed', 'finish.refused'].includes(event.type)) return []
  }
  return []
}

function refused({ move, by, step }: EventOf<'step.refused'>): RunRequest {
  const who = by === 'model' ? 'model' : 'host'
  switch (move) {
    case 'complete':
      return { type: 'complete', by: who, step, result: null }
    case 'skip':
      return { type: 'skip', by: who, step, reason: null }
    case 'fail':
      return { type: 'fail', by: who, step, error: '' }
    case 'retry':
      return { type: 'retry', step, reason: null }
  }
}
