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
function check(text: string, beside: string) {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-check-'))
  writeFileSync(join(folder, 'lockstep.config.yaml'), beside)
  writeFileSync(join(folder, 'r.yaml'), text)
  let said = ''
  const terminal = { out: () => {}, err: (line: string) => void (said += line), colour: false }
  const { file } = checkPlaybookFile(join(folder, 'r.yaml'), [], terminal)
  return { codes: file.diagnostics.map(({ code, line }) => `${line} ${code}`), said }
}

describe('checking a runbook beside a configuration', () => {
  it('holds its calls against the tools that the configuration declares, and no others', () => {
    const text = `name: r
steps:
  - { name: a, tool: cordon, input: { nod: x } }
  - { name: b, tool: elsewhere, verify: { tool: cordon, input: { node: n }, expect: 'true' } }
`
    expect(check(text, config)).toEqual({
      codes: ['3 wrong_arguments', '3 wrong_arguments', '4 not_read_only'],
      said: '',
    })
  })

  it('says that a configuration it cannot read was not considered, only where calls are', () => {
    const call = 'name: r\nsteps: [{ name: a, tool: cordon }]\n'
    expect(check(call, 'tools: 3\n')).toEqual({ codes: [], said: expect.stringContaining('not considered') })
    const act = 'name: r\nsteps: [{ id: a, description: A, expected_tools: [cordon] }]\n'
    expect(check(act, 'tools: 3\n')).toEqual({ codes: [], said: '' })
  })
})
