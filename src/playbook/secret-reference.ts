/**
 * Secrets as a playbook speaks of them: it says where one is, and at which places of its calls it belongs. What stands in its place until the call is sent is
 * a handle, a text that says nothing (G19).
 */
import type { Json, JsonObject } from '../shared/json.ts'

/** A secret and where in the arguments of a call it belongs. */
export interface PlacedSecret {
  readonly path: readonly (string | number)[]
  readonly name: string
}

/** The text that stands for a secret everywhere but in the call that is sent. */
export function secretHandle(name: string): string {
  return `secret://${name}`
}

/** The secret that a text of an input is as a whole; null for every other text. */
export function secretIn(text: string): string | null {
  return /^\{\s*secrets\.([A-Za-z_][A-Za-z0-9_]*)\s*\}$/.exec(text)?.[1] ?? null
}

/** The value with a handle wherever a text as a whole is a secret; the same value if none is. */
export function withHandles(value: Json): Json {
  if (typeof value === 'string') {
    const name = secretIn(value)
    return name === null ? value : secretHandle(name)
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as JsonObject).map(
    ([key, each]) => [key, withHandles(each), each] as const,
  )
  if (members.every(([, filled, each]) => filled === each)) return value
  return Array.isArray(value)
    ? members.map(([, filled]) => filled)
    : Object.fromEntries(members.map(([key, filled]) => [key, filled]))
}

const kinds: readonly (readonly [kind: string, subject: RegExp, mustBe: string])[] = [
  ['env', /^[A-Za-z_][A-Za-z0-9_]*$/, 'must name a variable, and none of Lockstep itself: env:NAME'],
  ['store', /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/, 'must name a secret of the store: store:NAME'],
  // A run may be taken up in another folder, so a path from some folder would mean another file.
  ['file', /^(?:\/|[A-Za-z]:[\\/])[^{}]*$/s, 'must be the whole path of a file: file:/run/secrets/NAME'],
]

/** The form of a reference, as editors check it. */
export const referencePattern = `^(${kinds.map(([kind, subject]) => `${kind}:${subject.source.slice(1, -1)}`).join('|')})$`

/** What is wrong with a reference to a secret, and what helps; null if nothing is. What is written there is never repeated: it may be a secret. */
export function referenceProblem(
  given: unknown,
): { readonly problem: string; readonly suggestion: string } | null {
  const [, kind = '', subject = ''] = (typeof given === 'string' && /^([a-z]+):(.*)$/s.exec(given)) || []
  if (kind === 'exec') {
    return {
      problem: 'runs a program, and a playbook runs none to have a secret',
      suggestion: 'put what the program prints into the store: `lockstep secret set NAME`, then store:NAME',
    }
  }
  const known = kinds.find(([name]) => name === kind)
  if (known === undefined) {
    return {
      problem: 'must say where the secret is, and not what it is',
      suggestion:
        'put it into the store with `lockstep secret set NAME` and write store:NAME here; or env:NAME, or file:/PATH',
    }
  }
  const [, form, mustBe] = known
  // Lockstep's own variables hold the key of all other secrets.
  const fits = form.test(subject) && !(kind === 'env' && subject.startsWith('LOCKSTEP_'))
  return fits ? null : { problem: mustBe, suggestion: 'correct what follows the colon' }
}
