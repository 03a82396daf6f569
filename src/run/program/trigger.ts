import { ExpressionError } from '../../expression/expression-error.ts'
import { targetName, type CompiledTrigger } from '../../playbook/compile-program.ts'
import type { Call } from '../../playbook/program.ts'
import type { RunEvent } from '../event.ts'
import { beginPlaybook, bindByName, futureFrame } from './begin-playbook.ts'
import { lookupIn, type ProgramContext } from './context.ts'

/** The triggers that a call sets off: before it, after it succeeded, or when it failed. */
export function triggersOn(
  context: ProgramContext,
  kind: 'before' | 'after' | 'fails',
  target: Call['target'] | string,
): readonly CompiledTrigger[] {
  const name = typeof target === 'string' ? target : targetName(target)
  return context.compiled.triggers.filter(
    ({ trigger }) => trigger.kind === kind && targetName(trigger.call) === name,
  )
}

/** The events that begin the playbooks of some triggers, the first of them to run first; or why one cannot begin. */
export function fireTriggers(
  context: ProgramContext,
  triggers: readonly CompiledTrigger[],
): readonly RunEvent[] | string {
  const events: RunEvent[] = []
  const idle = triggers.filter(
    (each, index) =>
      !isRunning(context, each) &&
      // A playbook is begun once, however many of its triggers fire.
      triggers.findIndex(({ procedure }) => procedure === each.procedure) === index,
  )
  // The one that is begun last runs first.
  for (const { procedure, key } of idle.toReversed()) {
    const args = bindByName(context, procedure)
    if (typeof args === 'string') return `a trigger cannot fire: ${args}`
    const begun = beginPlaybook(context, procedure, args, { cause: 'trigger', trigger: key })
    if (typeof begun === 'string') return begun
    events.push(renumbered(begun, events.length))
  }
  return events
}

/** A playbook that runs is not set off again by its own trigger. */
function isRunning({ program }: ProgramContext, { procedure }: CompiledTrigger): boolean {
  return program.frames.some((frame) => frame.procedure === procedure.id)
}

function renumbered(event: RunEvent, by: number): RunEvent {
  return event.type === 'playbook.begun' ? { ...event, frame: event.frame + by } : event
}

/** What follows from variables that were written: triggers whose condition came to hold fire, once each time. */
export function checkStateTriggers(context: ProgramContext): readonly RunEvent[] | string {
  const { program, compiled, at } = context
  const written = new Set(program.written)
  const changed = compiled.triggers.flatMap((each) => {
    const { trigger, key } = each
    if (trigger.kind !== 'state' || !trigger.reads.some((name) => written.has(name))) return []
    const holds = stateHolds(context, each)
    return holds === (program.armed[key] ?? false) ? [] : [{ each, key, holds }]
  })
  // All are looked at in the state that the write left, so the first in the text runs first.
  const fired = fireTriggers(
    context,
    changed.filter(({ holds }) => holds).map(({ each }) => each),
  )
  if (typeof fired === 'string') return fired
  return [
    ...changed.map(({ key, holds }): RunEvent => ({ type: 'trigger.changed', at, key, holds })),
    { type: 'trigger.changed', at, key: null, holds: false },
    ...fired,
  ]
}

/** A condition that cannot be worked out does not hold. */
function stateHolds(context: ProgramContext, { trigger, procedure }: CompiledTrigger): boolean {
  if (trigger.kind !== 'state') return false
  const { compiled, program } = context
  const top = program.frames.at(-1)
  const sameAgent =
    top !== undefined &&
    compiled.agentOf(compiled.procedures.get(top.procedure)!) === compiled.agentOf(procedure)
  const frame = sameAgent ? top : futureFrame(0, procedure, {})
  const value = compiled.truth(trigger.value).value.evaluate(lookupIn(context, frame))
  return !(value instanceof ExpressionError) && value === true
}

/** The triggers that something a person said may set off now. */
export function messageTriggers(context: ProgramContext): readonly CompiledTrigger[] {
  return context.compiled.triggers.filter(
    (each) => each.trigger.kind === 'message' && !isRunning(context, each),
  )
}
