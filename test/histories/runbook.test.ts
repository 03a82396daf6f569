import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { PolicyFact } from '../../src/run/approval.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { replay } from '../../src/run/perform.ts'
import { writeState } from '../../src/run/state-json.ts'
import { decideAgain } from '../runbook/decide-again.ts'
import { compileRunbook } from '../runbook/simulate.ts'

const read = (file: string) => readFileSync(new URL(`runbook-1/${file}`, import.meta.url), 'utf8')
const events = read('events.jsonl')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as RunEvent)

/** What the policies said in that run. */
function policyOf(tool: string): PolicyFact | null {
  if (!['release', 'uncordon'].includes(tool)) return null
  const held = { code: 'policy_rule', demands: [], expiresAfterSeconds: 3600, record: {} }
  return { ...held, verdict: 'needs_approval', reason: 'people decide' }
}

test('a run of a runbook that was recorded earlier gives the state that it gave then', () => {
  const state = replay(compileRunbook(read('runbook.yaml')), events)
  expect(JSON.parse(JSON.stringify(writeState(state)))).toEqual(JSON.parse(read('state.json')))
})

test('every decision in it is made again', () => {
  expect(decideAgain(compileRunbook(read('runbook.yaml')), events, policyOf)).toBeNull()
})
