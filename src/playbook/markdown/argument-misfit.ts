import type { Callable } from './callables.ts'

/** Why arguments do not fit what is called, or null. */
export function argumentMisfit(
  callable: Callable,
  positional: number,
  named: readonly string[],
): string | null {
  const { parameters, name, required } = callable
  const known = parameters.map((each) => each.name)
  if (callable.open === true)
    return positional === 0
      ? null
      : `nothing says what \`${name}\` takes, so its arguments must be given by name`
  if (positional > known.length) {
    return `\`${name}\` takes ${countOf(known.length)}, and ${positional} are given`
  }
  const strange = named.find((each) => !known.includes(each))
  if (strange !== undefined) return `\`${name}\` has no parameter \`${strange}\``
  const twice = named.find((each) => known.indexOf(each) < positional)
  if (twice !== undefined) return `\`${twice}\` is given to \`${name}\` twice`
  const missing = (required ?? []).filter(
    (each) => known.indexOf(each) >= positional && !named.includes(each),
  )
  return missing.length === 0
    ? null
    : `\`${name}\` needs ${missing.map((each) => `\`${each}\``).join(', ')} too`
}

function countOf(number: number): string {
  return number === 0 ? 'no arguments' : number === 1 ? 'one argument' : `${number} arguments`
}

/** How a call of it is written, for those who wrote another. */
export function signatureOf({ name, parameters, open }: Callable): string {
  if (open === true) return `write such as \`${name}(amount=…)\``
  return `it is \`${name}(${parameters.map((each) => (each.default === undefined ? each.name : `${each.name}=${JSON.stringify(each.default)}`)).join(', ')})\``
}
