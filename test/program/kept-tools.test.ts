import { expect, test } from 'vitest'
import { CuttableJournal, runCase } from './run-case.ts'

test('a model that tries a tool kept from it is told why, and only of tools that it may use', async () => {
  const { result } = await runCase(
    {
      note: '',
      text: `---
tools: [search, note, wipe]
---
## Main

### Steps
- Clean up whatever is old
`,
      tools: [
        { name: 'search', parameters: [], replies: [{ result: 'nothing' }] },
        { name: 'note', parameters: [], risk: 'write' },
        { name: 'wipe', parameters: [], risk: 'irreversible' },
      ],
      turns: [{ calls: [{ tool: 'wipe' }] }, { text: 'Nothing to do.' }],
      want: { status: 'succeeded' },
    },
    new CuttableJournal(),
  )
  const returned = result.snapshot.entries.find(({ type }) => type === 'tool.returned')
  expect(returned?.data).toMatchObject({
    status: 'denied',
    output: {
      value: {
        message: "'wipe' is not left to a model: only a step that calls it by its name makes it.",
        allowed: ['search'],
        next: 'Work on step Main/1: search.',
      },
    },
  })
})
