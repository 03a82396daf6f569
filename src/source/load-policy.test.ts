import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { LockstepError } from '../shared/lockstep-error.ts'
import { loadPolicy } from './load-policy.ts'
import { PolicyLoadError } from './policy-load-error.ts'

const text = 'id: money\napprovals:\n  - { tool: refund, required_roles: [Lead] }\n'

test('a text, a path and a file URL give the same policy', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'lockstep-policy-')), 'money.yaml')
  writeFileSync(file, text)
  const json = '{"id":"money","approvals":[{"tool":"refund","required_roles":["Lead"]}]}'
  const refs = [text, json, file, pathToFileURL(file)].map((source) => loadPolicy(source).ref)
  expect(new Set(refs.map(({ digest }) => digest)).size).toBe(1)
  expect(refs[0]).toMatchObject({ id: 'money', version: '1.0.0' })
})

test('every problem is told, with its place', () => {
  const load = () => loadPolicy('id: money\naprovals: []\nlimits:\n  - { tool: x }\n')
  expect(load).toThrow(PolicyLoadError)
  expect(load).toThrow(/line 2, column 1: unknown key `aprovals`[^]*\n {2}line 4/)
})

test('a file that is not there is told as such', () => {
  const error = (() => {
    try {
      return loadPolicy('no-such-policy.yaml')
    } catch (thrown) {
      return thrown
    }
  })()
  expect(LockstepError.isInstance(error)).toBe(true)
  expect(error).toMatchObject({ code: 'invalid_policy', path: 'no-such-policy.yaml' })
  expect((error as Error).message).toContain('File not found')
})

test('an address that is no file is told as such', () => {
  expect(() => loadPolicy(new URL('https://example.com/money.yaml'))).toThrow(PolicyLoadError)
})
