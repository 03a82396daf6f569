import { expect, test } from 'vitest'
import { programTool } from './program-tool.ts'

test('a tool without a schema takes any argument by name', () => {
  expect(programTool({ name: 'a' })).toEqual({ name: 'a', risk: 'irreversible', parameters: [], open: true })
  expect(programTool({ name: 'a', input: { type: 'object' }, risk: 'read' })).toMatchObject({ open: true })
})

test('a tool that says what it takes takes nothing else', () => {
  const input = { type: 'object', properties: { b: {}, c: {} }, required: ['b'] } as const
  expect(programTool({ name: 'a', input, risk: 'read' })).toEqual({
    name: 'a',
    risk: 'read',
    parameters: ['b', 'c'],
    required: ['b'],
  })
  const none = { type: 'object', additionalProperties: false } as const
  expect(programTool({ name: 'a', input: none })).not.toHaveProperty('open')
})
