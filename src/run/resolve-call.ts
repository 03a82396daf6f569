import type { CompiledCall } from '../playbook/compile-call.ts'
import { type CallValues, type CompiledInput, InputProblem } from '../playbook/compile-input.ts'
import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import type { Activation } from './activation.ts'
import type { CallSlot, CallWork, KnownInputs } from './call-work.ts'
import type { RunState } from './state.ts'

/** The most items that one step goes through. */
export const mostItems = 10_000

/** Why a call cannot be made: what could not be worked out, and where it stands. */
export class CallProblem {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** How many items a step goes through, and what they are; one that nobody knows stands for itself. */
export type Items = readonly (Json | undefined)[]

const single: Items = [undefined]

/** The items of a step, as they were fixed or as they are now. A step without `foreach` has one that is nothing. */
export function itemsOf(state: RunState, step: CompiledStep, activation: Activation): Items | CallProblem {
  const call = step.call!
  const work = activation.work!
  if (call.foreach === null) return single
  if (work.unknownItems) return single
  if (work.items !== null) return work.items
  const known = knownIn(state, work)
  return (known.items ??= workOutItems(state, call.foreach)) as Items | CallProblem
}

/** The items of a dry run that nobody knows: one call stands for all of them. */
export function areUnknown(items: Items): boolean {
  return items === single
}

/** The arguments of the call for an item: those of its first attempt, else as they are now. */
export function argumentsOf(
  state: RunState,
  step: CompiledStep,
  activation: Activation,
  item: number,
  value: Json | undefined,
): JsonObject | CallProblem {
  const work = activation.work!
  const sent = work.slots[item]?.args ?? null
  if (sent !== null) return sent
  const known = knownIn(state, work)
  let args = known.args.get(item) as JsonObject | CallProblem | undefined
  if (args === undefined) {
    const { foreach, input } = step.call!
    const index = foreach === null ? undefined : item
    args = fill(state, input, [state.inputs, state.stepsView, value, index], place(step.call!, 'input', item))
    known.args.set(item, args)
  }
  return args
}

/** The arguments of the check after a call. */
export function checkArguments(
  state: RunState,
  step: CompiledStep,
  slot: CallSlot,
  value: Json | undefined,
): JsonObject | CallProblem {
  const call = step.call!
  const values = valuesAfter(state, call, slot.item, value, slot.made!.result ?? null)
  return fill(state, call.verify!.input, values, place(call, 'verify.input', slot.item))
}

/** The call that undoes a succeeded one, frozen when it succeeds (G17). */
export function undoArguments(
  state: RunState,
  step: CompiledStep,
  item: number,
  value: Json | undefined,
  output: Json,
): JsonObject | CallProblem {
  const call = step.call!
  const values = valuesAfter(state, call, item, value, output)
  return fill(state, call.compensate!.input, values, place(call, 'compensate.input', item))
}

/** What conditions and templates see after a call. */
export function valuesAfter(
  state: RunState,
  call: CompiledCall,
  item: number,
  value: Json | undefined,
  output: Json,
): CallValues {
  return [state.inputs, state.stepsView, value, call.foreach === null ? undefined : item, output]
}

/** The value of an item that has begun, or will. */
export function itemValue(work: CallWork, item: number): Json | undefined {
  return work.items?.[item]
}

function workOutItems(state: RunState, foreach: CompiledInput): Items | CallProblem {
  const value = foreach.evaluate([state.inputs, state.stepsView], lenient(state, foreach))
  if (value instanceof InputProblem) return new CallProblem(describe(value, 'foreach'))
  if (isPlaceholder(value, foreach)) return single
  if (!Array.isArray(value)) return new CallProblem(`foreach: ${sourceOf(foreach)} is no list`)
  if (value.length > mostItems) {
    return new CallProblem(
      `foreach: ${sourceOf(foreach)} has ${value.length} items, and ${mostItems} are the most`,
    )
  }
  return value as readonly Json[]
}

function fill(
  state: RunState,
  input: CompiledInput,
  values: CallValues,
  where: string,
): JsonObject | CallProblem {
  const value = input.evaluate(values, lenient(state, input))
  if (value instanceof InputProblem) return new CallProblem(describe(value, where))
  // What is sent is what is written down, so it has to be JSON, and of a size that can be.
  const reading = toJson(value, partLimits)
  if (reading.problem !== null) return new CallProblem(`${where}: ${reading.problem}`)
  return isJsonObject(reading.value) ? reading.value : new CallProblem(`${where} is no mapping`)
}

/**
 * In a dry run, what only a made call could tell stays as its placeholder: a text that looks at the output of a step that was only shown, or at an
 * item of such a list.
 */
function lenient(
  state: RunState,
  input: CompiledInput,
): ((problem: InputProblem) => Json | undefined) | undefined {
  if (state.mode !== 'dry-run') return undefined
  return ({ path, source }) => {
    const placed = input.templates.find((each) => each.path.length === path.length && same(each.path, path))
    const unknown = placed?.template.references.some(
      ({ name, path: [id, member] }) =>
        name === 'item' || (name === 'steps' && member === 'output' && isOnlyShown(state, id!)),
    )
    return unknown === true ? source : undefined
  }
}

/** Whether a step was only shown, or waits for one that was: nobody knows what it would have given. */
export function isOnlyShown(state: RunState, id: string): boolean {
  const index = state.compiled.positions.get(id)
  const activation = index === undefined ? undefined : state.activations[index]
  return activation?.tickets.some(({ shown }) => shown === true) ?? false
}

function isPlaceholder(value: Json, foreach: CompiledInput): boolean {
  return typeof value === 'string' && foreach.templates.some(({ template }) => template.source === value)
}

function same(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.every((each, index) => each === other[index])
}

function describe({ path, source, error }: InputProblem, where: string): string {
  return `${[where, ...path].join('.')}: ${source} cannot be filled in: ${error.message}`
}

function sourceOf(input: CompiledInput): string {
  return input.templates[0]?.template.source ?? 'it'
}

function place(call: CompiledCall, name: string, item: number): string {
  return call.foreach === null ? name : `item ${item}: ${name}`
}

function knownIn(state: RunState, work: CallWork): KnownInputs {
  if (work.known?.version !== state.version)
    work.known = { version: state.version, items: undefined, args: new Map() }
  return work.known!
}
