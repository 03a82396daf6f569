import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { agentTool } from '../../src/agent/agent-tool.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { tool } from '../../src/tool/tool.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import {
  answering,
  noting,
  playbookOf,
  proposing,
  saying,
  shownResults,
  step,
  watched,
  type Log,
} from './run-agent.ts'

/** The step of the run above: the agent, and whatever else no step names. */
const open = playbookOf([step('research', { expectedTools: ['researcher', '*'], completeWhen: 'any' })])

function family(options: { child: Partial<AgentOptions>; parent?: Partial<AgentOptions>; log?: Log }): {
  parent: Agent
  model: ReturnType<typeof watched>
  log: Log
} {
  const log = options.log ?? []
  const child = new Agent({
    model: answering(proposing(['search', { q: 'x' }]), saying('Found it.')),
    tools: [noting(log, 'search', 'read'), noting(log, 'save')],
    ...options.child,
  })
  const researcher = agentTool(child, { name: 'researcher', description: 'Finds things out.' })
  const model = answering(proposing(['researcher', { prompt: 'Find x.' }]), saying('Done.'))
  const parent = new Agent({ model, tools: [researcher], playbook: open, ...options.parent })
  return { parent, model, log }
}

describe('an agent as a tool (G18)', () => {
  test('answers with its final message, under a run of its own that both records name', async () => {
    const journal = new MemoryJournal()
    const { parent, model, log } = family({ child: { journal } })
    const result = await parent.run('go', { run: 'above' })
    expect(result.status).toBe('succeeded')
    expect(log).toEqual(['search'])
    expect(shownResults(model.questions[1]!)).toEqual([{ type: 'text', value: 'Found it.' }])
    const [child] = await journal.runs()
    const delegated = result.snapshot.entries.find(({ type }) => type === 'agent.delegated')
    expect(delegated?.data).toEqual({ callId: '1.c1', child })
    const prompted = (await journal.read(child!)).find(({ type }) => type === 'agent.prompted')
    expect(prompted?.data).toEqual({ text: 'Find x.', parent: { run: 'above', callId: '1.c1' } })
  })

  test('cannot be resumed without the run above, whose rules it would leave', async () => {
    const journal = new MemoryJournal()
    const stuck = () => Promise.reject(new Error('cut'))
    const options = {
      journal,
      model: answering(proposing(['save', {}]), proposing(['save', {}]), saying('Done.')),
      tools: [tool({ name: 'save', description: 'S', execute: stuck })],
    }
    const { parent } = family({ child: options })
    await parent.run('go', { run: 'upper' })
    const [child] = await journal.runs()
    await expect(new Agent(options).resume(child!)).rejects.toThrow(/part of run upper/)
  })

  test('makes calls that are calls of the run above too, admitted before and settled after', async () => {
    const { parent } = family({ child: {} })
    const { snapshot } = await parent.run('go')
    const tickets = snapshot.entries.filter(({ type }) => type === 'tool.admitted' || type === 'tool.settled')
    expect(tickets.map(({ type, data }) => [type, data['callId']])).toEqual([
      ['tool.admitted', '1.c1'],
      ['tool.admitted', '1.c1/1.c1'],
      ['tool.settled', '1.c1/1.c1'],
      ['tool.settled', '1.c1'],
    ])
  })

  test('cannot call what a rule above forbids', async () => {
    const rules = [{ tool: 'search', require: 'args.q != "x"', message: 'x is not to be searched for' }]
    const childModel = answering(proposing(['search', { q: 'x' }]), saying('Nothing.'))
    const playbook = playbookOf([...open.steps], { rules })
    const { parent, log } = family({ child: { model: childModel }, parent: { playbook } })
    const result = await parent.run('go')
    expect(log).toEqual([])
    expect(result.violations).toMatchObject([{ violationType: 'rule', toolName: 'search' }])
    expect(JSON.stringify(shownResults(childModel.questions[1]!))).toContain('x is not to be searched for')
  })

  test('cannot call what the step above does not let through, nor a tool of a later step', async () => {
    const strict = playbookOf([step('research', { expectedTools: ['researcher'] })])
    const first = family({ child: {}, parent: { playbook: strict } })
    await first.parent.run('go')
    expect(first.log).toEqual([])
    const log: Log = []
    const later = playbookOf([...open.steps, step('search')])
    const child = new Agent({
      model: answering(proposing('search'), saying('x')),
      tools: [noting(log, 'search')],
    })
    const tools = [agentTool(child, { name: 'researcher', description: 'R' }), noting(log, 'search')]
    const model = answering(proposing(['researcher', { prompt: 'x' }]), proposing('search'), saying('Done.'))
    const result = await new Agent({ model, tools, playbook: later }).run('go')
    expect(result.violations).toMatchObject([{ violationType: 'out_of_sequence', toolName: 'search' }])
    expect(log).toEqual(['search'])
  })

  test('is held to its own playbook as well', async () => {
    const own = playbookOf([step('search'), step('save')])
    const model = answering(proposing('save'), saying('x'))
    const { parent, log } = family({ child: { model, playbook: own } })
    await parent.run('go')
    expect(log).toEqual([])
  })

  test('spends the caps and extras of the run above', async () => {
    const capped = playbookOf([...open.steps], { maxExtraCalls: 1 })
    const model = answering(proposing('search'), proposing('search'), saying('x'))
    const { parent, log } = family({ child: { model }, parent: { playbook: capped } })
    const result = await parent.run('go')
    expect(log).toEqual(['search'])
    expect(result.violations).toMatchObject([{ violationType: 'max_extra_calls' }])
  })

  test('spends the budgets of the run above, and is counted there', async () => {
    const model = watched(() => ({ ...proposing('search'), promptTokens: 400, completionTokens: 100 }))
    const { parent, log } = family({ child: { model }, parent: { budget: { tokens: 1_000 } } })
    const result = await parent.run('go')
    expect(log).toEqual(['search', 'search'])
    expect(result).toMatchObject({ status: 'failed', reason: 'the budget of 1000 tokens is used up (1000)' })
    expect(result.metrics).toMatchObject({ promptTokens: 800, completionTokens: 200 })
  })

  test('with a model whose price is not known cannot spend dollars of the run above', async () => {
    const childModel = answering(saying('x'))
    const { parent, model } = family({
      child: { model: childModel },
      parent: { budget: { dollars: 1 }, prices: { watched: { input: 1, output: 1 } } },
    })
    const priced = await parent.run('go')
    expect(childModel.questions).toEqual([])
    expect(JSON.stringify(shownResults(model.questions[1]!))).toContain('price of watched')
    expect(priced.metrics.cost).toBe(0)
  })

  test('is cancelled with the run above, which does not claim to know the outcome', async () => {
    const log: Log = []
    const controller = new AbortController()
    let told = false
    const slow = tool({
      name: 'save',
      description: 'Saves.',
      risk: 'write',
      execute: (_, { signal }) =>
        new Promise(() => {
          log.push('save')
          signal.addEventListener('abort', () => (told = true))
          setTimeout(() => controller.abort(), 10)
        }),
    })
    const { parent } = family({ child: { model: answering(proposing('save')), tools: [slow] } })
    const result = await parent.run('go', { signal: controller.signal })
    expect(result.status).toBe('cancelled')
    expect(told).toBe(true)
    const ticket = result.snapshot.entries.find(
      ({ type, data }) => type === 'tool.settled' && data['callId'] === '1.c1',
    )
    expect(ticket?.data['outcome']).toBe('unknown')
  })

  test('that ends short of success has failed if it changed nothing', async () => {
    const { parent, model } = family({ child: { model: answering(proposing('search')), maxIterations: 1 } })
    await parent.run('go')
    expect(JSON.stringify(shownResults(model.questions[1]!))).toMatch(
      /nothing was applied: researcher ended failed: the run took 1 turns.*it had changed nothing/,
    )
  })

  test('that ends short of success is of unknown outcome if something was done', async () => {
    const { parent, model } = family({ child: { model: answering(proposing('save')), maxIterations: 1 } })
    const result = await parent.run('go')
    expect(JSON.stringify(shownResults(model.questions[1]!))).toMatch(
      /Nobody knows.*it had called save before/,
    )
    expect(result.status).toBe('incomplete')
  })

  test('whose record breaks is its own trouble, and the run above goes on', async () => {
    const journal = new MemoryJournal()
    await journal.close()
    const { parent, log } = family({ child: { journal } })
    const result = await parent.run('go')
    expect(log).toEqual([])
    expect(result.status).toBe('incomplete')
  })

  test('makes no call that the run above could not write down', async () => {
    const kept = new MemoryJournal()
    const journal: Journal = {
      append: async (run, facts, options) => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        const below = facts.some(
          ({ type, data }) => type === 'tool.admitted' && /\//.test(String(data['callId'])),
        )
        if (below) throw new Error('disk full')
        return await kept.append(run, facts, options)
      },
      read: (run, from) => kept.read(run, from),
      runs: () => kept.runs(),
      close: () => kept.close(),
    }
    const { parent, log } = family({
      child: { model: answering(proposing('save'), saying('x')) },
      parent: { journal },
    })
    await expect(parent.run('go')).rejects.toMatchObject({ code: 'record_failed', message: /disk full/ })
    expect(log).toEqual([])
  })

  test('has the worst risk of its tools', () => {
    const make = (...risks: ('read' | 'write' | 'irreversible')[]) =>
      agentTool(
        new Agent({ model: answering(saying('x')), tools: risks.map((risk) => noting([], risk, risk)) }),
        { name: 'x', description: 'X' },
      ).risk
    expect([make(), make('read'), make('read', 'write'), make('write', 'irreversible')]).toEqual([
      'read',
      'read',
      'write',
      'irreversible',
    ])
  })

  test('takes what it is declared to take, and makes its task of it', async () => {
    const model = answering(saying('x'))
    const child = new Agent({ model })
    const input = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const
    expect(() => agentTool(child, { name: 'r', description: 'R', input })).toThrow(/no prompt/)
    const asked = agentTool(child, {
      name: 'researcher',
      description: 'R',
      input,
      prompt: ({ order }) => `Look at ${String(order)}.`,
    })
    const above = answering(proposing(['researcher', { order: 'ORD-1' }]), saying('Done.'))
    await new Agent({ model: above, tools: [asked] }).run('go')
    expect(model.questions[0]!.conversation).toContain('Look at ORD-1.')
  })

  test('runs nowhere but under an agent, because nobody else hands its authority down', async () => {
    const child = new Agent({ model: answering(saying('x')) })
    const tools = [agentTool(child, { name: 'research', description: 'R' })]
    const enforcer = PlaybookEnforcer.fromPlaybook(playbookOf([step('research')]), { tools })
    expect(await enforcer.call('research', { prompt: 'x' })).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('only run as a tool of another agent'),
    })
  })
})

describe('runs inside runs', () => {
  test('an agent that a tool runs by hand is a child all the same', async () => {
    const log: Log = []
    const inner = new Agent({
      model: answering(proposing('save'), saying('x')),
      tools: [noting(log, 'save')],
    })
    const smuggle = tool({
      name: 'a',
      description: 'A',
      execute: async () => (await inner.run('go')).message,
    })
    const model = answering(proposing('a'), saying('Done.'))
    const result = await new Agent({ model, tools: [smuggle], playbook: playbookOf([step('a')]) }).run('go')
    expect(log).toEqual([])
    expect(result.violations).toMatchObject([{ toolName: 'save', violationType: 'unexpected_tool' }])
  })

  test('a grandchild is judged by every run above it, and by their hooks', async () => {
    const log: Log = []
    const seen: string[] = []
    const hook = { beforeToolCall: ({ tool: name }: { tool: string }) => void seen.push(name) }
    const leaf = noting(log, 'leaf')
    const grandchild = new Agent({ model: answering(proposing('leaf'), saying('x')), tools: [leaf] })
    const call = (name: string) => answering(proposing([name, { prompt: 'x' }]), saying('x'))
    const child = new Agent({
      model: call('grand'),
      tools: [agentTool(grandchild, { name: 'grand', description: 'G' })],
    })
    const tools = [agentTool(child, { name: 'child', description: 'C' })]
    const rules = [{ tool: 'leaf', require: 'false', message: 'no leaves' }]
    const forbidding = playbookOf([step('s', { expectedTools: ['child', '*'], completeWhen: 'any' })], {
      rules,
    })
    const result = await new Agent({ model: call('child'), tools, playbook: forbidding, hooks: [hook] }).run(
      'go',
    )
    expect(log).toEqual([])
    expect(result.violations).toMatchObject([{ toolName: 'leaf', violationType: 'rule' }])
    expect(seen).toEqual(['child', 'grand', 'leaf'])
  })

  test('a run after a call has ended is no child of it', async () => {
    const { parent } = family({ child: {} })
    await parent.run('go')
    const alone = new Agent({ model: answering(saying('x')) })
    const { snapshot } = await alone.run('go')
    expect(snapshot.entries.find(({ type }) => type === 'agent.prompted')?.data).toEqual({ text: 'go' })
  })

  test('a run that is interrupted with a child in flight settles the child’s calls as unknown, by nobody’s key', async () => {
    const asked: string[] = []
    const log: Log = []
    const save = tool({
      name: 'save',
      description: 'S',
      risk: 'write',
      execute: () => log.push('save'),
      reconcile: (key) => {
        asked.push(key)
        return { outcome: 'failed' }
      },
    })
    const child = new Agent({ model: answering(proposing('save'), saying('x')), tools: [save] })
    const parent = new Agent({
      model: answering(proposing(['researcher', { prompt: 'x' }]), saying('Done.')),
      tools: [agentTool(child, { name: 'researcher', description: 'R' }), save],
      playbook: open,
    })
    const whole = await parent.run('go')
    const cut =
      whole.snapshot.entries.findIndex(
        ({ type, data }) => type === 'tool.admitted' && String(data['callId']).includes('/'),
      ) + 1
    const resumed = await parent.resume({ run: whole.run, entries: whole.snapshot.entries.slice(0, cut) })
    expect(resumed).toMatchObject({ status: 'incomplete', reason: /nobody knows what became of/ })
    expect(asked).toEqual([])
    expect(log).toEqual(['save'])
  })

  test('a child that cannot start says why, and nothing was applied', async () => {
    const { parent, model } = family({ child: { model: 'nonsense:x' } })
    await parent.run('go')
    expect(JSON.stringify(shownResults(model.questions[1]!))).toMatch(
      /nothing was applied: There is no model/,
    )
    expect(new ToolFailure('x').code).toBe('tool_failed')
  })
})
