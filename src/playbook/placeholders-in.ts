import type { DocumentPath } from '../document/diagnostic.ts'
import type { Json } from '../shared/json.ts'

/** The places inside a value of the texts that are filled in when a call is made: those with a brace that is not written twice. */
export function placeholdersIn(value: Json, path: DocumentPath = []): readonly DocumentPath[] {
  if (typeof value === 'string') return /(^|[^{])(\{\{)*\{(?!\{)/.test(value) ? [path] : []
  if (typeof value !== 'object' || value === null) return []
  const inside = Array.isArray(value) ? value.entries() : Object.entries(value)
  return [...inside].flatMap(([key, each]) => placeholdersIn(each as Json, [...path, key]))
}
