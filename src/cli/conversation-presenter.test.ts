import { expect, test } from 'vitest'
import type { AgentEvent } from '../app.ts'
import { parseProgram } from '../playbook/markdown/parse-program.ts'
import { programPlaybook } from '../playbook/program-playbook.ts'
import { ConversationPresenter } from './conversation-presenter.ts'
import { RunView } from './run-view.ts'

const text = `# Desk

## Main

### Steps
- If 1 > 0
  - Greet the user warmly
- $s = Summary()
- Think about what the customer may want
- Say "done"

## Summary
execution_mode: raw

Sum it up.
`

function present(events: readonly object[]): string {
  const { program } = parseProgram([{ file: 'desk.md', text }])
  let out = ''
  const write = (part: string) => void (out += part)
  const presenter = new ConversationPresenter(programPlaybook(program!, 'desk'), {
    view: new RunView({ write, live: false, colour: false }),
    write,
    verbose: false,
    prompts: false,
    placeOf: () => null,
    cleaner: { clean: (said) => said.replaceAll('hunter2', '[secret]'), openEnd: () => 0 },
  })
  for (const event of events) presenter.show({ at: 0, ...event } as AgentEvent)
  return out
}

const asked = (id: string) => ({
  type: 'question.asked',
  questions: [{ id, kind: 'write', instruction: 'x' }],
})
const streamed = (question: string, part: string) => ({ type: 'text.delta', text: part, question })

test('shows words for the person as they come, and ends their line', () => {
  const said = { type: 'message.sent', step: 'Main/1.1', text: 'Hello there', by: 'model' }
  const events = [asked('Main/1.1'), streamed('Main/1.1', 'Hello '), streamed('Main/1.1', 'there'), said]
  expect(present(events)).toBe('Hello there\n')
})

test.each(['Summary/1', 'Main/3'])('shows nothing of what %s keeps for itself', (id) => {
  expect(present([asked(id), streamed(id, 'secret thoughts')])).toBe('')
})

test('shows no secret that comes in two pieces', () => {
  const said = { type: 'message.sent', step: 'Main/1.1', text: 'Use [secret] then', by: 'model' }
  const pieces = ['Use hun', 'ter2 th', 'en'].map((piece) => streamed('Main/1.1', piece))
  expect(present([asked('Main/1.1'), ...pieces, said])).toBe('Use [secret] then\n')
})

test('begins a line of its own when the words break off', () => {
  const failed = { type: 'step.failed', step: 'Main/1.1', by: 'program', error: 'no answer', limit: null }
  expect(present([asked('Main/1.1'), streamed('Main/1.1', 'Hel'), failed])).toMatch(
    /^Hel\n .*FAILED: no answer/,
  )
})
