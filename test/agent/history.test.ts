import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { answering, noting, playbookOf, saying, step } from './run-agent.ts'

/** A run as an earlier Lockstep wrote it down, through the AI SDK's own loop: cut off after the model asked for a payment. */
const path = new URL('../histories/interrupted-agent-run.jsonl', import.meta.url)

test('a run that was recorded before models were asked directly is taken up, its conversation word for word', async () => {
  const playbook = playbookOf([
    step('look', { expectedTools: ['crm/look.up'] }),
    step('pay', { expectedTools: ['pay'] }),
  ])
  const entries = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JournalEntry)
  // What is tried here is the conversation: the playbook is the one of the test.
  const started = { ...entries[0]!.data, playbook: compilePlaybook(playbook).digest }
  const paid: unknown[] = []
  const tools = [noting([], 'crm/look.up', 'read'), noting([], 'pay', 'write', (args) => paid.push(args))]
  const model = answering(saying('Paid 30.'))
  const result = await new Agent({ model, tools, playbook }).resume({
    run: 'recorded',
    entries: [{ ...entries[0]!, data: started }, ...entries.slice(1)],
  })
  expect(result).toMatchObject({ status: 'succeeded', message: 'Paid 30.', metrics: { iterations: 4 } })
  expect(result.metrics).toMatchObject({ promptTokens: 60, completionTokens: 12 })
  expect(paid).toEqual([{ amount: 30 }])
  const [{ options } = { options: { prompt: [] } }] = model.questions
  expect(options.prompt.slice(1, 8)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Pay C-7.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'I look first.', providerOptions: { anthropic: { signature: 'c2ln' } } },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'crm__look_up', input: { id: 'C-7' } },
      ],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'crm__look_up',
          output: { type: 'json', value: { name: 'Ada' } },
        },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Done already.' }] },
    { role: 'user', content: [{ type: 'text', text: expect.stringContaining('not taken as your final') }] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'pay', input: { amount: 30 } }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolName: 'pay', output: expect.anything(), toolCallId: 'c1' }],
    },
  ])
})
