import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkPlaybookFile } from './check-playbook-file.ts'

const config = `
tools:
  exec:
    - name: cordon
      description: Cordons a node.
      risk: write
      command: [echo]
      input: { type: object, properties: { node: { type: string } }, required: [node], additionalProperties: false }
`

/** What is found in a runbook beside a configuration, as codes, and what is said besides. */
function check(text: string, beside: string | null) {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-check-'))
  if (beside !== null) writeFileSync(join(folder, 'lockstep.config.yaml'), beside)
  writeFileSync(join(folder, 'r.yaml'), text)
  let said = ''
  const terminal = { out: () => {}, err: (line: string) => void (said += line), colour: false }
  const { file } = checkPlaybookFile(join(folder, 'r.yaml'), [], terminal)
  return {
    codes: file.diagnostics.map(({ code, line }) => `${line} ${code}`),
    suggestions: file.diagnostics.map(({ suggestion }) => suggestion),
    said,
  }
}

describe('checking a runbook beside a configuration', () => {
  const text = `name: r
steps:
  - { name: a, tool: cordon, input: { nod: x } }
  - { name: b, tool: elsewhere, verify: { tool: cordon, input: { node: n }, expect: 'true' } }
`

  it('holds its calls against the tools that the configuration declares, and no others', () => {
    const codes = ['3 wrong_arguments', '3 wrong_arguments', '4 not_read_only']
    // The tools of a module are not known without running it.
    const open = config.replace('exec:', 'modules: [./tools.ts]\n  exec:')
    expect(check(text, open)).toMatchObject({ codes, said: '' })
  })

  it('reports a tool that does not exist wherever the runtime would call it, where all tools are known', () => {
    const wrong = `name: r
steps:
  - name: a
    tool: cordn
    input: { node: x }
    verify: { tool: look, expect: 'true' }
    compensate: { tool: uncordon, input: { node: x } }
`
    expect(check(wrong, config)).toMatchObject({
      codes: ['4 unknown_tool', '6 unknown_tool', '7 unknown_tool'],
      suggestions: [expect.stringContaining('cordon'), null, expect.stringContaining('cordon')],
    })
  })

  it('takes every tool to exist where there is no configuration', () => {
    expect(check(text, null)).toMatchObject({ codes: [], said: '' })
  })

  it('says that a configuration it cannot read was not considered, only where calls are', () => {
    const call = 'name: r\nsteps: [{ name: a, tool: cordon }]\n'
    expect(check(call, 'tools: 3\n')).toMatchObject({
      codes: [],
      said: expect.stringContaining('not considered'),
    })
    const act = 'name: r\nsteps: [{ id: a, description: A, expected_tools: [cordon] }]\n'
    expect(check(act, 'tools: 3\n')).toMatchObject({ codes: [], said: '' })
  })
})
