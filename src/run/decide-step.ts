import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { createActivation, type Activation } from './activation.ts'
import type { EventOf, RunEvent } from './event.ts'
import type { Facts, RunRequest } from './request.ts'
import { isAvailable, isMet } from './order.ts'
import { missingEvidence, missingValidation, needsDeclaration } from './satisfaction.ts'
import type { RunState } from './state.ts'

type Request<Type extends RunRequest['type']> = Extract<RunRequest, { type: Type }>

/** Completes a step by declaration (G7): a model's where the step asks for one, a host's anywhere; never against its validation. */
export function decideComplete(
  state: RunState,
  request: Request<'complete'>,
  facts: Facts,
): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  const { step, activation, reasons } = find(state, request)
  if (reasons.length === 0 && request.by === 'model') {
    if (!needsDeclaration(step)) reasons.push('it completes by its calls, not by declaration')
    else reasons.push(...missingEvidence(state, step, activation))
  }
  if (reasons.length === 0) reasons.push(...missingValidation(state, step, activation))
  if (reasons.length > 0) return [refusal(request, 'complete', reasons, at)]
  // A program still has to take down what the bullet was to find out.
  if (state.program !== null) return [{ type: 'act.done', at, step: step.id, result: request.result ?? '' }]
  return [
    { type: 'step.completed', at, step: step.id, by: request.by, result: request.result, outOfOrder: false },
  ]
}

/** Skips a step that is not required. */
export function decideSkip(state: RunState, request: Request<'skip'>, facts: Facts): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  const { step, reasons } = find(state, request)
  if (step.required) reasons.unshift('it is required')
  if (state.program !== null) reasons.unshift('the program decides which steps are left out')
  if (reasons.length > 0) return [refusal(request, 'skip', reasons, at)]
  return [{ type: 'step.skipped', at, step: step.id, by: request.by, reason: request.reason }]
}

/** Fails a step. Legal for every step that awaits something, so that no state is a dead end (G8). */
export function decideFail(state: RunState, request: Request<'fail'>, facts: Facts): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  if (state.ended !== null || !state.open.includes(indexOf(state, request.step))) {
    return [refusal(request, 'fail', [whyNotOpen(state, request.step)], at)]
  }
  if (isOutOfHands(state, request.step)) return [refusal(request, 'fail', [outOfHands], at)]
  if (isBeingStopped(state)) return [refusal(request, 'fail', [beingStopped(state)], at)]
  if (request.by === 'model' && state.compiled.steps[indexOf(state, request.step)]!.call !== null)
    return [refusal(request, 'fail', [madeByRuntime], at)]
  return [{ type: 'step.failed', at, step: request.step, by: request.by, error: request.error, limit: null }]
}

/** Begins a step anew after it failed, met a limit that asks for a person, or could not be judged; only a host may (G8). */
export function decideRetry(state: RunState, request: Request<'retry'>, facts: Facts): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  const index = indexOf(state, request.step)
  const activation = state.activations[index]
  const reasons: string[] = []
  const stuck =
    activation !== undefined &&
    (activation.status === 'failed' || activation.phase === 'escalated' || activation.phase === 'undecided')
  if (state.ended !== null) reasons.push(`the run has ended (${state.ended})`)
  else if (isBeingStopped(state)) reasons.push(beingStopped(state))
  else if (state.program !== null) reasons.push(outOfHands)
  else if (!stuck) reasons.push('only a step that failed or waits for a person can be retried')
  else if (activation.open > 0) reasons.push(openCalls(activation))
  // Steps after it that have begun without it being met, by another way or before their turn, do not lean on it.
  else if (isMet(state, index) && hasMovedOn(state, index)) reasons.push('a step after it has begun')
  if (reasons.length > 0) {
    return [{ type: 'step.refused', at, step: request.step, move: 'retry', by: 'host', reasons }]
  }
  return [{ type: 'step.retried', at, step: request.step, reason: request.reason }]
}

function find(
  state: RunState,
  { step: id, by }: Request<'complete' | 'skip'>,
): { step: CompiledStep; activation: Activation; reasons: string[] } {
  const index = indexOf(state, id)
  const step = state.compiled.steps[index]!
  const activation = state.activations[index] ?? createActivation(index, 1, step.keywords)
  const reasons: string[] = []
  if (state.ended !== null || !state.open.includes(index)) reasons.push(whyNotOpen(state, id))
  else if (isBeingStopped(state)) reasons.push(beingStopped(state))
  else if (isOutOfHands(state, id)) reasons.push(outOfHands)
  else if (step.call !== null && by === 'model') reasons.push(madeByRuntime)
  else if (activation.phase !== 'open' && by === 'model') reasons.push('it waits for a person')
  else if (!isAvailable(state, step)) reasons.push('a step before it has a call in flight')
  else if (activation.open > 0) reasons.push(openCalls(activation))
  return { step, activation, reasons }
}

const outOfHands = 'the program itself goes through it'
const madeByRuntime = 'its call is made by the runtime, not by a model'

/** What was done is being undone, or the run waits for its end. */
function isBeingStopped(state: RunState): boolean {
  return state.compensation !== null || state.cancellation !== null
}

function beingStopped(state: RunState): string {
  return state.compensation === null ? 'the run is being cancelled' : 'what was done is being undone'
}

/** In a program a model has a say only in the bullet it is working on. */
function isOutOfHands({ program }: RunState, id: string): boolean {
  return program !== null && !(program.pending?.kind === 'act' && program.pending.step === id)
}

function hasMovedOn(state: RunState, index: number): boolean {
  return state.activations.some(
    (other) =>
      other !== undefined && other.status !== 'pending' && state.compiled.precedes(index, other.step),
  )
}

function whyNotOpen(state: RunState, id: string): string {
  if (state.ended !== null) return `the run has ended (${state.ended})`
  const status = state.activations[indexOf(state, id)]?.status ?? 'pending'
  if (status === 'failed') return 'it has failed, and must be retried first'
  return status === 'pending' ? 'its turn has not come' : `it is ${status}`
}

function openCalls(activation: Activation): string {
  const open = activation.tickets.filter((ticket) => ticket.settledAt === null || ticket.state === 'unknown')
  return `not settled yet: ${open.map((ticket) => `${ticket.tool} (${ticket.callId}, ${ticket.state})`).join(', ')}`
}

function refusal(
  request: Request<'complete' | 'skip' | 'fail'>,
  move: EventOf<'step.refused'>['move'],
  reasons: readonly string[],
  at: number,
): RunEvent {
  return { type: 'step.refused', at, step: request.step, move, by: request.by, reasons }
}

function indexOf(state: RunState, id: string): number {
  return state.compiled.positions.get(id)!
}
