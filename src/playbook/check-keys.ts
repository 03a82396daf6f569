import type { z } from 'zod'
import type { DocumentPath } from '../document/diagnostic.ts'
import type { Report } from '../document/problem.ts'
import { type Json, isJsonObject } from '../shared/json.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { camelKey, schemaDefinition, snakeKey } from './camel-keys.ts'
import { stepSchema } from './playbook-schema.ts'
import { type Spelling, type Wording, clip } from './wording.ts'

/** Keys that belong to what is not built yet: refused, never accepted and ignored. */
const laterKeys: { readonly step: ReadonlySet<string>; readonly playbook: ReadonlySet<string> } = {
  step: new Set(
    'call playbook set else while until say ask wait return end steps secrets outputs'.split(' '),
  ),
  playbook: new Set('policy policies triggers variables outputs budget budgets imports locks'.split(' ')),
}

/** Words people bring along from elsewhere, and what they are called here, of a playbook or of a step. */
const otherWords: Readonly<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  tools: ['expected_tools'],
  allowed_tools: ['expected_tools'],
  depends_on: ['after'],
  needs: ['after'],
  condition: ['when'],
  if: ['when'],
  timeout: ['timeout_seconds'],
  max_calls: ['max_tool_calls'],
  optional: ['required'],
  title: ['name'],
  instructions: ['description'],
  parameters: ['inputs', 'input'],
  params: ['inputs', 'input'],
  args: ['input'],
  with: ['input'],
  action: ['tool'],
  uses: ['tool'],
  approval: ['requires_approval'],
  approvers: ['required_roles'],
  roles: ['required_roles'],
  rollback: ['compensate'],
  undo: ['compensate'],
  compensation: ['compensate'],
  retries: ['retry'],
  check: ['verify'],
  loop: ['foreach'],
  with_items: ['foreach'],
  for_each: ['foreach'],
  max_parallel: ['concurrency'],
  on_error: ['on_failure'],
})

/**
 * Reports every key that the schema does not know, and returns the value in the spelling of files without them. It
 * descends along the schema, so names that users make up are left alone.
 */
export function checkKeys(
  value: Json,
  schema: z.core.$ZodType,
  context: { spelling: Spelling; report: Report; wording: Wording },
): Json {
  const { spelling, report, wording } = context

  const visit = (value: Json, schema: z.core.$ZodType, path: DocumentPath): Json => {
    const def = schemaDefinition(schema)
    if (def.type === 'array' && Array.isArray(value)) {
      return value.map((item, index) => visit(item, def.element, [...path, index]))
    }
    if (!isJsonObject(value)) return value
    switch (def.type) {
      case 'object':
        return visitObject(
          value,
          def.shape,
          def === schemaDefinition(stepSchema) ? 'step' : path.length === 0 ? 'playbook' : null,
          path,
        )
      case 'record': {
        const copy: Record<string, Json> = Object.create(null)
        for (const [key, entry] of Object.entries(value)) {
          if (key === '__proto__')
            report('unknown_key', [...path, key], 'the name `__proto__` is not allowed', { at: 'key' })
          else copy[key] = visit(entry, def.valueType, [...path, key])
        }
        return copy
      }
      case 'union': {
        const objects = def.options.filter((option) => schemaDefinition(option).type === 'object')
        return objects.length === 1 ? visit(value, objects[0]!, path) : value
      }
      default:
        return value
    }
  }

  const visitObject = (
    value: Readonly<Record<string, Json>>,
    shape: Readonly<Record<string, z.core.$ZodType>>,
    kind: 'step' | 'playbook' | null,
    path: DocumentPath,
  ): Json => {
    const known = knownKeys(shape, spelling)
    const copy: Record<string, Json> = Object.create(null)
    for (const [key, entry] of Object.entries(value)) {
      const name = known.get(key)
      if (name === undefined) reportUnknown(key, known, kind, path)
      else copy[name] = visit(entry, shape[name]!, [...path, name])
    }
    return copy
  }

  const reportUnknown = (
    key: string,
    known: ReadonlyMap<string, string>,
    kind: 'step' | 'playbook' | null,
    path: DocumentPath,
  ): void => {
    const place = wording.place(path)
    const snake = snakeKey(key)
    if (kind !== null && laterKeys[kind].has(snake)) {
      report('not_available', [...path, key], `\`${key}\` (in ${place}) is not available in this version`, {
        at: 'key',
      })
      return
    }
    const meant = (name: string) => [...known].find(([, file]) => file === name)?.[0] ?? null
    const [brought] = (otherWords[snake] ?? []).filter((word) => meant(word) !== null)
    const nearest = meant(snake) ?? meant(brought ?? '') ?? nearestName(key, known.keys())
    const suggestion =
      nearest === null ? `the keys here are ${[...known.keys()].join(', ')}` : `did you mean \`${nearest}\`?`
    report('unknown_key', [...path, key], `unknown key \`${clip(key)}\` in ${place}`, {
      at: 'key',
      suggestion,
    })
  }

  return visit(value, schema, [])
}

const keysOf: Record<Spelling, WeakMap<object, ReadonlyMap<string, string>>> = {
  file: new WeakMap(),
  code: new WeakMap(),
}

/** The keys of an object as the author spells them, each with its spelling in files; worked out once per schema. */
function knownKeys(
  shape: Readonly<Record<string, unknown>>,
  spelling: Spelling,
): ReadonlyMap<string, string> {
  const known = keysOf[spelling].get(shape)
  if (known !== undefined) return known
  const keys = new Map(Object.keys(shape).map((key) => [spelling === 'code' ? camelKey(key) : key, key]))
  keysOf[spelling].set(shape, keys)
  return keys
}
