import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'

/** A JSON Schema, as far as completion reads it. */
export type Schema = { readonly [key: string]: unknown }

/** What can be written at a place of a YAML text, as a schema says: keys that are not there yet, and values of a closed list. */
export function completeFromSchema(schema: Schema) {
  return (context: CompletionContext): CompletionResult | null => {
    const { text, from } = context.state.doc.lineAt(context.pos)
    const before = text.slice(0, context.pos - from)
    const above = context.state.doc.sliceString(0, from).split('\n')
    const value = /^(\s*(?:- +)*)([\w$-]+): +([\w-]*)$/.exec(before)
    if (value !== null) {
      const [, indent, key, typed] = value as unknown as [string, string, string, string]
      const parent = walk(
        schema,
        [...pathOf(above, indent.length), ...(indent.includes('-') ? ['[]'] : []), key],
        schema,
      )
      const options = valuesOf(parent, schema)
      return options.length === 0 ? null : { from: context.pos - typed.length, options }
    }
    const started = /^(\s*(?:- +)*)([\w$-]*)$/.exec(before)
    if (started === null || (started[2] === '' && !context.explicit)) return null
    const [, indent, typed] = started as unknown as [string, string, string]
    const path = [...pathOf(above, indent.replace(/-/g, ' ').length), ...(indent.includes('-') ? ['[]'] : [])]
    const options = keysOf(walk(schema, path, schema), schema)
    return options.length === 0 ? null : { from: context.pos - typed.length, options }
  }
}

/** The keys that lead to a line with the given indentation, from the lines above it; an item of a list is `[]`. */
export function pathOf(lines: readonly string[], indentation: number): string[] {
  const path: string[] = []
  let least = indentation
  for (const line of lines.toReversed()) {
    const key = /^(\s*)((?:- +)*)([\w$-]+):/.exec(line)
    if (key === null) continue
    const [, space, dashes, name] = key as unknown as [string, string, string, string]
    const column = space.length + dashes.length
    // A key of the same item: the item itself is on the way.
    if (column === least && dashes !== '' && path[0] !== '[]') {
      path.unshift('[]')
      least = space.length
      continue
    }
    if (column >= least && !(dashes === '' && column === least && path[0] === '[]')) continue
    path.unshift(name)
    least = space.length
    if (dashes !== '') path.unshift('[]')
    if (least === 0 && dashes === '') break
  }
  return path
}

function walk(schema: Schema, path: readonly string[], root: Schema): readonly Schema[] {
  let here = alternatives(schema, root)
  for (const key of path) {
    here = here.flatMap((each) => {
      const next =
        key === '[]'
          ? each['items']
          : ((each['properties'] as Schema | undefined)?.[key] ?? each['additionalProperties'])
      return typeof next === 'object' && next !== null ? alternatives(next as Schema, root) : []
    })
  }
  return here
}

/** A schema with everything it may stand for. */
function alternatives(schema: Schema, root: Schema, depth = 0): readonly Schema[] {
  if (depth > 8) return []
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const found = reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], root)
    return typeof found === 'object' && found !== null ? alternatives(found as Schema, root, depth + 1) : []
  }
  const more = ['anyOf', 'oneOf', 'allOf'].flatMap(
    (key) => (schema[key] as readonly Schema[] | undefined) ?? [],
  )
  return [schema, ...more.flatMap((each) => alternatives(each, root, depth + 1))]
}

function keysOf(schemas: readonly Schema[], root: Schema): Completion[] {
  const keys = new Map<string, Completion>()
  for (const { properties } of schemas) {
    for (const [name, schema] of Object.entries((properties ?? {}) as Record<string, Schema>)) {
      const described = alternatives(schema, root).find(({ description }) => typeof description === 'string')
      const info = described?.['description'] ?? schema['description']
      keys.set(name, {
        label: name,
        type: 'property',
        apply: `${name}: `,
        ...(typeof info === 'string' ? { info } : {}),
      })
    }
  }
  return [...keys.values()]
}

function valuesOf(schemas: readonly Schema[], root: Schema): Completion[] {
  const values = schemas
    .flatMap((schema) => alternatives(schema, root))
    .flatMap((schema) => [
      ...((schema['enum'] as readonly unknown[] | undefined) ?? []),
      ...('const' in schema ? [schema['const']] : []),
      ...(schema['type'] === 'boolean' ? [true, false] : []),
    ])
  return [...new Set(values.map(String))].map((label) => ({ label, type: 'enum' }))
}
