import { readFileSync } from 'node:fs'
import type { z } from 'zod'
import { describe, expect, it } from 'vitest'
import { parseDocument } from '../document/parse-document.ts'
import { schemaDefinition } from '../playbook/camel-keys.ts'
import { checkConfig } from './config-check.ts'
import { configSchema } from './config-schema.ts'

const page = readFileSync(new URL('../../docs/reference/config.md', import.meta.url), 'utf8')
const settings = readFileSync(new URL('../../docs/reference/settings.md', import.meta.url), 'utf8')
const guide = readFileSync(new URL('../../docs/guide/secrets.md', import.meta.url), 'utf8')

/** Every key the schema knows, wherever it stands. */
function keysOf(schema: z.core.$ZodType): string[] {
  const def = schemaDefinition(schema)
  if (def.type === 'object')
    return Object.entries(def.shape).flatMap(([key, inner]) => [key, ...keysOf(inner)])
  if (def.type === 'array') return keysOf(def.element)
  return def.type === 'record' ? keysOf(def.valueType) : []
}

describe('docs/reference/config.md', () => {
  const examples = [...(page + settings + guide).matchAll(/```yaml config\n([\s\S]*?)```/g)].map(
    (match) => match[1]!,
  )

  it('has examples', () => expect(examples.length).toBeGreaterThan(1))

  it.each(examples)('shows a configuration that is valid:\n%s', (text) => {
    const { document } = parseDocument(text, { format: 'yaml' })
    const options = { spelling: 'file', folder: '/', file: null } as const
    expect(checkConfig(document.value()!, options).problems).toEqual([])
  })

  it('names every key there is', () => {
    const silent = new Set(['$schema', 'type'])
    const missing = keysOf(configSchema).filter(
      (key) => !silent.has(key) && !new RegExp(`\\b${key}\\b`).test(page + settings),
    )
    expect(missing).toEqual([])
  })
})
