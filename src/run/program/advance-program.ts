/**
 * What a program does next by itself.
 *
 * Owns: the order in which bullets run. The model has no say in it.
 * Talks to: the state, which it only reads; the functions for each kind of bullet.
 *
 * Invariants
 * N1  Each call returns the next consequence only; `evolve` applies it before the next is asked for.
 * N2  A failure is dealt with before anything else moves: by a playbook that waits for it, else by the caller, else the run fails.
 * N3  Triggers of the state are looked at after every write, before the next bullet begins.
 * N4  Nothing moves while something is pending, but what time sets off while a person is waited for.
 */
import type { Step } from '../../playbook/program.ts'
import { invariant } from '../../shared/lockstep-error.ts'
import type { RunEvent } from '../event.ts'
import type { RunState } from '../state.ts'
import { beginPlaybook, bindArguments, describing, returnFrom, textOf } from './begin-playbook.ts'
import { compute } from './compute.ts'
import { contextOf, procedureOf, type ProgramContext } from './context.ts'
import { advanceStep } from './advance-step.ts'
import { endBlock } from './advance-branch.ts'
import { handleIdleMessage } from './advance-talk.ts'
import { checkStateTriggers, fireTriggers, messageTriggers, triggersOn } from './trigger.ts'
import { abandonSteps, completeStep, failStep } from './end-step.ts'
import type { Frame } from './program-state.ts'

/** How many bullets a run may go through. */
export const maxSteps = 100_000

const nothing: readonly RunEvent[] = []

/** The next consequence; empty when the program waits for somebody or has ended. */
export function advanceProgram(state: RunState, now: number): readonly RunEvent[] {
  const context = contextOf(state, Math.max(now, state.clock))
  const { program, at } = context
  if (program.failure !== null) return dealWithFailure(context)
  const timed = fireTimers(context)
  if (timed.length > 0) return timed
  if (program.pending !== null) return advancePending(context)
  if (program.written.length > 0) {
    const events = checkStateTriggers(context)
    return typeof events === 'string' ? endRun(context, 'failed', events) : events
  }
  const frame = program.frames.at(-1)
  if (frame === undefined) return betweenPlaybooks(context)
  if (Math.max(program.counters.steps, program.counters.calls) > maxSteps) {
    return endRun(context, 'failed', `the run went through more than ${maxSteps} steps`)
  }
  const [followed] = frame.followed
  if (followed !== undefined) return follow(context, followed)
  if (frame.description === null) return describePlaybook(context, frame)
  const cursor = frame.cursors.at(-1)
  if (cursor === undefined) return returnFrom(context, frame, null)
  const block = context.compiled.blocks.get(cursor.block)
  invariant(block !== undefined, `no block ${cursor.block}`)
  const step: Step | undefined = block.steps[cursor.index]
  if (step === undefined) return endBlock(context, frame)
  if (frame.at !== step.id && step.kind !== 'if') return [{ type: 'step.entered', at, step: step.id }]
  return advanceStep(context, frame, step)
}

function advancePending(context: ProgramContext): readonly RunEvent[] {
  const { program, at } = context
  const pending = program.pending!
  if (pending.kind === 'call' && pending.problem !== null) {
    return [failStep(context, pending.step, pending.problem)]
  }
  if (pending.kind === 'time' && at >= pending.until) return [completeStep(context, pending.step)]
  return nothing
}

/** Time sets playbooks off only where the program stands still for a person or the time, so that nothing is torn apart. */
function fireTimers(context: ProgramContext): readonly RunEvent[] {
  const { program, compiled, at } = context
  const kind = program.pending?.kind
  const still = kind === 'person' || kind === 'time' || (kind === undefined && program.frames.length === 0)
  if (program.phase === 'ending' || program.begun === 0 || !still) return nothing
  const [due] = program.timers.filter((timer) => timer.due <= at).toSorted((a, b) => a.due - b.due)
  if (due === undefined) return nothing
  const trigger = compiled.triggers.find(({ key }) => key === due.key)
  const events = trigger === undefined ? [] : fireTriggers(context, [trigger])
  if (typeof events === 'string') return endRun(context, 'failed', events)
  return [{ type: 'trigger.fired', at, key: due.key }, ...events]
}

/** Begins the playbooks that come after a call. */
function follow(context: ProgramContext, tool: string): readonly RunEvent[] {
  const fired = fireTriggers(context, triggersOn(context, 'after', tool))
  if (typeof fired === 'string') return endRun(context, 'failed', fired)
  return [{ type: 'call.followed', at: context.at, tool }, ...fired]
}

/** Fills in the placeholders of a description that wait for calls. */
function describePlaybook(context: ProgramContext, frame: Frame): readonly RunEvent[] {
  const { at } = context
  const { description, id } = procedureOf(context, frame)
  const step = describing(id)
  if (frame.at !== step) return [{ type: 'step.entered', at, step }]
  const computed = compute(context, frame, context.compiled.computation(description), step)
  if ('events' in computed) return computed.events
  if ('error' in computed) return [failStep(context, step, computed.error)]
  const text = textOf(computed.value)
  return [{ type: 'playbook.described', at, frame: frame.id, description: text }, completeStep(context, step)]
}

/** Nothing runs: the next playbook that begins the program, a message, or the end. */
function betweenPlaybooks(context: ProgramContext): readonly RunEvent[] {
  const { program, compiled, state, at } = context
  if (program.phase === 'running') {
    const entry = compiled.entries[program.begun]
    if (entry !== undefined) {
      const timers = program.begun === 0 ? setTimers(context) : []
      const args = program.begun === 0 ? bindArguments(entry, [], state.inputs) : bindArguments(entry, [], {})
      if (typeof args === 'string') return endRun(context, 'failed', args)
      const begun = beginPlaybook(context, entry, args, { cause: 'entry' })
      return typeof begun === 'string' ? endRun(context, 'failed', begun) : [...timers, begun]
    }
    if (program.message !== null) return handleIdleMessage(context)
    const listens = messageTriggers(context).length > 0 || program.timers.length > 0
    if (listens && compiled.entries.some(({ triggers }) => triggers.some(({ kind }) => kind === 'begin'))) {
      return [{ type: 'person.awaited', at, step: null }]
    }
    return [{ type: 'program.ending', at }]
  }
  // Nobody can say that it ended well while nobody knows what became of a call.
  if (state.openTickets.size > 0) return nothing
  const last = compiled.triggers.filter(({ trigger }) => trigger.kind === 'end')[program.ended]
  if (last !== undefined) {
    const fired = fireTriggers(context, [last])
    const fire: RunEvent = { type: 'trigger.fired', at, key: last.key }
    return typeof fired === 'string' ? endRun(context, 'failed', fired) : [fire, ...fired]
  }
  const result = program.reason ?? (program.result === null ? null : textOf(program.result))
  return [{ type: 'run.finished', at, status: 'succeeded', message: result }]
}

function setTimers({ compiled, at }: ProgramContext): RunEvent[] {
  return compiled.triggers.flatMap(({ trigger, key }): RunEvent[] =>
    trigger.kind === 'time' ? [{ type: 'trigger.set', at, key, due: at + trigger.seconds * 1000 }] : [],
  )
}

function endRun(
  { at }: ProgramContext,
  status: 'failed' | 'incomplete',
  message: string,
): readonly RunEvent[] {
  return [{ type: 'run.finished', at, status, message }]
}

/** N2. */
function dealWithFailure(context: ProgramContext): readonly RunEvent[] {
  const { program, at } = context
  const { error, target, step } = program.failure!
  const frame = program.frames.at(-1)
  // A playbook whose description cannot be filled in does not begin, so there is no bullet to go on after.
  const begun = frame === undefined || step !== describing(frame.procedure)
  const handlers = target === null || !begun ? [] : triggersOn(context, 'fails', target)
  const [handler] = handlers
  if (handler !== undefined) {
    const fired = fireTriggers(context, handlers)
    if (typeof fired === 'string') return endRun(context, 'failed', fired)
    if (fired.length > 0) return [{ type: 'failure.handled', at, trigger: handler.key }, ...fired]
  }
  if (frame === undefined) return endRun(context, 'failed', error)
  const failed: readonly RunEvent[] = [
    ...abandonSteps(context, frame, step),
    { type: 'playbook.failed', at, frame: frame.id, error },
  ]
  const below = program.frames.at(-2)
  const kind = context.compiled.triggers.find(({ key }) => key === frame.trigger)?.trigger.kind
  if (kind === 'before' && below?.at != null) return [...failed, failStep(context, below.at, error)]
  const calling = below?.calling ?? null
  if (frame.callId === null || calling === null) return failed
  return [
    ...failed,
    { type: 'tool.settled', at, callId: frame.callId, outcome: 'failed', error },
    failStep(context, calling.step, error),
  ]
}
