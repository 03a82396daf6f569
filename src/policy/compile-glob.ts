import { matchesName } from '../playbook/match-name.ts'

/** Says whether a name fits. */
export type NameTest = (name: string) => boolean

/** Prepares a pattern in which `*` stands for any run of characters; agrees with `matchesName`. */
export function compileGlob(pattern: string): NameTest {
  const parts = pattern.split('*')
  if (parts.length === 1) return (name) => name === pattern
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (parts.length > 2) return (name) => matchesName(pattern, name)
  if (last === '') return first === '' ? () => true : (name) => name.startsWith(first)
  return (name) => name.length >= first.length + last.length && name.startsWith(first) && name.endsWith(last)
}

/** Says whether one pattern fits every name that the other fits; may say no where that is hard to see, never yes wrongly. */
export function coversGlob(wide: string, narrow: string): boolean {
  // A star of the narrow one can only be met by a star of the wide one, which then takes whatever it stands for.
  return matchesName(wide, narrow)
}

/** Says whether there may be a name that both patterns fit; may say yes where there is none. */
export function mayMeet(one: string, other: string): boolean {
  if (!one.includes('*')) return matchesName(other, one)
  if (!other.includes('*')) return matchesName(one, other)
  const [a, b] = [one.split('*'), other.split('*')]
  const [head, otherHead, tail, otherTail] = [a[0]!, b[0]!, a.at(-1)!, b.at(-1)!]
  const headsMeet = head.startsWith(otherHead) || otherHead.startsWith(head)
  return headsMeet && (tail.endsWith(otherTail) || otherTail.endsWith(tail))
}
