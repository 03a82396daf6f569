import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from './tool.ts'
import { ToolFailure } from './tool-failure.ts'
import { ToolRegistry } from './tool-registry.ts'

const plain = (name: string) => tool({ name, description: name, execute: () => name })

describe('tool', () => {
  it('counts as irreversible, neither idempotent nor limited, unless declared', () => {
    expect(plain('pay')).toMatchObject({
      name: 'pay',
      input: null,
      risk: 'irreversible',
      idempotent: false,
      secrets: [],
      timeoutSeconds: null,
      maxResultBytes: null,
      target: null,
      reconcile: null,
      dryRun: null,
      compensate: null,
      cancel: null,
    })
  })

  it('is frozen', () => {
    expect(Object.isFrozen(plain('pay'))).toBe(true)
    expect(() => ((plain('pay') as { risk: string }).risk = 'read')).toThrow(TypeError)
  })

  it('checks arguments by its JSON Schema, and takes any without one', () => {
    const pay = tool({
      name: 'pay',
      description: 'Pay',
      input: { type: 'object', properties: { amount: { type: 'number', minimum: 1 } }, required: ['amount'] },
      execute: () => 1,
    })
    expect(pay.checkArguments({ amount: 5 })).toEqual([])
    expect(pay.checkArguments({ amount: 0 })[0]).toContain('amount')
    expect(pay.checkArguments({})).toHaveLength(1)
    expect(plain('look').checkArguments({ anything: [1] })).toEqual([])
  })

  it('takes the schema of a library that can say what it is as JSON Schema', () => {
    const pay = tool<{ amount: number; to?: string | undefined }>({
      name: 'pay',
      description: 'Pay',
      input: z.object({ amount: z.number().min(1), to: z.string().optional() }),
      execute: ({ amount }) => amount,
    })
    expect(pay.input).toMatchObject({ type: 'object', required: ['amount'] })
    expect(pay.checkArguments({ amount: 5 })).toEqual([])
    expect(pay.checkArguments({ amount: 0 })).toHaveLength(1)
    expect(pay.checkArguments({ to: 'x' })).toHaveLength(1)
  })

  it('refuses a schema that cannot be written as JSON Schema', () => {
    const input = z.object({ when: z.date() })
    expect(() => tool({ name: 'a', description: 'A', input, execute: () => 1 })).toThrow(
      expect.objectContaining({ code: 'invalid_tool' }),
    )
  })

  it.each<[string, object]>([
    ['no name', { name: '' }],
    ['a name with a space', { name: 'pay now' }],
    ['a name beginning with a dot', { name: '.pay' }],
    ['a name of 129 characters', { name: 'a'.repeat(129) }],
    ['a name in another alphabet', { name: 'рay' }],
    ['an empty description', { description: '' }],
    ['nothing to execute', { execute: undefined }],
    ['a text to execute', { execute: 'rm -rf' }],
    ['a risk nobody knows', { risk: 'safe' }],
    ['a time of 0', { timeoutSeconds: 0 }],
    ['an endless time', { timeoutSeconds: Infinity }],
    ['a negative size', { maxResultBytes: -1 }],
    ['a key nobody knows', { retries: 3 }],
    ['an input that is no schema', { input: { type: 'nonsense' } }],
    ['a text for an input', { input: 'object' }],
  ])('refuses %s', (_, fields) => {
    expect(() => tool({ name: 'pay', description: 'Pay', execute: () => 1, ...fields } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_tool' }),
    )
  })

  it('names every problem at once, and the tool', () => {
    expect(() => tool({ name: 'pay', description: '', risk: 'safe', execute: 1 } as never)).toThrow(
      /'pay'.*description.*risk.*execute/,
    )
  })

  it.each([null, undefined, 5, 'pay', []])('refuses %j as a declaration', (definition) => {
    expect(() => tool(definition as never)).toThrow(expect.objectContaining({ code: 'invalid_tool' }))
  })
})

describe('ToolRegistry', () => {
  it('finds tools by name, in the order in which they were added', () => {
    const registry = new ToolRegistry([plain('b'), plain('a')])
    registry.add(plain('c'))
    expect(registry.names).toEqual(['b', 'a', 'c'])
    expect(registry.get('a')?.name).toBe('a')
    expect(registry.has('a')).toBe(true)
    expect(registry.get('x')).toBeNull()
    expect(Array.from(registry, ({ name }) => name)).toEqual(['b', 'a', 'c'])
  })

  it.each(['constructor', '__proto__', 'toString'])('has no tool %s that nobody added', (name) => {
    expect(new ToolRegistry([plain('a')]).has(name)).toBe(false)
  })

  it('refuses two tools of one name, at the start and later', () => {
    const duplicate = expect.objectContaining({ code: 'duplicate_tool' })
    expect(() => new ToolRegistry([plain('a'), plain('a')])).toThrow(duplicate)
    const registry = new ToolRegistry([plain('a')])
    expect(() => registry.add(plain('a'))).toThrow(duplicate)
    expect(registry.names).toEqual(['a'])
  })

  it('knows the name that was probably meant', () => {
    const registry = new ToolRegistry([plain('lookup_order'), plain('pay')])
    expect(registry.nearest('lookup_ordr')).toBe('lookup_order')
    expect(registry.nearest('something else')).toBeNull()
  })
})

describe('ToolFailure', () => {
  it('is a LockstepError that may be tried again, with a hint and a cause', () => {
    const cause = new Error('404')
    expect(new ToolFailure('no such order', { hint: 'look it up', cause })).toMatchObject({
      name: 'ToolFailure',
      code: 'tool_failed',
      consequence: 'retry',
      message: 'no such order',
      hint: 'look it up',
      cause,
    })
  })
})
