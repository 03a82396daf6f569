import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { agentTool } from '../../src/agent/agent-tool.ts'
import { Agent } from '../../src/agent/agent.ts'
import { runPlaybook } from '../../src/agent/run-playbook.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/agent/scripted-model.ts'
import { Playbook } from '../../src/playbook/playbook.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { tool } from '../../src/tool/tool.ts'
import { keptRules } from './kept-rules.ts'
import { waysIn } from './way-in.ts'

/** Who has agents below. */
const below: Readonly<Record<string, string>> = {
  '`PlaybookEnforcer`': '– (it starts no agents)',
  '`Agent`': '✓',
  '`guard` (AI SDK)': '– (an agent inside a tool is a run of its own)',
  '`lockstep mcp`': '– (agents behind a server are the server’s own)',
}

/** Who undoes what was done. */
const undoing: Readonly<Record<string, string>> = {
  '`PlaybookEnforcer`': '– (it judges calls and makes none of its own)',
  '`Agent`': '✓',
  '`guard` (AI SDK)': '– (it refuses playbooks that make calls of their own)',
  '`lockstep mcp`': '– (it refuses playbooks that make calls of their own)',
}

describe.each(waysIn)('$name', (way) => {
  for (const { rule, says, trial, comes, tells = [], except } of keptRules) {
    if (except?.[way.name] !== undefined) continue
    it(`${rule}: ${says}`, async () => {
      const { ran, succeeded, told } = await way.attempt(trial)
      expect({ ran, succeeded: trial.observe === true ? false : succeeded }).toEqual(comes)
      for (const text of tells) expect(told).toContain(text)
    })
  }
})

it('G11: no way in shares a plan between two runs at once', async () => {
  const { trial, comes } = keptRules.find(({ rule }) => rule === 'G3')!
  for (const way of waysIn) {
    const both = await Promise.all([way.attempt(trial), way.attempt(trial)])
    expect(both).toEqual([expect.objectContaining(comes), expect.objectContaining(comes)])
  }
})

describe('G12: a field that nobody would keep', () => {
  const steps = [{ id: 'a', description: 'a', expectedTools: ['a'], maxToolCals: 1 }]

  it('is in no playbook', () => {
    expect(() => new Playbook({ id: 'p', name: 'P', steps })).toThrow(/unknown key `maxToolCals`/)
  })

  it.each(waysIn)('gets into no run of $name in something that only looks like a playbook', async (way) => {
    const { playbook } = keptRules.find(({ rule }) => rule === 'G1')!.trial
    const alike = Object.assign({ ...playbook }, { steps }) as unknown as Playbook
    const came = await way.attempt({ playbook: alike, turns: [['a'], ['.']] }).catch(() => null)
    expect(came?.ran ?? []).toEqual([])
  })
})

it('G18: what an agent below an agent does, the playbook above has to allow', async () => {
  const ran: string[] = []
  const work = ['a', 'x'].map((name) => tool({ name, description: name, execute: () => ran.push(name) }))
  const model = (...turns: ScriptedTurn[]) => scriptedModel({ turns })
  const child = new Agent({
    model: model({ calls: [{ tool: 'x' }] }, { calls: [{ tool: 'a' }] }, { text: 'Done.' }),
    tools: work,
  })
  const steps = [{ id: 's', description: 's', expectedTools: ['helper', 'a'] }]
  const above = new Agent({
    model: model({ calls: [{ tool: 'helper', arguments: { prompt: 'Go.' } }] }, { text: 'Done.' }),
    tools: [agentTool(child, { name: 'helper', description: 'helps' }), ...work],
    playbook: new Playbook({ id: 'p', name: 'P', steps }),
  })
  await above.run('Go.')
  expect(ran).toEqual(['a'])
})

it('G17: what was done is undone, the latest first, when a required step fails', async () => {
  const ran: string[] = []
  const names = ['make', 'fill', 'break', 'empty', 'unmake']
  const work = names.map((name) =>
    tool({
      name,
      description: name,
      execute: () => {
        ran.push(name)
        if (name === 'break') throw new ToolFailure('it broke before anything was applied')
      },
    }),
  )
  const playbook = new Playbook({
    id: 'p',
    name: 'P',
    steps: [
      { id: 'one', tool: 'make', compensate: { tool: 'unmake' } },
      { id: 'two', tool: 'fill', compensate: { tool: 'empty' } },
      { id: 'three', tool: 'break' },
    ],
  })
  const { status } = await runPlaybook(playbook, { tools: work })
  expect({ status, ran }).toEqual({ status: 'failed', ran: ['make', 'fill', 'break', 'empty', 'unmake'] })
})

it('the README shows which way in keeps which rule', () => {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [
    row(['rule', ...waysIn.map(({ name }) => name)]),
    row(['---', ...waysIn.map(() => '---')]),
    ...keptRules.map(({ rule, says, except }) =>
      row([
        `${rule} ${says}`,
        ...waysIn.map(({ name }) => (except?.[name] === undefined ? '✓' : `– (${except[name]})`)),
      ]),
    ),
    row(['G11 no two runs share a plan', ...waysIn.map(() => '✓')]),
    row(['G12 a field that nobody would keep is refused', ...waysIn.map(() => '✓')]),
    row(['G17 what was done is undone when it fails', ...waysIn.map(({ name }) => undoing[name]!)]),
    row(['G18 an agent below is held to what is above it', ...waysIn.map(({ name }) => below[name]!)]),
  ].join('\n')
  expect(readFileSync('README.md', 'utf8')).toContain(table)
})
