import { ExpressionError } from '../../expression/expression-error.ts'
import type { Procedure } from '../../playbook/program.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import type { RunEvent } from '../event.ts'
import { lookupIn, typeProblem, visibleVariables, type ProgramContext } from './context.ts'
import type { Frame, FrameCause } from './program-state.ts'

/** How deep playbooks may call each other. */
export const maxDepth = 64

/** Why a playbook is begun. */
export interface Beginning {
  readonly cause: FrameCause
  readonly callId?: string
  readonly trigger?: string
}

/** Begins a playbook with arguments that were bound, or says why it cannot be. */
export function beginPlaybook(
  context: ProgramContext,
  procedure: Procedure,
  args: JsonObject,
  { cause, callId, trigger }: Beginning,
): RunEvent | string {
  const { program, compiled, at } = context
  if (program.frames.length >= maxDepth) {
    const stack = program.frames.slice(-4).map((frame) => frame.procedure)
    return `playbooks call each other more than ${maxDepth} deep: … ${stack.join(' → ')} → ${procedure.id}`
  }
  const frame = program.counters.frames + 1
  const computation = compiled.computation(procedure.description)
  let description: string | null = null
  if (computation.calls.length === 0) {
    const value = computation.value.evaluate(lookupIn(context, futureFrame(frame, procedure, args)))
    if (value instanceof ExpressionError)
      return `the description of ${procedure.name} cannot be filled in: ${value.message}`
    description = textOf(value)
  }
  return {
    type: 'playbook.begun',
    at,
    frame,
    playbook: procedure.id,
    cause,
    callId: callId ?? null,
    trigger: trigger ?? null,
    arguments: args,
    description,
  }
}

/** Binds arguments to the parameters of a playbook, or says what does not fit. */
export function bindArguments(
  procedure: Procedure,
  positional: readonly Json[],
  named: JsonObject,
): JsonObject | string {
  const { parameters, name } = procedure
  if (positional.length > parameters.length) {
    return `${name} takes ${parameters.length} arguments, and is given ${positional.length}`
  }
  const bound: [string, Json][] = []
  for (const [index, parameter] of parameters.entries()) {
    const byName = Object.hasOwn(named, parameter.name)
    if (index < positional.length && byName) return `${name} is given ${parameter.name} twice`
    const value =
      index < positional.length ? positional[index] : byName ? named[parameter.name] : parameter.default
    if (value === undefined) return `${name} needs ${parameter.name}`
    const problem = typeProblem(parameter.type, value)
    if (problem !== null) return `${name} cannot take ${parameter.name}: ${problem}`
    bound.push([parameter.name, value])
  }
  const unknown = Object.keys(named).find((key) => !parameters.some((parameter) => parameter.name === key))
  return unknown === undefined ? Object.fromEntries(bound) : `${name} has no parameter ${unknown}`
}

/** Binds what a playbook that is set off by a trigger needs, from the variables of the same names. */
export function bindByName(context: ProgramContext, procedure: Procedure): JsonObject | string {
  const { program, compiled } = context
  const frame = program.frames.at(-1)
  const agent = compiled.agentOf(procedure)
  const visible =
    frame !== undefined && compiled.agentOf(compiled.procedures.get(frame.procedure)!) === agent
      ? visibleVariables(context, frame)
      : (program.agents[agent.name] ?? {})
  const named = procedure.parameters.filter(({ name }) => Object.hasOwn(visible, name))
  return bindArguments(procedure, [], Object.fromEntries(named.map(({ name }) => [name, visible[name]!])))
}

/** The step that stands for filling in the description of a playbook, where that takes calls. */
export function describing(procedure: string): string {
  return `${procedure}/0`
}

/** The events that end a playbook well, and the call that it answers. */
export function returnFrom({ at }: ProgramContext, frame: Frame, value: Json): readonly RunEvent[] {
  const returned: RunEvent = { type: 'playbook.returned', at, frame: frame.id, value }
  if (frame.callId === null) return [returned]
  return [returned, { type: 'tool.settled', at, callId: frame.callId, outcome: 'succeeded', result: value }]
}

/** A value as it is said to a person. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A frame as it will be, for looking names up before it exists. */
export function futureFrame(id: number, procedure: Procedure, args: JsonObject): Frame {
  return {
    id,
    procedure: procedure.id,
    cause: 'call',
    trigger: null,
    callId: null,
    locals: { ...args },
    description: null,
    cursors: [],
    at: null,
    arm: 0,
    results: [],
    readied: false,
    last: null,
    asked: 0,
    reply: null,
    until: null,
    heard: false,
    given: [],
    calling: null,
    followed: [],
    visits: {},
    outcome: null,
  }
}
