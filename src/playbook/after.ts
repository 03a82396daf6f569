import type { AfterFile } from './playbook-schema.ts'

/** What must be complete or skipped before a step opens, in one form whatever the file said. */
export type After =
  | { readonly kind: 'step'; readonly id: string }
  | { readonly kind: 'all' | 'any'; readonly of: readonly After[] }

/** The one form of what a file said; a group of one is that one. */
export function normaliseAfter(after: AfterFile): After {
  if (typeof after === 'string') return { kind: 'step', id: after }
  const [kind, members] = groupOf(after)
  if (members.length === 1) return normaliseAfter(members[0]!)
  return { kind, of: members.map(normaliseAfter) }
}

/** How a file says it, in one spelling for each meaning. */
export function afterToFile(after: After): AfterFile {
  if (after.kind === 'step') return after.id
  const members = after.of.map(afterToFile)
  return after.kind === 'all' ? members : { any: members }
}

/** The steps named anywhere in it, each with the path to where it is named. */
export function stepsNamed(
  after: AfterFile,
  path: readonly (string | number)[],
): { id: string; path: readonly (string | number)[] }[] {
  if (typeof after === 'string') return [{ id: after, path }]
  const [kind, members] = groupOf(after)
  const inside = isList(after) ? path : [...path, kind]
  return members.flatMap((each, index) => stepsNamed(each, [...inside, index]))
}

function groupOf(after: Exclude<AfterFile, string>): ['all' | 'any', readonly AfterFile[]] {
  if (isList(after)) return ['all', after]
  return 'any' in after ? ['any', after.any] : ['all', after.all]
}

function isList(after: AfterFile): after is readonly AfterFile[] {
  return Array.isArray(after)
}
