import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { Interruption } from '../../src/agent/interruption.ts'
import { RunControl } from '../../src/agent/run-control.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { runbook, workshop } from './workshop.ts'

describe('a playbook with calls and steps for a model', () => {
  test('makes its calls around the work of the model, which cannot make them', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(`
      name: mixed
      steps:
        - { name: cordon, tool: cordon }
        - { id: look, description: Find out why, expected_tools: [find] }
        - { name: mend, tool: mend, input: { seen: "{steps.look.calls}" } }
        - { id: tell, description: Say what happened }
    `)
    const model = scriptedModel({
      turns: [{ calls: [{ tool: 'mend' }] }, { calls: [{ tool: 'find' }] }, { text: 'It is mended.' }],
    })
    const tools = [make('cordon'), make('find', { risk: 'read' }), make('mend')]
    const { status, message, violations } = await new Agent({ model, playbook, tools }).run('Mend it.')
    expect({ status, message }).toEqual({ status: 'succeeded', message: 'It is mended.' })
    expect(effects).toEqual(['cordon {}', 'find {}', 'mend {"seen":1}'])
    expect(violations.map(({ violationType }) => violationType)).toContain('out_of_sequence')
  })

  test('ends by itself when a call is its last step', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(`
      name: mixed
      steps:
        - { id: look, description: Find out why, expected_tools: [find] }
        - { name: mend, tool: mend }
    `)
    const model = scriptedModel({ turns: [{ calls: [{ tool: 'find' }] }] })
    const tools = [make('find', { risk: 'read' }), make('mend')]
    const { status } = await new Agent({ model, playbook, tools }).run('Mend it.')
    expect(status).toBe('succeeded')
    expect(effects).toEqual(['find {}', 'mend {}'])
  })

  test('undoes what a model did where only the tools say how, and shows it in the plan', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(`
      name: acts
      on_failure: compensate
      steps:
        - { id: one, description: Do it, expected_tools: [do] }
        - { id: two, description: Do more }
    `)
    const model = scriptedModel({
      turns: [
        { calls: [{ tool: 'do', arguments: { n: 1 } }] },
        { calls: [{ tool: 'fail_step', arguments: { error: 'stuck' } }] },
      ],
    })
    const own = make('do', { compensate: (args) => ({ tool: 'undo', args }) })
    const { status, reason, playbookPlan } = await new Agent({
      model,
      playbook,
      tools: [own, make('undo')],
    }).run('x')
    expect({ status, reason }).toEqual({ status: 'failed', reason: 'Step two: stuck. Undone: 1.s1-1' })
    expect(effects).toEqual(['do {"n":1}', 'undo {"n":1}'])
    expect(playbookPlan.stepExecutions['one']!.calls.map(({ id, tool: name }) => `${id} ${name}`)).toEqual([
      '1.s1-1 do',
      '1.s1-1! undo',
    ])
  })

  test('undoes what the calls did when the model cannot go on', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(`
      name: mixed
      steps:
        - { name: a, tool: do, compensate: { tool: undo } }
        - { id: look, description: Find out why }
    `)
    const model = scriptedModel({ turns: [{ error: { message: 'gone', status: 400 } }] })
    const { status, reason } = await new Agent({ model, playbook, tools: [make('do'), make('undo')] }).run(
      'x',
    )
    expect(status).toBe('failed')
    expect(reason).toContain('the model gave no answer')
    expect(effects).toEqual(['do {}', 'undo {}'])
  })

  test('is taken up in the middle of the model’s part', async () => {
    const { effects, make } = workshop()
    const journal = new MemoryJournal()
    const controller = new AbortController()
    const playbook = runbook(`
      name: mixed
      steps:
        - { name: a, tool: do }
        - { id: look, description: Find out why, expected_tools: [find] }
        - { name: b, tool: do }
        - { id: tell, description: Say it }
    `)
    const find = make('find', {
      risk: 'read',
      execute: () => {
        effects.push('find')
        controller.abort(new Interruption('put down'))
      },
    })
    const tools = [make('do'), find]
    const first = scriptedModel({ turns: [{ calls: [{ tool: 'find' }] }] })
    const down = await new Agent({ model: first, playbook, tools, journal }).run('x', {
      run: 'r',
      signal: controller.signal,
    })
    expect(down.status).toBe('incomplete')
    const second = scriptedModel({ turns: [{ calls: [{ tool: 'find' }] }, { text: 'Said.' }] })
    const { status, message } = await new Agent({ model: second, playbook, tools, journal }).resume('r')
    expect({ status, message }).toEqual({ status: 'succeeded', message: 'Said.' })
    expect(effects).toEqual(['do {}', 'find', 'do {}'])
  })

  test('undoes what the calls did when the model gives up', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(`
      name: mixed
      steps:
        - { name: a, tool: do, compensate: { tool: undo } }
        - { id: look, description: Find out why }
    `)
    const model = scriptedModel({
      turns: [{ calls: [{ tool: 'fail_step', arguments: { error: 'no idea' } }] }],
    })
    const { status, reason } = await new Agent({ model, playbook, tools: [make('do'), make('undo')] }).run(
      'x',
    )
    expect(status).toBe('failed')
    expect(reason).toContain('Undone: a')
    expect(effects).toEqual(['do {}', 'undo {}'])
  })
})

describe('a playbook for a model alone', () => {
  const playbook = runbook('name: acts\nsteps: [{ id: one, description: Do it, expected_tools: [do, done] }]')

  test.each([
    ['cancel', 'cancelled', 'Cancelled by ann: enough'],
    ['pause', 'incomplete', 'the run is paused by ann: enough'],
  ] as const)('hears an order to %s before its next turn', async (type, status, reason) => {
    const { make } = workshop()
    const control = new RunControl()
    const ordering = make('do', {
      execute: () => void control.order({ type, by: 'ann', reason: 'enough' }),
    })
    const model = scriptedModel({
      turns: [{ calls: [{ tool: 'do' }] }, { calls: [{ tool: 'done' }] }, { text: 'Done.' }],
    })
    const agent = new Agent({ model, playbook, tools: [ordering, make('done')] })
    expect(await agent.run('x', { control })).toMatchObject({ status, reason })
  })
})

test('a program hears an order to cancel, and ends when its call has', async () => {
  const { effects, make } = workshop()
  const control = new RunControl()
  const text = '# Desk\n\n## Go\n\n### Triggers\n- At the beginning\n\n### Steps\n- First()\n- Second()\n'
  const { program } = parseProgram([{ file: 'desk.md', text }], {
    tools: ['First', 'Second'].map((name) => ({ name, parameters: [], risk: 'write' as const })),
  })
  const playbook = programPlaybook(program!, 'desk')
  const first = make('First', {
    execute: () => {
      effects.push('First')
      control.order({ type: 'cancel', by: 'ann', reason: null })
    },
  })
  const agent = new Agent({ model: 'none', playbook, tools: [first, make('Second')] })
  expect(await agent.run('', { control })).toMatchObject({ status: 'cancelled', reason: 'Cancelled by ann' })
  expect(effects).toEqual(['First'])
})
