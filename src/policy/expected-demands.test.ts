import { expect, test } from 'vitest'
import { compilePolicy } from './compile-policy.ts'
import { expectedDemands } from './expected-demands.ts'
import { parsePolicy } from './parse-policy.ts'

function expected(text: string, call: Partial<Parameters<typeof expectedDemands>[1]> = {}) {
  const policy = compilePolicy(parsePolicy(`id: p\n${text}`, { format: 'yaml' }).policy!)
  return expectedDemands([policy], { tool: 'pay', step: 'pay', risk: 'irreversible', ...call }).map(
    ({ demand, certain }) => `${demand.rule} ${certain ? 'will' : 'may'}`,
  )
}

test.each([
  ['', ['risk.irreversible will']],
  ['risk: { irreversible: allow }', []],
  ['approvals: [{ tool: pay }]', ['approvals#1 will']],
  ['approvals: [{ tool: other }]', ['risk.irreversible will']],
  ['approvals: [{ step: other }]\nrisk: { irreversible: allow }', []],
  ['approvals: [{ tool: pay, when: args.amount > 5 }]\nrisk: { irreversible: allow }', ['approvals#1 may']],
  ['approvals: [{ tool: pay, when: args.amount > 5 }]', ['approvals#1 may', 'risk.irreversible may']],
  ['preconditions: [{ tool: pay, then: allow }]', []],
  ['preconditions: [{ tool: pay, then: require_approval }]', ['preconditions#1 will']],
  ['preconditions: [{ when: args.small, then: allow }]', ['risk.irreversible may']],
  ['preconditions: [{ tool: pay, then: block }]', []],
])('%j asks for %j', (text, demands) => {
  expect(expected(text)).toEqual(demands)
})

test('a call that only reads is asked for where the policy says so', () => {
  expect(expected('', { risk: 'read' })).toEqual([])
  expect(expected('risk: { read: require_approval }', { risk: 'read' })).toEqual(['risk.read will'])
  expect(expected('', { risk: null })).toEqual(['risk.irreversible will'])
})
