/** Programs and documents that others wrote; the folder in LOCKSTEP_FIXTURES has them, the project none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'

const root = process.env['LOCKSTEP_FIXTURES']

function filesIn(folder: string, suffix: string): string[] {
  const path = join(root!, folder)
  return existsSync(path)
    ? readdirSync(path)
        .filter((name) => name.endsWith(suffix))
        .map((name) => join(path, name))
    : []
}

function read(file: string) {
  return parseProgram([{ file, text: readFileSync(file, 'utf8') }])
}

test('every real program is read without an error', ({ skip }) => {
  if (root === undefined) skip('LOCKSTEP_FIXTURES is not set')
  const files = filesIn('playbooks-programs', '.pb')
  expect(files.length).toBeGreaterThan(10)
  for (const file of files) {
    const { program, diagnostics } = read(file)
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(program?.agents.flatMap((agent) => agent.playbooks).length).toBeGreaterThan(0)
  }
})

test.for(['prometheus-runbooks', 'strands-sops', 'itbench'])(
  'the documents in %s are no programs',
  (folder, { skip }) => {
    if (root === undefined) skip('LOCKSTEP_FIXTURES is not set')
    const files = filesIn(folder, '.md')
    expect(files.length).toBeGreaterThan(2)
    expect(files.filter((file) => read(file).kind === 'program')).toEqual([])
  },
)
