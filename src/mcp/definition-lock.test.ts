import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DefinitionLock, differences } from './definition-lock.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-lock-'))
  path = join(folder, 'lockstep.mcp.lock')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const refund = { name: 'refund', description: 'Pays.', inputSchema: { type: 'object', required: ['amount'] } }

function pinned(): DefinitionLock {
  const lock = DefinitionLock.open(path)
  lock.pin('desk', new Map([['refund', refund]]))
  lock.save()
  return DefinitionLock.open(path)
}

test('L1: what was pinned is used, whatever the order of its members; anything else is refused with the difference', () => {
  const lock = pinned()
  const { name, ...rest } = refund
  expect(lock.refusal('desk/refund', { ...rest, name })).toBeNull()
  const lured = lock.refusal('desk/refund', { ...refund, description: 'Pays twice.' })
  expect(lured).toContain('description: "Pays." → "Pays twice."')
  const widened = lock.refusal('desk/refund', { ...refund, inputSchema: { type: 'object' } })
  expect(widened).toContain('inputSchema.required: ["amount"] → nothing')
  expect(lock.refusal('desk/refund', { ...refund, annotations: { readOnlyHint: true } })).toContain(
    'annotations',
  )
  expect(lock.refusal('desk/refund', null)).toContain('no longer has')
})

test('L2: a tool that a pinned server did not have then is refused', () => {
  const lock = pinned()
  expect(lock.knows('desk')).toBe(true)
  expect(lock.knows('toString')).toBe(false)
  expect(lock.refusal('desk/pay_all', { name: 'pay_all' })).toContain('is not in')
  expect(lock.refusal('desk/constructor', { name: 'constructor' })).toContain('is not in')
})

test('L3: pinning again says what changed, and what it left alone stays', () => {
  const lock = pinned()
  const changes = lock.pin(
    'desk',
    new Map([
      ['notify', { name: 'notify' }],
      ['refund', { ...refund, title: 'Refund' }],
    ]),
  )
  expect(changes.toSorted()).toEqual(['+ desk/notify', '~ desk/refund title: nothing → "Refund"'])
  expect(lock.pin('other', new Map())).toEqual([])
  expect(lock.pinned('desk/notify')).toEqual({ name: 'notify' })
  expect(lock.pin('desk', new Map())).toEqual(['- desk/notify', '- desk/refund'])
})

test('a file that is no lock file, or was changed by hand, is not used', () => {
  pinned()
  const text = readFileSync(path, 'utf8')
  for (const broken of [
    '',
    '{}',
    '[]',
    text.replace('"version": 1', '"version": 2'),
    text.replace('Pays.', 'Pay.'),
  ]) {
    writeFileSync(path, broken)
    expect(() => DefinitionLock.open(path)).toThrow(expect.objectContaining({ code: 'mcp_lock_unreadable' }))
  }
})

test('differences are named by their place', () => {
  expect(differences({ a: { b: 1 }, c: [1] }, { a: { b: 2 }, c: [1], d: null })).toEqual([
    'a.b: 1 → 2',
    'd: nothing → null',
  ])
})
