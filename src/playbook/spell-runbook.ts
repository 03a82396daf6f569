/**
 * The shorter spelling of runbooks, written out: names that serve as ids, groups that run side by side, and words that runbooks use
 * elsewhere. What the checks then find is said of the place where the author wrote it. What is wrong with the spelling itself,
 * `check-spelling.ts` says; here it is left out.
 */
import type { DocumentPath } from '../document/diagnostic.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import type { Spelling } from './wording.ts'

/** A playbook written out, and the way back from its paths to those of the text. */
export interface SpeltRunbook {
  readonly value: Json
  /** The steps one by one, with their places in the text. */
  readonly placed: readonly PlacedStep[]
  placeOf(path: DocumentPath): DocumentPath
}

/** A step as written, and where. */
export interface PlacedStep {
  readonly step: Json
  /** Where it stands in the text, below `steps`. */
  readonly place: DocumentPath
  /** The position of its group among the elements of `steps`. */
  readonly element: number
}

/** How many steps a group may have: each step of the next one waits for all of them. */
export const mostSideBySide = 100

/** Writes a runbook out as a playbook of single steps; a value that is none is left as it is, for the checks to judge. */
export function spellRunbook(value: Json, spelling: Spelling = 'file'): SpeltRunbook {
  if (!isJsonObject(value)) return { value, placed: [], placeOf: (path) => path }
  const given = value['steps']
  const named = { ...value, ...missingId(value, 'playbook') }
  if (!Array.isArray(given)) return { value: named, placed: [], placeOf: (path) => path }
  const placed = given.flatMap((element, index) => stepsIn(element, [index], index))
  const spelt = placed.map(({ step }, index) => spellStep(step, index))
  const order = spelling === 'code' ? 'strictSequence' : 'strict_sequence'
  return {
    value: given.some(isGroup)
      ? { ...named, [order]: false, steps: inOrder(spelt, placed) }
      : { ...named, steps: spelt },
    placed,
    placeOf: (path) => {
      const [list, index, ...rest] = path
      const at = list === 'steps' && typeof index === 'number' ? placed[index] : undefined
      return at === undefined ? path : ['steps', ...at.place, ...asWritten(at.step, rest)]
    },
  }
}

/** Whether an element of the steps is a group of steps that run side by side. */
export function isGroup(element: Json | undefined): element is JsonObject {
  return element !== undefined && isJsonObject(element) && Object.hasOwn(element, 'parallel')
}

/** The id that a name makes: its ASCII letters, digits and dots, with dashes for the rest; empty if there are none. */
export function idOfName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^A-Za-z0-9_./]+/g, '-')
    .replaceAll(/^[-./]+/g, '')
    .slice(0, 128)
    .replace(/-+$/, '')
}

function stepsIn(element: Json, place: DocumentPath, index: number): readonly PlacedStep[] {
  if (!isGroup(element)) return [{ step: element, place, element: index }]
  const { parallel } = element
  if (!Array.isArray(parallel)) return []
  return parallel
    .flatMap((step: Json, inside) => stepsIn(step, [...place, 'parallel', inside], index))
    .slice(0, mostSideBySide)
}

function spellStep(step: Json, index: number): Json {
  if (!isJsonObject(step)) return step
  const { name, args, type: _type, ...others } = step
  const isCall = typeof step['tool'] === 'string'
  const spelt: Record<string, Json> = { ...others, ...missingId(step, `step-${index + 1}`) }
  if (args !== undefined && isCall && step['input'] === undefined) spelt['input'] = args
  else if (args !== undefined && !isCall) spelt['args'] = args
  // What a call does, its tool says; a goal needs words.
  if (step['description'] === undefined && typeof name === 'string') spelt['description'] = name
  else if (step['description'] === undefined && isCall) spelt['description'] = String(step['tool'])
  return spelt
}

/** In a file with groups the order is written out: each element comes after the whole of the one before it. */
function inOrder(spelt: readonly Json[], placed: readonly PlacedStep[]): readonly Json[] {
  const ids = new Map<number, Json[]>()
  spelt.forEach((step, index) => {
    const id = isJsonObject(step) ? step['id'] : undefined
    const { element } = placed[index]!
    if (typeof id === 'string') ids.set(element, [...(ids.get(element) ?? []), id])
  })
  return spelt.map((step, index) => {
    const before = ids.get(placed[index]!.element - 1)
    return !isJsonObject(step) || step['after'] !== undefined || before === undefined
      ? step
      : { ...step, after: before }
  })
}

/** The id that a name makes, where there is no id; `otherwise` where it makes none, which has its own report. */
function missingId({ id, name }: JsonObject, otherwise: string): { readonly id?: string } {
  if (id !== undefined || typeof name !== 'string') return {}
  const made = idOfName(name)
  return { id: made === '' ? otherwise : made }
}

/** A problem with what was written out is one with what it was made from. */
function asWritten(step: Json, rest: DocumentPath): DocumentPath {
  if (!isJsonObject(step)) return rest
  const [key, ...inside] = rest
  if (key === 'input' && step['input'] === undefined && step['args'] !== undefined) return ['args', ...inside]
  if (key === 'id' && step['id'] === undefined && step['name'] !== undefined) return ['name', ...inside]
  if (key === 'description' && step['description'] === undefined && step['name'] !== undefined)
    return ['name', ...inside]
  return rest
}
