import { describe, expect, it } from 'vitest'
import { Playbook } from '../playbook/playbook.ts'
import { checkInputs } from './check-inputs.ts'

const playbook = new Playbook({
  id: 'p',
  name: 'P',
  inputs: {
    customer: 'string',
    amount: { type: 'number', default: 10, schema: { minimum: 1 } },
    channel: { type: 'string', enum: ['mail', 'phone'], required: false },
    tags: { type: 'array', required: false },
  },
})

const problem = (given: unknown) => {
  try {
    checkInputs(playbook, given)
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_input' })
    return (error as Error).message
  }
  return null
}

describe('checkInputs', () => {
  it('fills defaults in and leaves out what is neither given nor needed', () => {
    expect({ ...checkInputs(playbook, { customer: 'C-1' }) }).toEqual({ customer: 'C-1', amount: 10 })
  })

  it('takes every value that fits', () => {
    const given = { customer: 'C-1', amount: 5, channel: 'mail', tags: ['a'] }
    expect({ ...checkInputs(playbook, given) }).toEqual(given)
  })

  it('copies and freezes, so that nobody changes the inputs of a run', () => {
    const tags = ['a']
    const inputs = checkInputs(playbook, { customer: 'C-1', tags })
    tags.push('b')
    expect(inputs['tags']).toEqual(['a'])
    expect(() => ((inputs as { customer: string }).customer = 'C-2')).toThrow(TypeError)
    expect(() => (inputs['tags'] as string[]).push('c')).toThrow(TypeError)
  })

  it.each<[string, unknown, RegExp]>([
    ['a missing one', {}, /'customer' is missing/],
    ['a wrong type', { customer: 5 }, /'customer': .*string/],
    ['one outside its list', { customer: 'x', channel: 'fax' }, /'channel'/],
    ['one that does not fit its schema', { customer: 'x', amount: 0 }, /'amount'/],
    ['one that does not exist', { customer: 'x', colour: 1 }, /no input 'colour'/],
    ['a typing error', { custmer: 'x' }, /did you mean 'customer'/],
    ['a list', [], /must be an object/],
    ['a text', 'x', /must be an object/],
    ['a function', { customer: () => 1 }, /cannot be read/],
    ['__proto__', JSON.parse('{"customer":"x","__proto__":1}'), /no input '__proto__'/],
    ['constructor', { customer: 'x', constructor: 1 }, /no input 'constructor'/],
  ])('refuses %s', (_, given, message) => {
    expect(problem(given)).toMatch(message)
  })

  it('names every problem at once', () => {
    expect(problem({ amount: 0, channel: 'fax', x: 1 })).toMatch(
      /'x'.*'customer' is missing.*'amount'.*'channel'/,
    )
  })

  it('takes nothing as no inputs', () => {
    const free = new Playbook({ id: 'p', name: 'P' })
    expect({ ...checkInputs(free, undefined) }).toEqual({})
    expect({ ...checkInputs(free, null) }).toEqual({})
  })
})
