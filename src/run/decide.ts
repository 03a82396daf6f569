/**
 * What follows from a request.
 *
 * Owns: every verdict of the run machine.
 * Talks to: the state, which it only reads, and the facts it is given.
 *
 * Invariants
 * D1  Pure: the same state, request and facts give the same events.
 * D2  Default deny (G1): a call is admitted only if every test passes; a throw on the way is a denial, never an admission.
 * D3  A refusal is an event too: nothing that was asked goes unrecorded.
 * D4  A refusal changes no order, spends no slot and completes nothing.
 */
import { decideVote } from './decide-approval.ts'
import { decideCall } from './decide-call.ts'
import { decideEnd, decideFinish, decideIteration } from './decide-finish.ts'
import { decideSettlement } from './decide-settlement.ts'
import { decideCancel, decidePause } from './decide-stop.ts'
import { decideComplete, decideFail, decideRetry, decideSkip } from './decide-step.ts'
import type { RunEvent } from './event.ts'
import { decideAnswer, decideLeave, decideMessage, decideUnanswered } from './program/decide-program.ts'
import type { Facts, RunRequest } from './request.ts'
import type { RunState } from './state.ts'

/** The events that answer a request; `evolve` applies them. What follows from them in turn, `advance` says. */
export function decide(state: RunState, request: RunRequest, facts: Facts): readonly RunEvent[] {
  switch (request.type) {
    case 'call':
      return decideCall(state, request, facts)
    case 'settle':
      return decideSettlement(state, request, facts)
    case 'complete':
      return decideComplete(state, request, facts)
    case 'skip':
      return decideSkip(state, request, facts)
    case 'fail':
      return decideFail(state, request, facts)
    case 'retry':
      return decideRetry(state, request, facts)
    case 'iterate':
      return decideIteration(state, facts)
    case 'finish':
      return decideFinish(state, request, facts)
    case 'end':
      return decideEnd(state, request, facts)
    case 'cancel':
      return decideCancel(state, request, facts)
    case 'pause':
    case 'unpause':
      return decidePause(state, request, facts)
    case 'vote':
      return decideVote(state, request, facts)
    case 'answer':
      return decideAnswer(state, request, facts)
    case 'unanswered':
      return decideUnanswered(state, request, facts)
    case 'message':
      return decideMessage(state, request, facts)
    case 'leave':
      return decideLeave(state, facts)
  }
}
