import { expect, test } from 'vitest'
import { fieldsOf, readFields } from './read-fields.ts'

const schema = {
  type: 'object',
  properties: {
    node: { type: 'string', description: 'The node.' },
    count: { type: 'integer', default: 2 },
    force: { type: 'boolean' },
    zone: { type: 'string', enum: ['a', 'b'] },
    labels: { type: 'array' },
  },
  required: ['node', 'count'],
}

test('asks for every input, in its order; what has a default need not be given', () => {
  expect(
    fieldsOf(schema).map(({ name, kind, required, initial }) => [name, kind, required, initial]),
  ).toEqual([
    ['node', 'text', true, ''],
    ['count', 'integer', false, '2'],
    ['force', 'boolean', false, ''],
    ['zone', 'choice', false, ''],
    ['labels', 'json', false, ''],
  ])
})

test('reads what was typed as the schema wants it', () => {
  const values = { node: 'node-7', count: '3', force: 'true', zone: 'b', labels: '["x"]' }
  expect(readFields(schema, values)).toEqual({
    inputs: { node: 'node-7', count: 3, force: true, zone: 'b', labels: ['x'] },
    problems: {},
  })
})

test('says what is missing and what has the wrong form, and leaves out what need not be given', () => {
  const { inputs, problems } = readFields(schema, { count: '1.5', labels: '[' })
  expect(Object.keys(problems)).toEqual(['node', 'count', 'labels'])
  expect(inputs).toEqual({ force: false })
})
