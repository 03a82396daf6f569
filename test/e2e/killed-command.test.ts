import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { PracticeHome } from '../../src/practice/practice-home.ts'
import { readRuns } from './read-runs.ts'
import { runLockstep } from './run-lockstep.ts'

const cwd = fileURLToPath(new URL('../..', import.meta.url))

test('the example of the first page, killed while its first call is in flight, finds out what became of it and goes on', async () => {
  const home = mkdtempSync(join(tmpdir(), 'ls-k9-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const practice = new PracticeHome(home)
  const effects = () => practice.read()['effects'] as readonly { readonly key: string }[]
  const env = { LOCKSTEP_HOME: home }
  const running: ChildProcess[] = []
  const killed = runLockstep(['run', 'examples/runbooks/rollback-release.yaml', '--mode', 'execute'], {
    cwd,
    env: { ...env, PRACTICE_FAULTS: 'practice.cordon_node=late:60000' },
    onOutput: (_, child) => void running.push(child),
  })
  while (running.length === 0 || effects().length === 0) await sleep(20)
  running[0]!.kill('SIGKILL')
  await killed
  const { run } = readRuns(home).at(-1)!
  const resumed = await runLockstep(['resume', run], { cwd, env })
  expect(resumed.code, resumed.err).toBe(4)
  expect(resumed.out).toMatch(
    /^ 1 cordon .*node-7 +outcome unknown → reconciled: already cordoned → continuing$/m,
  )
  expect(resumed.out).toMatch(/^ 2 rollback .*waiting for SRE/m)
  expect(effects().map(({ key }) => key)).toEqual([`${run}/cordon`])
  const verified = await runLockstep(['verify', run], { cwd, env })
  expect(verified.code, verified.out).toBe(0)
})
