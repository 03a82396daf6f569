import { expect, test } from 'vitest'
import { compilePolicy } from '../../../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../../../src/policy/parse-policy.ts'
import { parsePolicyCases, runPolicyCase } from '../../../../src/policy/policy-case.ts'
import { checkPolicyText } from '../../editor/check-text.ts'
import { exampleCases, policyTemplate } from './policy-template.ts'

test('the template has no mistakes', () => {
  expect(checkPolicyText(policyTemplate)).toEqual([])
})

test('its test cases come out as they say', () => {
  const policy = compilePolicy(parsePolicy(policyTemplate, { format: 'yaml' }).policy!)
  const file = parsePolicyCases(exampleCases, { format: 'yaml' }).cases!
  expect(file.cases.map((each) => runPolicyCase(file, each, [policy]).differences)).toEqual(
    file.cases.map(() => []),
  )
})
