import { describe, expect, test } from 'vitest'
import { explainPlaybook } from '../../src/playbook/explain/explain-playbook.ts'
import { renderExplanation } from '../../src/playbook/explain/render-explanation.ts'
import { writeMermaid } from '../../src/playbook/explain/write-mermaid.ts'
import { loadPlaybook } from '../../src/source/load-playbook.ts'

const text = `
name: Roll back
inputs: { node: string, hosts: array }
steps:
  - name: cordon
    tool: cordon_node
    input: { node: "{inputs.node}" }
    retry: { attempts: 3 }
    verify: { tool: get_node, input: { node: "{inputs.node}" }, expect: result.cordoned }
    compensate: { tool: uncordon_node, input: { node: "{inputs.node}" } }
  - parallel:
      - { name: drain, tool: drain_node }
      - { name: warn, tool: notify, foreach: "{inputs.hosts}", concurrency: 4, input: { host: "{item}" } }
  - name: Go back to the release before
    id: rollback
    tool: rollback
    required_roles: [SRE, OnCall]
  - id: report
    description: Write down what happened
    expected_tools: [get_node]
`
const risks = new Map([
  ['cordon_node', 'write'],
  ['get_node', 'read'],
  ['rollback', 'irreversible'],
] as const)

describe('a runbook read back', () => {
  const explanation = explainPlaybook(loadPlaybook(text), risks)
  const shown = renderExplanation(explanation, { width: 120 })

  test('says of each step who sees to it, with which tools, and what these can do', () => {
    expect(shown.replaceAll(/ {2,}/g, '  ').split('\n').slice(0, 6)).toEqual([
      ' 1 Cordon: call cordon_node with node = {inputs.node}.  guaranteed · cordon_node (write), get_node (read), uncordon_node',
      ' 2 Drain: call drain_node.  guaranteed · drain_node',
      ' 3 Warn: call notify with host = {item}, once for each of {inputs.hosts}.  guaranteed · notify',
      ' 4 Go back to the release before: call rollback.  asks a person · rollback (irreversible)',
      ' 5 Write down what happened.  left to the model · get_node (read)',
      '4 of 5 steps need no model.',
    ])
  })

  test('says what is kept about a call', () => {
    const rules = explanation.playbooks[0]!.notes.map(({ text: about, rule }) => `${about}: ${rule}`)
    expect(rules).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Step cordon: its retries: at most 3 attempts.*changed nothing$/),
        'Step cordon: its check: it counts only if result.cordoned, as get_node says',
        'Step cordon: its undoing: uncordon_node with node = {inputs.node} undoes it',
        'Step warn: its items: at most 4 side by side',
        expect.stringContaining('it waits until somebody with the role SRE or OnCall approves'),
        'When a required step fails: what was done is undone, the latest first, as far as it can be',
        'When the run is cancelled: what was done stays as it is',
      ]),
    )
  })

  test('draws the order that the gate keeps, for terminals and for pages', () => {
    expect(shown).toContain('□ 3 (after 1) Warn')
    expect(shown).toContain('? 4 (after 2 and 3) Go back')
    const chart = writeMermaid(explanation)
    for (const edge of ['p1 --> p1s1', 'p1s1 --> p1s2', 'p1s1 --> p1s3', 'p1s2 --> p1s4', 'p1s3 --> p1s4'])
      expect(chart).toContain(`  ${edge}\n`)
    expect(chart).toContain('p1s4[/"4 Go back')
    expect(chart).not.toContain('p1s2 --> p1s3')
  })

  test('of calls alone takes no model', () => {
    const calls = explainPlaybook(loadPlaybook('name: r\nsteps: [{ name: a, tool: t }]'))
    expect(calls.steps).toEqual({ total: 1, withoutModel: 1 })
    expect(renderExplanation(calls)).toContain('A run calls no model.')
  })
})
