/** What holds for runbooks on the command line where nobody named a policy. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runLockstep } from './run-lockstep.ts'

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-defaults-'))
afterAll(() => rmSync(cwd, { recursive: true }))
const env = { LOCKSTEP_HOME: join(cwd, 'home') }

const tool = (name: string, risk: string) =>
  `    - { name: ${name}, description: Does it., risk: ${risk}, command: [node, -e, "require('fs').appendFileSync('${name}.log', 'x')"], input: { type: object } }`
writeFileSync(
  join(cwd, 'lockstep.config.yaml'),
  `tools:\n  exec:\n${tool('note', 'write')}\n${tool('pay', 'irreversible')}\n`,
)
writeFileSync(
  join(cwd, 'book.yaml'),
  'name: book\nsteps:\n  - { name: first, tool: note }\n  - { name: then, tool: pay }\n',
)
writeFileSync(join(cwd, 'open.yaml'), 'id: open\nrisk: { irreversible: allow }\n')

test('a call that cannot be undone waits for approval without a policy, as the first lines say, and is made where a policy allows it', async () => {
  const args = ['run', 'book.yaml', '--mode', 'execute']
  const held = await runLockstep(args, { cwd, env })
  expect(held.code).toBe(4)
  expect(held.err).toContain('NO POLICY IS NAMED, so the defaults hold: pay cannot be undone')
  expect(held.err).toContain('allow_self_approval: true')
  expect(held.out).toContain('under lockstep.defaults@1')
  expect(held.out).toMatch(/1 done, .*Waits for approval: a_\w+ {2}pay/s)
  const made = await runLockstep([...args, '--policy', 'open.yaml'], { cwd, env })
  expect(made).toMatchObject({ code: 0, err: '' })
  expect(made.out).toContain('2 done')
})
