/** Runbooks of another system, from the folder in LOCKSTEP_FIXTURES: none of them is ours, and each is told so with a place. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'

const fixtures = process.env['LOCKSTEP_FIXTURES']

test('documents of another system are refused with a place, never taken for runbooks', ({ skip }) => {
  if (fixtures === undefined) return skip('LOCKSTEP_FIXTURES is not set')
  const folder = join(fixtures, 'ssm-documents')
  if (!existsSync(folder)) return skip('LOCKSTEP_FIXTURES has no ssm-documents')
  const files = readdirSync(folder).filter((name) => /\.(json|ya?ml)$/.test(name))
  expect(files.length).toBeGreaterThan(0)
  for (const name of files) {
    const format = name.endsWith('.json') ? 'json' : 'yaml'
    const { playbook, diagnostics } = parsePlaybook(readFileSync(join(folder, name), 'utf8'), { format })
    expect([name, playbook]).toEqual([name, null])
    expect(diagnostics.every(({ line, column }) => line !== null && column !== null)).toBe(true)
    expect(diagnostics.map(({ code }) => code)).toContain('unknown_key')
  }
})
