import type { PolicyFact } from '../run/approval.ts'
import type { EventOf, RunEvent } from '../run/event.ts'
import type { Facts, RunRequest } from '../run/request.ts'

/** A request that may have led to an event, and the facts it must have come with. */
export interface Guess {
  readonly request: RunRequest
  readonly facts: Facts
  /** What was taken on the record's word, because the record does not hold the fact itself. */
  readonly onItsWord: string | null
}

/** The requests that can have led to the events from the given place on, likeliest first; none if the event follows by itself only. */
export function guessRequests(
  events: readonly RunEvent[],
  index: number,
  toolOf: (callId: string) => string | null,
): readonly Guess[] {
  const event = events[index]!
  const facts = { now: event.at }
  const plain = (request: RunRequest): Guess => ({ request, facts, onItsWord: null })
  switch (event.type) {
    case 'tool.admitted':
    case 'tool.held':
      return [passed(event, event.at)]
    case 'approval.voted': {
      const { callId, comesTo, vote: said } = event
      const { at: _at, ...vote } = said
      const onItsWord = `that the vote of ${vote.person} came to '${comesTo}'`
      return [{ request: { type: 'vote', callId, vote, comesTo }, facts, onItsWord }]
    }
    case 'tool.denied':
      return [denied(event)]
    case 'tool.settled': {
      const { callId, outcome, result, error, found } = event
      return [plain({ type: 'settle', callId, tool: toolOf(callId) ?? '', outcome, result, error, found })]
    }
    case 'tool.unadmitted':
      return [plain({ ...event, type: 'settle' })]
    case 'step.completed': {
      const finish = finishOf(events, index)
      const { by, step, result } = event
      if (by !== 'host' && by !== 'model') return []
      return [plain({ type: 'complete', by, step, result }), ...finish.map(plain)]
    }
    case 'step.skipped': {
      const { by, step, reason } = event
      if (by === 'host' || by === 'model') return [plain({ type: 'skip', by, step, reason })]
      if (by === 'finish') return finishOf(events, index).map(plain)
      return callAfter(events, index).map((call) => passed(call, event.at))
    }
    case 'step.opened':
      return callAfter(events, index).map((call) => passed(call, event.at))
    case 'step.failed': {
      const { by, step, error } = event
      if (by === 'host' || by === 'model') return [plain({ type: 'fail', by, step, error })]
      return [plain({ type: 'iterate' })]
    }
    case 'step.escalated':
    case 'iteration.started':
      return [plain({ type: 'iterate' })]
    case 'step.retried':
      return [plain({ type: 'retry', step: event.step, reason: event.reason })]
    case 'step.refused':
      return [plain(refused(event))]
    case 'finish.refused': {
      const message = finishOf(events, index)[0]?.message ?? null
      return [plain({ type: 'finish', message })]
    }
    case 'run.finished': {
      const { status, message } = event
      const finish = plain({ type: 'finish', message })
      return status === 'succeeded' ? [finish] : [finish, plain({ type: 'end', status, message })]
    }
    default:
      return []
  }
}

/** A call that was let through or held. What policies said is recorded, and not worked out again here. */
function passed(event: EventOf<'tool.admitted' | 'tool.held'>, now: number): Guess {
  const target = event.target ?? null
  if (event.policy === undefined) return { request: callOf(event), facts: { now, target }, onItsWord: null }
  const held = event.type === 'tool.held' ? event : null
  const policy: PolicyFact = {
    verdict: held === null ? 'allow' : 'needs_approval',
    code: '',
    reason: held?.message.slice(`'${event.tool}' waits for approval: `.length, -1) ?? '',
    demands: held?.demands ?? [],
    expiresAfterSeconds: held === null ? 0 : (held.expiresAt - held.at) / 1000,
    record: event.policy,
  }
  return { request: callOf(event), facts: { now, target, policy }, onItsWord: 'what the policies said' }
}

function callOf({ callId, tool, args }: EventOf<'tool.admitted' | 'tool.held' | 'tool.denied'>): RunRequest {
  return { type: 'call', callId, tool, args }
}

/** The facts of a denial are not recorded with it, so those that its code speaks of are taken from its words. */
function denied(event: EventOf<'tool.denied'>): Guess {
  const { code, message, at: now, tool } = event
  const request = callOf(event)
  const detail = (before: string) => message.slice(before.length, -1)
  switch (code) {
    case 'unknown_tool':
      return { request, facts: { now, registered: false }, onItsWord: `that there was no tool '${tool}'` }
    case 'vetoed': {
      const veto = detail(`'${tool}' was vetoed: `)
      return { request, facts: { now, veto }, onItsWord: 'the veto of something outside the playbook' }
    }
    case 'invalid_arguments': {
      const malformed = detail(`The call of '${tool}' is not well formed: `)
      return { request, facts: { now, malformed }, onItsWord: 'that the arguments could not be read' }
    }
    default: {
      if (event.policy === undefined) return { request, facts: { now }, onItsWord: null }
      const verdict = code === 'policy' ? 'deny' : 'allow'
      const reason = detail(`'${tool}' is against policy: `)
      const said = { code: '', demands: [], expiresAfterSeconds: 0, record: event.policy }
      const onItsWord = verdict === 'deny' ? 'what the policies said' : null
      return { request, facts: { now, policy: { verdict, reason, ...said } }, onItsWord }
    }
  }
}

/** The call for which steps were passed over: it comes behind them. */
function callAfter(
  events: readonly RunEvent[],
  index: number,
): readonly EventOf<'tool.admitted' | 'tool.held'>[] {
  for (let at = index; at < events.length; at++) {
    const event = events[at]!
    if (event.type === 'tool.admitted' || event.type === 'tool.held') return [event]
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
    const mayStandBefore = ['step.skipped', 'step.completed', 'finish.refused'].includes(event.type)
    if (!mayStandBefore) return []
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
