import { expect, it } from 'vitest'
import type { AgentResult } from '../app.ts'
import { nextCommand } from './next-command.ts'

function next(...types: string[]): string {
  const result = {
    run: 'r_1',
    status: 'incomplete',
    playbookPlan: { executions: [] },
    snapshot: { entries: types.map((type) => ({ type })) },
  } as unknown as AgentResult
  return nextCommand({ result, ended: false, dry: false, again: null, waiting: [] })
}

it('lets a paused run go on before it is taken up, and not one that goes on already', () => {
  expect(next('run.started', 'run.paused')).toBe('npx lockstep unpause r_1, then: npx lockstep resume r_1')
  expect(next('run.started', 'run.paused', 'run.unpaused')).toBe('npx lockstep resume r_1')
})
