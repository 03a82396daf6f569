import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test('the tour of playbooks goes through its ten parts offline, and its agent keeps to the playbook', async () => {
  const { stdout, stderr } = await run(process.execPath, ['examples/playbooks.ts'], {
    env: { ...process.env, LOCKSTEP_MODEL: undefined },
  })
  expect(stderr).toBe('')
  for (let part = 1; part <= 10; part++) expect(stdout).toContain(`=== Part ${part}: `)
  expect(stdout.match(/\[model call: \d+\.\d\ds · \d+→\d+ tokens\]/g)).toHaveLength(9)
  expect(stdout).toMatch(/\[model call: \d+\.\d\ds · 1170→84 tokens · iters=4\]/)
  expect(stdout).toContain('[#####---------------] 25%')
  expect(stdout).toContain('page: completed (1 tool calls)')
  expect(stdout).toContain('Done: succeeded.')
})
