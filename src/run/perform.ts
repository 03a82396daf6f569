import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { invariant } from '../shared/lockstep-error.ts'
import { advance } from './advance.ts'
import { decide } from './decide.ts'
import type { RunEvent } from './event.ts'
import { begin, evolve } from './evolve.ts'
import type { Facts, RunRequest } from './request.ts'
import { semantics, type RunState } from './state.ts'

/** What one request led to: the events in order, of which `answer` are those that judge the request itself. */
export interface Performance {
  readonly events: readonly RunEvent[]
  readonly answer: readonly RunEvent[]
}

/** How a run is begun. */
export interface RunStart {
  /** The run's name; unique everywhere. */
  readonly run: string
  readonly inputs: JsonObject
  readonly enforced: boolean
  readonly finishAttempts: number
  readonly mode?: 'execute' | 'dry-run'
  /** The digest of the list of tools. */
  readonly tools?: string
}

/** Begins a run: its first state and its first events. */
export function startRun(
  compiled: CompiledPlaybook,
  start: RunStart,
  facts: Facts,
): { state: RunState; events: readonly RunEvent[] } {
  const started: RunEvent = {
    type: 'run.started',
    at: facts.now,
    enforced: start.enforced,
    finishAttempts: start.finishAttempts,
    inputs: start.inputs,
    ...(start.mode === 'dry-run' ? { mode: start.mode } : {}),
    playbook: compiled.digest,
    run: start.run,
    semantics,
    ...(start.tools === undefined ? {} : { tools: start.tools }),
  }
  const state = begin(compiled, started)
  const events = [started]
  settleDown(state, facts.now, events)
  return { state, events }
}

/**
 * Carries a request out on a state it takes over: what is due by itself first (a timeout, say), then the verdict, then
 * all that follows from it.
 */
export function perform(state: RunState, request: RunRequest, facts: Facts): Performance {
  const events: RunEvent[] = []
  settleDown(state, facts.now, events)
  const answer = decide(state, request, facts)
  for (const event of answer) {
    evolve(state, event)
    events.push(event)
  }
  settleDown(state, facts.now, events)
  return { events, answer }
}

/** Lets a run do what follows by itself as time passes. */
export function passTime(state: RunState, facts: Facts): readonly RunEvent[] {
  const events: RunEvent[] = []
  settleDown(state, facts.now, events)
  return events
}

/** Rebuilds a state from its events; deciding nothing again. */
export function replay(compiled: CompiledPlaybook, events: Iterable<RunEvent>): RunState {
  let state: RunState | null = null
  for (const event of events) state = state === null ? begin(compiled, event) : evolve(state, event)
  invariant(state !== null, 'a run has at least one event')
  return state
}

function settleDown(state: RunState, now: number, events: RunEvent[]): void {
  for (;;) {
    const consequences = advance(state, now)
    for (const event of consequences) {
      evolve(state, event)
      events.push(event)
    }
    if (consequences.length > 0) continue
    // Everything was looked at and nothing follows, until another event says where to look again.
    while (state.toWeigh.length > 0) state.activations[state.toWeigh.pop()!]!.dirty = false
    return
  }
}
