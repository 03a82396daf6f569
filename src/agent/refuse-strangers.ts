import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'

/** Throws `usage` for what is no set of options, and for an option that would do nothing (G12). */
export function refuseStrangers(what: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new LockstepError('usage', `${what} takes its options as an object, not ${describeKind(given)}.`)
  }
  const stranger = Object.keys(given).find((name) => !known.includes(name))
  if (stranger === undefined) return
  const nearest = nearestName(stranger, known)
  throw new LockstepError('usage', `${what} has no option '${stranger}'.`, {
    hint: nearest === null ? `It has ${known.join(', ')}.` : `Did you mean '${nearest}'?`,
  })
}

/** What a value is, in a word or two. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'string') return `the text '${value}'`
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
