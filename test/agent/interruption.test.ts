import { expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { Interruption } from '../../src/agent/interruption.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { tool } from '../../src/tool/tool.ts'
import { playbookOf, step } from '../gate/enforce.ts'

const playbook = playbookOf([step('look'), step('pay')])
const turns = [{ calls: [{ tool: 'look' }] }, { calls: [{ tool: 'pay' }], delay_ms: 100 }, { text: 'Paid.' }]

function agentWith(journal: MemoryJournal, onCall: (name: string) => unknown, answered = 0) {
  const make = (name: string) =>
    tool({ name, description: 'd', risk: 'read', execute: () => onCall(name) ?? null })
  const model = scriptedModel({ turns }, 'script', answered)
  return new Agent({ model, tools: [make('look'), make('pay')], playbook, journal })
}

test.each([
  ['an interruption puts a run down, and resuming takes it up where it was', new Interruption(), 'succeeded'],
  ['any other abort ends it for good', new Error('enough'), 'cancelled'],
])('%s', async (_, reason, status) => {
  const journal = new MemoryJournal()
  const controller = new AbortController()
  const made: string[] = []
  const first = agentWith(journal, (name) => {
    made.push(name)
    // Long after this call is over, while the model is asked for its next turn.
    setTimeout(() => controller.abort(reason), 20)
  })
  const put = await first.run('go', { run: 'r1', signal: controller.signal })
  expect(put.status).toBe(reason instanceof Interruption ? 'incomplete' : 'cancelled')
  const types = (await journal.read('r1')).map(({ type }) => type)
  expect(types.includes('run.finished')).toBe(!(reason instanceof Interruption))
  const again = agentWith(journal, (name) => void made.push(name), 1)
  expect((await again.resume('r1')).status).toBe(status)
  expect(made).toEqual(status === 'succeeded' ? ['look', 'pay'] : ['look'])
})
