/**
 * The shorter spelling of runbooks, written out: names that serve as ids, groups that run side by side, and words that runbooks use
 * elsewhere. What the checks then find is said of the place where the author wrote it.
 */
import type { DocumentPath } from '../document/diagnostic.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'

/** A playbook written out, and the way back from its paths to those of the text. */
export interface SpeltRunbook {
  readonly value: Json
  placeOf(path: DocumentPath): DocumentPath
}

interface PlacedStep {
  readonly step: Json
  /** Where it stands in the text, below `steps`. */
  readonly place: DocumentPath
  /** The position of its group among the elements of `steps`. */
  readonly element: number
}

/** Writes a runbook out as a playbook of single steps; a value that is none is left as it is, for the checks to judge. */
export function spellRunbook(value: Json): SpeltRunbook {
  if (!isJsonObject(value)) return { value, placeOf: (path) => path }
  const given = value['steps']
  const named = { ...value, ...missingId(value) }
  if (!Array.isArray(given)) return { value: named, placeOf: (path) => path }
  const grouped = given.some(isGroup)
  const placed = given.flatMap((element, index): PlacedStep[] =>
    isGroup(element)
      ? element.parallel.map((step, inside) => ({ step, place: [index, 'parallel', inside], element: index }))
      : [{ step: element, place: [index], element: index }],
  )
  const spelt = placed.map(({ step }) => spellStep(step))
  const steps = grouped ? spelt.map((step, index) => inOrder(step, index, placed, spelt)) : spelt
  return {
    value: { ...named, steps },
    placeOf: (path) => {
      const [list, index, ...rest] = path
      const place = list === 'steps' && typeof index === 'number' ? placed[index]?.place : undefined
      if (place === undefined) return path
      return ['steps', ...place, ...asWritten(placed[index as number]!.step, rest)]
    },
  }
}

/** A group of steps that run side by side; one with other keys besides is no group, and its keys are judged as those of a step. */
function isGroup(element: Json): element is JsonObject & { readonly parallel: readonly Json[] } {
  return isJsonObject(element) && Array.isArray(element['parallel']) && Object.keys(element).length === 1
}

function spellStep(step: Json): Json {
  if (!isJsonObject(step)) return step
  const { name, args, type, ...others } = step
  const isCall = typeof step['tool'] === 'string'
  const spelt: Record<string, Json> = { ...others, ...missingId(step) }
  if (args !== undefined && isCall && step['input'] === undefined) spelt['input'] = args
  else if (args !== undefined) spelt['args'] = args
  if (type !== undefined && !(isCall && type === 'tool')) spelt['type'] = type
  if (name !== undefined && typeof name !== 'string') spelt['name'] = name
  // What a call does, its tool says; a goal needs words.
  if (step['description'] === undefined && typeof name === 'string') spelt['description'] = name
  else if (step['description'] === undefined && isCall) spelt['description'] = String(step['tool'])
  return spelt
}

/** In a file with groups the order is written out: each element comes after the whole of the one before it. */
function inOrder(step: Json, index: number, placed: readonly PlacedStep[], spelt: readonly Json[]): Json {
  const before = placed[index]!.element - 1
  if (!isJsonObject(step) || step['after'] !== undefined || before < 0) return step
  const ids = spelt.filter((_, other) => placed[other]!.element === before).map((other) => idOf(other))
  return ids.every((id) => typeof id === 'string') && ids.length > 0 ? { ...step, after: ids } : step
}

function idOf(step: Json): Json | undefined {
  return isJsonObject(step) ? step['id'] : undefined
}

/** The id that a name makes, where there is no id. */
function missingId({ id, name }: JsonObject): { readonly id?: string } {
  if (id !== undefined || typeof name !== 'string') return {}
  const made = name
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9_./]+/g, '-')
    .replaceAll(/^[-./]+|-+$/g, '')
    .slice(0, 128)
  return made === '' ? {} : { id: made }
}

/** A problem with what was written out is one with what it was made from. */
function asWritten(step: Json, rest: DocumentPath): DocumentPath {
  if (!isJsonObject(step)) return rest
  const [key, ...inside] = rest
  if (key === 'input' && step['input'] === undefined && step['args'] !== undefined) return ['args', ...inside]
  if (key === 'id' && step['id'] === undefined && step['name'] !== undefined) return ['name', ...inside]
  return rest
}
