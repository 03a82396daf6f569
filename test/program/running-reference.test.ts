/** The programs in docs/reference/markdown.md that stand before what they say are run, and say it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CuttableJournal, runCase } from './run-case.ts'

const whole = readFileSync(new URL('../../docs/reference/markdown.md', import.meta.url), 'utf8')
const page = whole.slice(whole.indexOf('## How a program runs'))
const examples = [...page.matchAll(/```markdown\n([^]*?)```\n\n```text\n([^]*?)```/g)].map(
  ([, text, said]) => ({
    text: text!,
    said: said!.trimEnd().split('\n'),
  }),
)

test('there are examples', () => {
  expect(examples.length).toBeGreaterThan(3)
})

test.each(examples)('the reference says what happens: $text', async ({ text, said }) => {
  const says = said.flatMap((line) => (line.startsWith('person: ') ? [line.slice('person: '.length)] : []))
  const run = await runCase({ note: '', text, says, want: { status: 'succeeded' } }, new CuttableJournal())
  const returned = run.result.message === '' ? [] : [`returns: ${run.result.message}`]
  expect(run.result.reason).toBeNull()
  expect([...run.said, ...returned]).toEqual(said)
  expect(run.asked).toEqual([])
})
