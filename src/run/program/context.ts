import type { CompiledProgram } from '../../playbook/compile-program.ts'
import type { Lookup } from '../../playbook/compile-value.ts'
import type { Procedure, Target, ValueType } from '../../playbook/program.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import { invariant } from '../../shared/lockstep-error.ts'
import type { RunEvent } from '../event.ts'
import type { RunState } from '../state.ts'
import type { Frame, ProgramState } from './program-state.ts'
import { timestamp } from './timestamp.ts'

/** What the functions that move a program work with. They read; events say what changes. */
export interface ProgramContext {
  readonly state: RunState
  readonly program: ProgramState
  readonly compiled: CompiledProgram
  readonly at: number
}

/** The program of a run that is one. */
export function contextOf(state: RunState, at: number): ProgramContext {
  const { program } = state
  const compiled = state.compiled.program
  invariant(program !== null && compiled !== null, 'this run is no program')
  return { state, program, compiled, at }
}

/** The frame that runs. */
export function topFrame({ program }: ProgramContext): Frame {
  const frame = program.frames.at(-1)
  invariant(frame !== undefined, 'no playbook runs')
  return frame
}

/** The playbook of a frame. */
export function procedureOf({ compiled }: ProgramContext, frame: Frame): Procedure {
  const procedure = compiled.procedures.get(frame.procedure)
  invariant(procedure !== undefined, `no playbook ${frame.procedure}`)
  return procedure
}

/** The name of the agent whose playbook a frame runs. */
export function agentNameOf(context: ProgramContext, frame: Frame): string {
  return context.compiled.agentOf(procedureOf(context, frame)).name
}

/** What names stand for inside a frame: its own values first, then the agent's, then what every playbook knows. */
export function lookupIn(context: ProgramContext, frame: Frame): Lookup {
  const agent = agentNameOf(context, frame)
  const shared = context.program.agents[agent] ?? {}
  return (name) => {
    // The results of the calls at hand come first: a variable of that name must not stand in for one.
    const result = /^call_([1-9][0-9]*)$/.exec(name)
    if (result !== null && Number(result[1]) <= frame.results.length)
      return frame.results[Number(result[1]) - 1]
    if (Object.hasOwn(frame.locals, name)) return frame.locals[name]
    if (Object.hasOwn(shared, name)) return shared[name]
    switch (name) {
      case '_':
        return frame.last
      case 'agent':
        return { klass: agent, name: agent, state: { ...shared } }
      case 'current_playbook_call':
      case 'call':
        return describeFrame(context, frame)
      case 'timestamp':
        return timestamp(context.at)
      case 'startup_message':
        return context.program.conversation.find(({ by }) => by === 'person')?.text ?? ''
      default:
        return undefined
    }
  }
}

/** Everything a frame can see by name. */
export function visibleVariables(context: ProgramContext, frame: Frame): JsonObject {
  return { ...context.program.agents[agentNameOf(context, frame)], ...frame.locals }
}

/** A call of a playbook as it would be written. */
export function describeFrame(context: ProgramContext, frame: Frame): string {
  const procedure = procedureOf(context, frame)
  const values = procedure.parameters.map(
    ({ name }) => `${name}=${JSON.stringify(frame.locals[name] ?? null)}`,
  )
  return `${procedure.name}(${values.join(', ')})`
}

/** The event that puts a value where a bullet says. A name that the frame knows as its own stays its own. */
export function setVariable(
  context: ProgramContext,
  frame: Frame,
  target: Pick<Target, 'name' | 'scope'>,
  value: Json,
): RunEvent {
  const local = target.scope === 'local' || Object.hasOwn(frame.locals, target.name)
  const agent = local ? null : agentNameOf(context, frame)
  return { type: 'variable.set', at: context.at, name: target.name, agent, value }
}

/** Why a value is not what its type says; null if it is. */
export function typeProblem(type: ValueType, value: Json): string | null {
  const fits: Readonly<Record<ValueType, boolean>> = {
    any: true,
    str: typeof value === 'string',
    int: Number.isInteger(value),
    float: typeof value === 'number',
    bool: typeof value === 'boolean',
    list: Array.isArray(value),
    dict: typeof value === 'object' && value !== null && !Array.isArray(value),
  }
  return fits[type] ? null : `${shown(value)} is no ${type}`
}

/** What was given under a name; null where nothing was, whatever every object has by itself. */
export function ownValue(values: { readonly [name: string]: Json }, name: string): Json {
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null
}

/** A value as people read it, cut where it is long. */
export function shown(value: Json): string {
  const text = typeof value === 'string' ? `"${value}"` : JSON.stringify(value)
  // Cut inside a character, it could not be written down.
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}
