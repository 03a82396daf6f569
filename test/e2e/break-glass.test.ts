/** Breaking the glass on the command line: by somebody who may, with a reason, in the record before the call. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runLockstep } from './run-lockstep.ts'

const cwd = mkdtempSync(join(tmpdir(), 'lockstep-glass-'))
afterAll(() => rmSync(cwd, { recursive: true }))
const env = { LOCKSTEP_HOME: join(cwd, 'home') }

writeFileSync(
  join(cwd, 'lockstep.config.yaml'),
  `policies: [./glass.yaml]
people: { ${userInfo().username}: [Commander] }
tools:
  exec:
    - { name: pay, description: Pays., risk: irreversible, command: [node, -e, '0'], input: { type: object } }
`,
)
writeFileSync(join(cwd, 'book.yaml'), 'name: book\nsteps: [{ name: only, tool: pay }]\n')
const glass = (role: string) => `id: glass\nbreak_glass: { roles: [${role}], tool: [pay] }\n`

test('lets a call pass for somebody who may, and for nobody else', async () => {
  const args = ['run', 'book.yaml', '--mode', 'execute', '--break-glass', 'the shop is on fire']
  writeFileSync(join(cwd, 'glass.yaml'), glass('Other'))
  const refused = await runLockstep(args, { cwd, env })
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain('no policy of this run lets')

  writeFileSync(join(cwd, 'glass.yaml'), glass('Commander'))
  const made = await runLockstep([...args, '--json'], { cwd, env })
  expect(made.code).toBe(0)
  const events = made.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const admitted = events.find(({ type }) => type === 'tool.admitted')
  expect(JSON.stringify(admitted)).toMatch(/policy_break_glass.*the shop is on fire/)

  const held = await runLockstep(['run', 'book.yaml', '--mode', 'execute'], { cwd, env })
  expect(held.code).toBe(4)
  const run = /run (r_[\w-]+)/.exec(held.out)![1]!
  const resumed = await runLockstep(['resume', run, '--break-glass', 'nobody is awake'], { cwd, env })
  expect(resumed.out).toContain('THE GLASS IS BROKEN')
  // The call that was held is made anew under the broken glass.
  expect(resumed.code).toBe(0)
})
