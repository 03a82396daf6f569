import type { Json } from '../shared/json.ts'
import { maxDocumentDepth } from './limits.ts'
import type { DocumentPath } from './diagnostic.ts'
import type { Report } from './problem.ts'

/** More than for documents: code can build what nobody would write, and is not hostile. */
const mostValues = 1_000_000
const mostRefused = 100

/**
 * Copies a value built in code into plain JSON that shares nothing with it; objects come out without a prototype.
 * What JSON cannot hold is reported and left out; a getter that throws is reported, never thrown. `replace` may
 * stand another value in for one it knows.
 */
export function readValue(
  value: unknown,
  report: Report,
  replace: (value: object) => unknown = (same) => same,
): Json | undefined {
  const above = new Set<object>()
  let count = 0
  let refused = 0

  const read = (given: unknown, path: DocumentPath): Json | undefined => {
    if (++count > mostValues) {
      if (count === mostValues + 1) report('document_too_large', [], `more than ${mostValues} values`)
      return undefined
    }
    switch (typeof given) {
      case 'string':
        if (given.isWellFormed()) return given
        return refuse(path, 'text that is not valid Unicode (a lone surrogate)', 'invalid_text')
      case 'number':
        return Number.isFinite(given) ? given : refuse(path, `the number ${given}`)
      case 'boolean':
        return given
      case 'object':
        return given === null ? null : readObject(given, path)
      default:
        return refuse(path, given === undefined ? 'undefined' : `a ${typeof given}`)
    }
  }

  const readObject = (given: object, path: DocumentPath): Json | undefined => {
    const known = replace(given)
    if (known !== given) return read(known, path)
    if (above.has(given)) return refuse(path, 'a value that contains itself')
    if (above.size === maxDocumentDepth) {
      report('too_deep', path, `nested deeper than ${maxDocumentDepth} levels`)
      return undefined
    }
    above.add(given)
    try {
      return Array.isArray(given) ? readList(given, path) : readMembers(given, path)
    } catch (error) {
      if (error instanceof RangeError) throw error
      return refuse(path, 'a value that cannot be read (reading it throws)')
    } finally {
      above.delete(given)
    }
  }

  const readList = (given: readonly unknown[], path: DocumentPath): Json[] => {
    const list: Json[] = []
    // Not `map`: it would pass over the holes of a sparse list in silence.
    for (let index = 0; index < given.length; index++) {
      if (count > mostValues || refused > mostRefused) break
      const item = read(given[index], [...path, index])
      // The place is kept, so that the positions of what follows stay true.
      list.push(item === undefined ? null : item)
    }
    return list
  }

  const readMembers = (given: object, path: DocumentPath): Json | undefined => {
    const prototype: object | null = Object.getPrototypeOf(given)
    // Objects of another realm have another Object.prototype; it is still the end of the chain.
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      return refuse(path, `an object of class ${String(prototype.constructor?.name)}`)
    }
    const object: Record<string, Json> = Object.create(null)
    for (const [key, member] of Object.entries(given)) {
      if (member === undefined) continue
      const value = read(member, [...path, key])
      if (value !== undefined) object[key] = value
    }
    return object
  }

  const refuse = (
    path: DocumentPath,
    what: string,
    code: 'not_json' | 'invalid_text' = 'not_json',
  ): undefined => {
    // A list of ten million holes is said once, not ten million times.
    if (++refused > mostRefused) return
    report(
      code,
      path,
      `${path.length === 0 ? 'the value' : `\`${path.join('.')}\``} is ${what}, which JSON cannot hold`,
    )
  }

  return read(value, [])
}
