import { parseArgs } from 'node:util'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'

/** The flags a command knows: with a value from a list (`later` has a name already, and is for the command to refuse), with any value, with any value and often, or without one. */
export type FlagRules = Readonly<
  Record<
    string,
    | { readonly values: readonly string[]; readonly later?: readonly string[] }
    | { readonly value: string; readonly often?: boolean }
    | 'switch'
  >
>

/** What a command was called with; of a flag that may stand often, `lists` has every value. */
export type Flags = {
  readonly names: readonly string[]
  readonly flags: ReadonlyMap<string, string>
  readonly lists: ReadonlyMap<string, readonly string[]>
}

/** Sorts arguments into names and flags. Throws `usage` for a flag or a value the command does not know. */
export function readFlags(args: readonly string[], rules: FlagRules): Flags {
  const options = Object.fromEntries(
    Object.entries(rules).map(([name, rule]) => [
      name,
      { type: rule === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const names: string[] = []
  const flags = new Map<string, string>()
  const lists = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (token.value === '') throw new LockstepError('usage', 'an argument is empty')
      names.push(token.value)
    }
    if (token.kind !== 'option') continue
    const rule = Object.hasOwn(rules, token.name) ? rules[token.name]! : undefined
    if (rule === undefined)
      throw unknown(
        'option',
        token.rawName,
        Object.keys(rules).map((name) => (name.length === 1 ? `-${name}` : `--${name}`)),
      )
    if (rule === 'switch') {
      if (token.value !== undefined) throw new LockstepError('usage', `${token.rawName} takes no value`)
      flags.set(token.name, '')
      continue
    }
    const choices = 'values' in rule ? rule.values.join(', ') : rule.value
    if (token.value === undefined || token.value === '' || token.value.startsWith('-'))
      throw new LockstepError('usage', `${token.rawName} needs a value: ${choices}`)
    if ('values' in rule && ![...rule.values, ...(rule.later ?? [])].includes(token.value))
      throw unknown(`value for ${token.rawName}:`, token.value, rule.values)
    const often = 'value' in rule && rule.often === true
    if (!often && flags.has(token.name))
      throw new LockstepError('usage', `${token.rawName} can stand only once`)
    flags.set(token.name, token.value)
    lists.set(token.name, [...(lists.get(token.name) ?? []), token.value])
  }
  return { names, flags, lists }
}

/** The error for a word that is not known, with the nearest one that is. */
export function unknown(what: string, given: string, known: readonly string[]): LockstepError {
  const nearest = nearestName(given, known)
  const others = known.length === 0 ? 'there are none' : `known: ${known.join(', ')}`
  const hint = nearest === null ? others : `did you mean ${nearest}?`
  return new LockstepError('usage', `unknown ${what} ${given}`, { hint })
}
