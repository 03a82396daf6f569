/** The part of an id that people tell it by: what stands before the first dash of a long one. */
export function shortId(id: string): string {
  return /^(\w+_[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f-]{22}$/.exec(id)?.[1] ?? id
}
