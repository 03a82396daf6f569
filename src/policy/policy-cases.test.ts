import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkPolicy } from './check-policy.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide } from './decide.ts'
import { parsePolicyCases, runPolicyCase } from './policy-case.ts'
import type { PolicyReference } from './policy-case-schema.ts'

const folder = new URL('../../test/cases/policy/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

test('there are cases', () => {
  expect(files.length).toBeGreaterThan(8)
})

describe.each(files)('%s', (name) => {
  const { cases: file, diagnostics } = parsePolicyCases(readFileSync(new URL(name, folder), 'utf8'), {
    format: 'yaml',
    file: name,
  })
  expect(diagnostics).toEqual([])

  test.each(file!.cases.map((each) => [each.name, each] as const))('%s', (_, each) => {
    const given = each.policy ?? file!.policy ?? []
    const references: readonly PolicyReference[] = Array.isArray(given) ? given : [given]
    const policies = references.map((value) => {
      const { policy, problems } = checkPolicy(value)
      expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
      return compilePolicy(policy!)
    })
    const { differences, explanation } = runPolicyCase(file!, each, policies)
    expect(differences).toEqual([])
    expect(explanation.rules.length).toBe(
      explanation.decision.code === 'policy_error' && explanation.decision.rule === null
        ? 0
        : policies.flatMap((policy) => policy.rules).length || (policies.length === 0 ? 1 : 0),
    )
  })
})

test('a decision is plain data', () => {
  const decision = decide([], null as never, null as never)
  expect(JSON.parse(JSON.stringify(decision))).toEqual(decision)
})
