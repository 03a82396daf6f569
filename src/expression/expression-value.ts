/** What an expression can meet: plain JSON data, and records whose members are looked up on demand. */
export type ExpressionValue =
  | null
  | boolean
  | number
  | string
  | readonly ExpressionValue[]
  | ExpressionDict
  | LazyRecord

/** A dict of plain data; only its own members are ever read. */
export type ExpressionDict = { readonly [key: string]: ExpressionValue }

/** A record whose members are looked up on demand; the only non-plain object an expression may meet. */
export abstract class LazyRecord {
  /** The member of that name, or undefined when there is none. */
  abstract get(key: string): ExpressionValue | undefined

  /** The names of all members, each once. */
  abstract keys(): readonly string[]
}

/** The kinds of value as error messages and the reference name them. */
export type ValueKind = 'null' | 'boolean' | 'number' | 'string' | 'list' | 'dict'

/** The kind of the value, or `unsupported` for what no JSON document can hold (a function, a bigint, …). */
export function kindOf(value: ExpressionValue): ValueKind | 'unsupported' {
  if (value === null) return 'null'
  switch (typeof value) {
    case 'boolean':
    case 'number':
    case 'string':
      return typeof value as 'boolean' | 'number' | 'string'
    case 'object':
      return isList(value) ? 'list' : 'dict'
    default:
      return 'unsupported'
  }
}

/** Says whether the value is a list. */
export function isList(value: ExpressionValue | undefined): value is readonly ExpressionValue[] {
  return Array.isArray(value)
}

/** Says whether the value has named members: a plain record or a lazy one. */
export function isDict(value: ExpressionValue | undefined): value is ExpressionDict | LazyRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The member of that name, or undefined when there is none. Reads own members only, so that neither a prototype
 * nor the `length` of a list or string can be reached.
 */
export function readMember(value: ExpressionValue | undefined, key: string): ExpressionValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  if (value instanceof LazyRecord) return value.get(key)
  return Object.hasOwn(value, key) ? (value as ExpressionDict)[key] : undefined
}

/** The names of the members that are there; a member that is undefined counts as missing. */
export function memberNames(value: ExpressionDict | LazyRecord): readonly string[] {
  const names = value instanceof LazyRecord ? value.keys() : Object.keys(value)
  return names.filter((name) => readMember(value, name) !== undefined)
}

/** An empty dict to fill: without a prototype, so that every key is an ordinary one. */
export function emptyDict(): { [key: string]: ExpressionValue } {
  return Object.create(null) as { [key: string]: ExpressionValue }
}
