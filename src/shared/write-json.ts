import type { Json, JsonObject } from './json.ts'
import { knownJson } from './known-json.ts'

/** JSON as text: with its members in the order they have, and in the one order of canonical JSON (RFC 8785). */
export interface JsonText {
  readonly text: string
  readonly canonical: string
}

/** Writes plain JSON both ways at once. Only for values that were copied by `toJson`: nothing about them is checked. */
export function writeJson(value: Json): JsonText {
  const text = write(value)
  return { text, canonical: other ?? text }
}

/** The canonical text of what was written last; null where it is the same text. */
let other: string | null = null

function write(value: Json): string {
  if (typeof value === 'object' && value !== null) {
    const known = knownJson(value)
    if (known === undefined)
      return Array.isArray(value) ? writeList(value as readonly Json[]) : writeObject(value as JsonObject)
    other = known.canonical === known.text ? null : known.canonical
    return known.text
  }
  other = null
  return typeof value === 'string' ? writeText(value) : String(value)
}

function writeList(list: readonly Json[]): string {
  let text = '['
  let canonical: string | null = null
  for (let index = 0; index < list.length; index++) {
    if (index > 0) text += ','
    if (index > 0 && canonical !== null) canonical += ','
    const item = write(list[index]!)
    if (canonical === null && other !== null) canonical = text
    text += item
    if (canonical !== null) canonical += other ?? item
  }
  other = canonical === null ? null : `${canonical}]`
  return `${text}]`
}

function writeObject(object: JsonObject): string {
  const keys = Object.keys(object)
  if (!isSorted(keys)) return writeUnsorted(object, keys)
  let text = '{'
  let canonical: string | null = null
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!
    const name = index === 0 ? writeName(key) : writeNextName(key)
    const member = write(object[key]!)
    if (canonical === null && other !== null) canonical = text
    text = text + name + member
    if (canonical !== null) canonical = canonical + name + (other ?? member)
  }
  other = canonical === null ? null : `${canonical}}`
  return `${text}}`
}

function writeUnsorted(object: JsonObject, keys: readonly string[]): string {
  let text = '{'
  const members: string[] = []
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!
    const member = write(object[key]!)
    members.push(other ?? member)
    text = text + (index === 0 ? writeName(key) : writeNextName(key)) + member
  }
  // Sorting strings compares UTF-16 units, which is what the RFC asks for.
  const sorted = keys.toSorted()
  let canonical = '{'
  for (let index = 0; index < sorted.length; index++) {
    const key = sorted[index]!
    canonical = canonical + (index === 0 ? writeName(key) : writeNextName(key)) + members[keys.indexOf(key)]!
  }
  other = `${canonical}}`
  return `${text}}`
}

function isSorted(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index++) if (keys[index]! < keys[index - 1]!) return false
  return true
}

/** Members have few names, and each many times. */
const names = new Map<string, string>()
const nextNames = new Map<string, string>()
/** What users write may have members of any name. */
const mostNames = 2_000

function writeName(key: string): string {
  return names.get(key) ?? remember(names, key, `${writeText(key)}:`)
}

function writeNextName(key: string): string {
  return nextNames.get(key) ?? remember(nextNames, key, `,${writeText(key)}:`)
}

function remember(known: Map<string, string>, key: string, name: string): string {
  if (known.size < mostNames) known.set(key, name)
  return name
}

/** Text that stands in JSON as it is, which most text does. */
const plain = /^[ !#-[\]-~]*$/

function writeText(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}
