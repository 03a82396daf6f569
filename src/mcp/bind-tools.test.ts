import { expect, test } from 'vitest'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { tool, type Tool } from '../tool/tool.ts'
import { bindTools } from './bind-tools.ts'

function made(...names: string[]): Tool[] {
  return names.map((name) => tool({ name, description: name, execute: () => null }))
}

function playbook(expectedTools: string[], rest: object = {}) {
  return definePlaybook({
    id: 'p',
    name: 'P',
    steps: [{ id: 's', description: 'S', expectedTools }],
    ...rest,
  })
}

test('a tool gets the name that the playbook uses for it', () => {
  const tools = made('a/read', 'a/write', 'b/list')
  const names = (expected: string[]) => bindTools(playbook(expected), tools).registry.names
  expect(names(['read'])).toEqual(['read', 'a/write', 'b/list'])
  expect(names(['a/read'])).toEqual(['a/read', 'a/write', 'b/list'])
  expect(bindTools(playbook([]), made('a/read', 'a/write')).registry.names).toEqual(['read', 'write'])
})

test('a bare name that two servers have is refused', () => {
  expect(() => bindTools(playbook(['read']), made('a/read', 'b/read'))).toThrow(
    expect.objectContaining({ code: 'duplicate_tool' }),
  )
  expect(bindTools(playbook(['a/read']), made('a/read', 'b/read')).registry.names).toEqual([
    'a/read',
    'b/read',
  ])
})

test('a tool does not slip past a rule, or a question about the past, under its longer name', () => {
  const rules = [{ tool: 'pay*', require: 'succeeded("look")', message: 'look first' }]
  const bound = bindTools(playbook(['*'], { rules }), made('a/pay_all', 'a/look', 'b/list'))
  expect(bound.registry.names).toEqual(['pay_all', 'look', 'b/list'])
})

test("the procedure's own names are refused, and clients get names without a slash", () => {
  expect(() => bindTools(playbook([]), made('a/finish'))).toThrow(
    expect.objectContaining({ code: 'duplicate_tool' }),
  )
  const bound = bindTools(playbook(['a/read']), made('a/read', 'b/finish'))
  expect(bound.all.map(({ shown }) => shown)).toEqual(['a__read', 'b__finish'])
  expect(bound.nameOf('a__read')).toBe('a/read')
  expect(bound.nameOf('nothing')).toBe('nothing')
  expect(() => bindTools(playbook(['a/x', 'a__x']), [...made('a/x'), ...made('b/a__x')])).toThrow(/could be/)
})

test('tools that no server gives keep their names, and are never mistaken for those of a server', () => {
  const own = made('refund', 'shop/list')
  const bound = bindTools(playbook(['refund']), made('a/look'), own)
  expect(bound.registry.names).toEqual(['refund', 'shop/list', 'look'])
  expect(bound.all.map(({ server, shown }) => [server, shown])).toEqual([
    [null, 'refund'],
    [null, 'shop__list'],
    ['a', 'look'],
  ])
  // Named by the playbook, it could mean either; a rule must not bind only one of them.
  expect(() => bindTools(playbook(['refund']), made('a/refund'), own)).toThrow('could be refund or a/refund')
  // Not named, the longer name keeps them apart.
  expect(bindTools(playbook([]), made('a/refund'), own).registry.names).toEqual([
    'refund',
    'shop/list',
    'a/refund',
  ])
  expect(() => bindTools(playbook(['shop/list']), made('shop/list'), own)).toThrow(
    "two tools called 'shop/list'",
  )
  expect(() => bindTools(playbook([]), [], made('finish'))).toThrow("one of the procedure's own tools")
})

test('refuses a playbook with calls, because nobody would make them', () => {
  const runbook = definePlaybook({ id: 'r', name: 'R', steps: [{ id: 'cordon', tool: 'read' }] })
  expect(() => bindTools(runbook, made('a/read'))).toThrow(
    "Step 'cordon' is a call, and a gateway makes none",
  )
})
