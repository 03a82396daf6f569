import { expect, test } from 'vitest'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'

const main = '---\nmax_turns: 3\n---\n# One\n## Main\n### Steps\n- Other.Help()\n'

test('a program may be in several files, each with front matter', () => {
  const { program, diagnostics } = parseProgram([
    { file: 'a.md', text: main },
    { file: 'b.md', text: '---\ntools: []\n---\n# Other\n## Help\npublic: true\n### Steps\n- Return 1\n' },
  ])
  expect(diagnostics).toEqual([])
  expect(program?.agents.map((agent) => agent.name)).toEqual(['One', 'Other'])
  expect(program).toMatchObject({ maxTurns: 3, tools: [] })
})

test('what the front matter of two files says twice is an error in the second', () => {
  const { diagnostics } = parseProgram([
    { file: 'a.md', text: main },
    { file: 'b.md', text: '---\nmax_turns: 4\n---\n# Other\n## Help\npublic: true\n### Steps\n- Return 1\n' },
  ])
  expect(diagnostics).toMatchObject([{ code: 'duplicate_key', file: 'b.md', line: 2 }])
})

test('a finding in an imported file has its place there, without the indentation of the import', () => {
  const { diagnostics } = parseProgram(
    [{ file: 'a.md', text: '## A\n### Steps\n- If 1 > 0\n  !import ./b.md\n' }],
    {
      resolveImport: () => ({ file: 'b.md', text: '- Say "a"\n- Missing()\n' }),
    },
  )
  expect(diagnostics).toMatchObject([
    { code: 'unknown_call', file: 'b.md', line: 2, column: 3, endColumn: 12 },
  ])
})

test('imports are followed ten levels deep and no further', () => {
  const { diagnostics } = parseProgram([{ file: '0', text: '## A\n### Steps\n- Say "a"\n!import x' }], {
    resolveImport: (_, from) => ({ file: String(Number(from) + 1), text: '!import x' }),
  })
  expect(diagnostics).toMatchObject([{ code: 'import_refused', file: '10' }])
})
