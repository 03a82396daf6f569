import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parsePolicyCases } from './policy-case.ts'
import { policyCodes } from './policy-code.ts'
import { policyNames } from './policy-condition.ts'
import { policyJsonSchema } from './policy-json-schema.ts'
import { parsePolicy } from './parse-policy.ts'

const page = readFileSync(new URL('../../docs/reference/policy.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text!)

describe('docs/reference/policy.md', () => {
  it('shows only policies and cases that are right', () => {
    expect(blocks.length).toBeGreaterThan(5)
    for (const text of blocks) {
      const parse = text.startsWith('policy:') ? parsePolicyCases : parsePolicy
      expect(parse(text, { format: 'yaml' }).diagnostics).toEqual([])
    }
  })

  it('names every key, every name in conditions and every code', () => {
    const keys = new Set<string>()
    const visit = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      const { properties } = schema as { properties?: object }
      for (const key of Object.keys(properties ?? {})) keys.add(key)
      Object.values(schema).forEach(visit)
    }
    visit(policyJsonSchema())
    expect(keys.size).toBeGreaterThan(40)
    const missing = [...keys, ...policyNames, ...policyCodes].filter(
      (word) => !new RegExp(`[\`.]${word.replace('$', '\\$')}\\b`).test(page),
    )
    expect(missing).toEqual([])
  })
})
