import { expect, test } from 'vitest'
import { checkPolicyText } from '../../editor/check-text.ts'
import { policyTemplate } from './policy-template.ts'

test('the template has no mistakes', () => {
  expect(checkPolicyText(policyTemplate)).toEqual([])
})
