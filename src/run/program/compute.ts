import { ExpressionError } from '../../expression/expression-error.ts'
import { targetName, type CompiledCall, type CompiledComputation } from '../../playbook/compile-program.ts'
import type { Call } from '../../playbook/program.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import { partLimits, toJson } from '../../shared/to-json.ts'
import { decideCall } from '../decide-call.ts'
import type { RunEvent } from '../event.ts'
import { beginPlaybook, bindArguments } from './begin-playbook.ts'
import { lookupIn, type ProgramContext } from './context.ts'
import { judgeNotes } from './note-rule.ts'
import type { Frame } from './program-state.ts'
import { fireTriggers, triggersOn } from './trigger.ts'

/** A value, or what has to happen before there is one, or why there will be none. */
export type Computed =
  | { readonly value: Json }
  | { readonly events: readonly RunEvent[] }
  | { readonly error: string }

/** Works a computation out as far as it goes: its next call if one is missing, else its value. `owner` is the bullet that makes the calls. */
export function compute(
  context: ProgramContext,
  frame: Frame,
  computation: CompiledComputation,
  owner: string,
): Computed {
  const call = computation.calls[frame.results.length]
  if (call !== undefined) return makeCall(context, frame, call, owner)
  const value = computation.value.evaluate(lookupIn(context, frame))
  if (value instanceof ExpressionError) return { error: value.message }
  const problem = sizeProblem(value)
  return problem === null ? { value } : { error: `the value cannot be kept: ${problem}` }
}

/** Why a value is too much to be written down; null if it is not. */
function sizeProblem(value: Json): string | null {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return null
  return toJson(value, partLimits).problem
}

/** The next thing to do about a call: the playbooks that come before it, what notes demand, then the call itself. */
function makeCall(context: ProgramContext, frame: Frame, call: CompiledCall, owner: string): Computed {
  const { compiled, program, at } = context
  const { target } = call
  if (!frame.readied) {
    const before = fireTriggers(context, triggersOn(context, 'before', target))
    if (typeof before === 'string') return { error: before }
    if (before.length > 0) return { events: [{ type: 'call.readied', at, step: owner }, ...before] }
  }
  const lookup = lookupIn(context, frame)
  const positional: Json[] = []
  for (const each of call.positional) {
    const value = each.evaluate(lookup)
    if (value instanceof ExpressionError) return { error: value.message }
    positional.push(value)
  }
  const given: [string, Json][] = []
  for (const [name, each] of call.named) {
    const value = each.evaluate(lookup)
    if (value instanceof ExpressionError) return { error: value.message }
    given.push([name, value])
  }
  // An entry is a member of its own, whatever it is called.
  const named = Object.fromEntries(given)
  const tooMuch = sizeProblem([positional, named])
  if (tooMuch !== null) return { error: `the arguments cannot be kept: ${tooMuch}` }
  const notes = judgeNotes(context, target)
  if (notes !== null) return { events: notes }
  const callId = `step-${program.counters.calls + 1}`
  const procedure = target.kind === 'playbook' ? compiled.procedures.get(target.id) : undefined
  if (procedure === undefined || procedure.mode === 'host') {
    const args = nameArguments(context, target, positional, named)
    if (typeof args === 'string') return { error: args }
    const tool = targetName(target)
    return { events: [{ type: 'call.due', at, step: owner, callId, tool, args }] }
  }
  const args = bindArguments(procedure, positional, named)
  if (typeof args === 'string') return { error: args }
  const begun = beginPlaybook(context, procedure, args, { cause: 'call', callId })
  if (typeof begun === 'string') return { error: begun }
  // A playbook is called through the same door as a tool: the order, the rules and the record are the same.
  const due: RunEvent = { type: 'call.due', at, step: owner, callId, tool: procedure.id, args }
  const verdict = decideCall(
    context.state,
    { type: 'call', callId, tool: procedure.id, args, step: owner },
    { now: at, registered: true },
  )
  const admitted = verdict.some(({ type }) => type === 'tool.admitted')
  return { events: [due, ...verdict, ...(admitted ? [begun] : [])] }
}

/** The arguments of a tool by name; a function that the host supplies takes them in the order it declares them. */
function nameArguments(
  { compiled }: ProgramContext,
  target: Call['target'],
  positional: readonly Json[],
  named: JsonObject,
): JsonObject | string {
  const procedure = target.kind === 'playbook' ? compiled.procedures.get(target.id) : undefined
  if (procedure !== undefined) return bindArguments(procedure, positional, named)
  if (positional.length > 0) return `the arguments of ${targetName(target)} must be given by name`
  return named
}
