import type { LanguageModelV4 } from '@ai-sdk/provider'

/** What every service takes as the name of a tool. */
const plain = /^[A-Za-z0-9_-]{1,64}$/

/** Models that are no service, and take any name as it is. */
const own: ReadonlySet<string> = new Set(['scripted', 'person'])

/** Names of tools as a service takes them, and back. */
export interface WireNames {
  /** The name that the service is told. */
  readonly encode: (name: string) => string
  /** The name that the service meant; one that it made up stays as it is, for the gate to refuse. */
  readonly decode: (name: string) => string
}

/** Gives each tool a name that services take, one for each, the same as long as the list is: `crm/look.up` is told as `crm__look_up`. */
export function wireNames(names: Iterable<string>, model: Pick<LanguageModelV4, 'provider'>): WireNames {
  const known = [...names]
  const taken = new Map(known.filter((name) => plain.test(name)).map((name) => [name, name]))
  const told = new Map<string, string>()
  for (const name of known) {
    if (plain.test(name)) continue
    const base = name
      .replaceAll('/', '__')
      .replaceAll(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, 60)
    let wire = base
    for (let number = 2; taken.has(wire); number++) wire = `${base}_${number}`
    taken.set(wire, name)
    told.set(name, wire)
  }
  const asItIs = told.size === 0 || own.has(model.provider)
  const encode = (name: string) => (asItIs ? name : (told.get(name) ?? name))
  return {
    encode,
    decode: (name) => taken.get(name) ?? name,
  }
}
