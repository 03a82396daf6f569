import type { Json } from './json.ts'
import { LockstepError } from './lockstep-error.ts'

const maxDepth = 512

/**
 * The one text for a JSON value (RFC 8785): equal values, and only those, give equal texts. Members that are
 * undefined are left out, as in JSON. Throws `invalid_value` for what JSON cannot hold: NaN, infinities, bigints,
 * functions, undefined items, cycles, lone surrogates, objects that are not plain.
 */
export function canonicalJson(value: Json | undefined): string {
  return write(value, 0)
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeText(value)
    case 'number':
      if (!Number.isFinite(value)) throw refused(`the number ${value}`)
      return String(Object.is(value, -0) ? 0 : value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      // A cycle is infinitely deep, so one limit catches both it and hostile nesting.
      if (depth === maxDepth) throw refused(`a cycle, or nesting deeper than ${maxDepth}`)
      return Array.isArray(value) ? writeList(value, depth + 1) : writeObject(value, depth + 1)
    default:
      throw refused(value === undefined ? 'undefined' : `a ${typeof value}`)
  }
}

function writeList(list: readonly unknown[], depth: number): string {
  let text = '['
  for (let index = 0; index < list.length; index++) {
    if (index > 0) text += ','
    text += write(list[index], depth)
  }
  return `${text}]`
}

function writeObject(object: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw refused(`an object of class ${object.constructor?.name ?? 'unknown'}`)
  }
  const members = object as Readonly<Record<string, unknown>>
  let text = ''
  // Sorting strings compares UTF-16 units, which is what the RFC asks for.
  for (const key of sortedKeys(members)) {
    const value = members[key]
    if (value === undefined) continue
    text += `${text === '' ? '' : ','}${writeText(key)}:${write(value, depth)}`
  }
  return `{${text}}`
}

function sortedKeys(members: object): readonly string[] {
  const keys = Object.keys(members)
  // Looking whether they are in order already costs less than sorting them.
  for (let index = 1; index < keys.length; index++) if (keys[index]! < keys[index - 1]!) return keys.sort()
  return keys
}

/** Text that stands in JSON as it is, which most text does. */
const plain = /^[ !#-[\]-~]*$/

function writeText(text: string): string {
  if (plain.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw refused('text that is not valid Unicode (a lone surrogate)')
  return JSON.stringify(text)
}

function refused(what: string): LockstepError {
  return new LockstepError('invalid_value', `JSON cannot hold ${what}`)
}
