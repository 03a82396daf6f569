import type { Json } from '../shared/json.ts'

/** Freezes a value all the way down; only for values that nobody else holds. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}

/** A frozen copy of a map with made-up keys; it has no prototype, so that looking up any name finds only entries. */
export function freezeMap<V>(entries: Iterable<readonly [string, V]>): { readonly [key: string]: V } {
  const map: Record<string, V> = Object.create(null)
  for (const [key, value] of entries) map[key] = freeze(value)
  return Object.freeze(map)
}

/** Says whether two JSON values are equal; the order of keys does not matter. */
export function equalJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (one === undefined || other === undefined || Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  return keys.every(
    (key) => Object.hasOwn(other, key) && equalJson((one as never)[key], (other as never)[key]),
  )
}
