/** What a guard was read as is said before a run: it is guaranteed, or it is an error. */
import { expect, test } from 'vitest'
import { explainProgram } from '../../src/playbook/explain/explain-program.ts'
import { renderExplanation } from '../../src/playbook/explain/render-explanation.ts'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'

const tools = [
  { name: 'refund', parameters: ['order'], required: ['order'], risk: 'irreversible' },
  { name: 'cancel_order', parameters: ['order'], required: ['order'], risk: 'irreversible' },
] as const

function readBack(bullets: readonly string[], notes: readonly string[] = []): string {
  const list = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n')
  const text = `## Do($amount:int=5)\n### Steps\n${list(bullets)}\n### Notes\n${list(notes)}\n`
  const { program, diagnostics } = parseProgram([{ file: 'do.md', text }], { tools })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  return renderExplanation(explainProgram(program!), { width: 120 })
}

test('a guard over known values is guaranteed, with what it does', () => {
  const lines = readBack(['Stop here if $amount > 100', 'Make sure that $amount < 1000'])
  expect(lines).toMatch(/1 If the amount is over 100, end the program\. +guaranteed/)
  expect(lines).toMatch(/2 Go on only if the amount is under 1000, and fail otherwise\. +guaranteed/)
})

test('a guard in words is left to the model, and asking to confirm asks a person', () => {
  const lines = readBack(['Only continue if the customer agrees', 'Wait for the user to confirm'])
  expect(lines).toMatch(/1 Go on only if the customer agrees, and fail otherwise\. +left to the model/)
  expect(lines).toMatch(/2 Ask "Do you confirm\?".* +asks a person/)
  expect(lines).toMatch(/2\.1 If .*confirmed.*, end the program\. +guaranteed/)
})

test('it says which variables a model sets', () => {
  const lines = readBack(['Work out $verdict', 'Find out whether $amount was paid', 'Say "$verdict"'])
  expect(lines).toMatch(/1 Work out \$verdict\. +left to the model · sets \$verdict · no tools/)
  expect(lines).toMatch(/2 Find out whether \$amount was paid\. +left to the model · no tools/)
})

test('a note about what must not come after says so', () => {
  const lines = readBack(['refund("A")', 'cancel_order("A")'], ['Never call refund after cancel_order'])
  expect(lines).toContain('refund is refused once cancel_order was called')
})
