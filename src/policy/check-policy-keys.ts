import type { z } from 'zod'
import type { DocumentPath } from '../document/diagnostic.ts'
import type { Report } from '../document/problem.ts'
import { schemaDefinition } from '../playbook/camel-keys.ts'
import { type Wording, clip } from '../playbook/wording.ts'
import { type Json, isJsonObject } from '../shared/json.ts'
import { nearestName } from '../shared/nearest-name.ts'

/** What is refused because it is not built, with what there is instead. */
const later: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  zone: 'write the offset from UTC: `offset: "+01:00"`',
  timezone: 'write the offset from UTC: `offset: "+01:00"`',
  tz: 'write the offset from UTC: `offset: "+01:00"`',
  escalation: 'name everybody who may approve in `required_roles`',
})

/** Words people bring along from elsewhere, and what they are called here. */
const otherWords: Readonly<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  allowlist: ['tool_allowlist'],
  tools: ['tool'],
  steps: ['step'],
  roles: ['required_roles'],
  if: ['when'],
  condition: ['when', 'require'],
  action: ['then'],
  effect: ['then'],
  name: ['id'],
  reason: ['message'],
  quorum: ['count'],
  min_approvals: ['count'],
  timeout: ['expires_after'],
  expiry: ['expires_after'],
  start: ['from'],
  end: ['to'],
  until: ['to'],
  window: ['per', 'weekly'],
  freeze_windows: ['freeze'],
  max: ['max_calls'],
})

/** Reports every key that the schema does not know, and returns the value without them. */
export function checkPolicyKeys(
  value: Json,
  schema: z.core.$ZodType,
  context: { readonly report: Report; readonly wording: Wording },
): Json {
  const { report, wording } = context
  const visit = (given: Json, expected: z.core.$ZodType, path: DocumentPath): Json => {
    const def = schemaDefinition(expected)
    if (def.type === 'array' && Array.isArray(given)) {
      return given.map((item, index) => visit(item, def.element, [...path, index]))
    }
    if (!isJsonObject(given) || (def.type !== 'object' && def.type !== 'record')) return given
    const copy: Record<string, Json> = Object.create(null)
    for (const [key, entry] of Object.entries(given)) {
      const inside = [...path, key]
      if (def.type === 'record') {
        if (key === '__proto__')
          report('unknown_key', inside, 'the name `__proto__` is not allowed', { at: 'key' })
        else copy[key] = visit(entry, def.valueType, inside)
      } else if (Object.hasOwn(def.shape, key)) copy[key] = visit(entry, def.shape[key]!, inside)
      else refuse(key, Object.keys(def.shape), path)
    }
    return copy
  }

  const refuse = (key: string, known: readonly string[], path: DocumentPath): void => {
    const place = wording.place(path)
    const instead = later[key]
    if (instead !== undefined) {
      const message = `\`${key}\` (in ${place}) is not available in this version`
      report('not_available', [...path, key], message, { at: 'key', suggestion: instead })
      return
    }
    const meant = otherWords[key]?.find((name) => known.includes(name)) ?? nearestName(key, known)
    const suggestion = meant === null ? `the keys here are ${known.join(', ')}` : `did you mean \`${meant}\`?`
    report('unknown_key', [...path, key], `unknown key \`${clip(key)}\` in ${place}`, {
      at: 'key',
      suggestion,
    })
  }

  return visit(value, schema, [])
}
