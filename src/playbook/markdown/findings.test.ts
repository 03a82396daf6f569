import { expect, test } from 'vitest'
import { parseProgram } from './parse-program.ts'

test('advises on the first mistakes of a text full of them, and reports all', () => {
  const steps = Array.from({ length: 150 }, (_, at) => `- Say "{$totl} ${at}"\n`)
  const text = `## A\n### Steps\n- $total = 1\n${steps.join('')}`
  const { diagnostics } = parseProgram([{ file: 'a.md', text }])
  const unset = diagnostics.filter(({ code }) => code === 'unset_variable')
  expect(unset).toHaveLength(150)
  expect(unset.filter(({ suggestion }) => suggestion === 'did you mean `total`?')).toHaveLength(100)
  expect(unset.at(-1)?.suggestion).toBeNull()
})
