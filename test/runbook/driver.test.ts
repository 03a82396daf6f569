import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentEvent } from '../../src/agent/agent-event.ts'
import { Interruption } from '../../src/agent/interruption.ts'
import { RunControl } from '../../src/agent/run-control.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { dryRunTool } from '../../src/tool/dry-run-tool.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { tool, type Tool } from '../../src/tool/tool.ts'
import { ann, runbook, tick, until, workshop } from './workshop.ts'

describe('a runbook', () => {
  test('runs from its first call to its end without a model', async () => {
    const { effects, keys, make } = workshop()
    const playbook = runbook(`
      name: roll back
      inputs: { node: string }
      steps:
        - { name: cordon, tool: cordon, input: { node: "{inputs.node}" } }
        - { name: drain, tool: drain, input: { was: "{steps.cordon.output.done}" } }
    `)
    const agent = new Agent({ model: 'none', playbook, tools: [make('cordon'), make('drain')] })
    const result = await agent.run('', { inputs: { node: 'n7' }, run: 'r1' })
    expect({ status: result.status, reason: result.reason }).toEqual({ status: 'succeeded', reason: null })
    expect(effects).toEqual(['cordon {"node":"n7"}', 'drain {"was":"cordon"}'])
    expect(keys).toEqual(['r1/cordon', 'r1/drain'])
    expect(result.playbookPlan.completed).toBe(true)
  })

  test('writes the outcome of one call and the intent of the next in one append', async () => {
    const { make } = workshop()
    const journal = new MemoryJournal()
    const appends: string[][] = []
    const append = journal.append.bind(journal)
    journal.append = async (run, facts, options) => {
      appends.push(facts.map(({ type }) => type))
      return await append(run, facts, options)
    }
    const playbook = runbook('name: two\nsteps: [{ name: a, tool: a }, { name: b, tool: b }]')
    await new Agent({ model: 'none', playbook, tools: [make('a'), make('b')], journal }).run('')
    expect(appends).toEqual([
      ['run.started', 'agent.prompted', 'tool.admitted'],
      ['tool.settled', 'step.completed', 'tool.admitted'],
      ['tool.settled', 'step.completed', 'run.finished'],
    ])
  })

  test('makes calls side by side, and waits for its slowest before what follows', async () => {
    const order: string[] = []
    const slow = (name: string, ms: number) =>
      tool({
        name,
        description: name,
        risk: 'write',
        execute: async () => {
          order.push(`${name} begins`)
          await new Promise((resolve) => void setTimeout(resolve, ms))
          order.push(`${name} ends`)
        },
      })
    const playbook = runbook(`
      name: beside
      steps:
        - parallel: [{ name: a, tool: a }, { name: b, tool: b }]
        - { name: c, tool: c }
    `)
    const tools = [slow('a', 30), slow('b', 5), slow('c', 0)]
    const { status } = await new Agent({ model: 'none', playbook, tools }).run('')
    expect(status).toBe('succeeded')
    expect(order).toEqual(['a begins', 'b begins', 'b ends', 'a ends', 'c begins', 'c ends'])
  })

  test('tries again after the delay, under the same key', async () => {
    const { keys, make } = workshop()
    let times = 0
    const flaky = make('do', {
      execute: (_, { idempotencyKey }) => {
        keys.push(idempotencyKey)
        if (++times < 3) throw new ToolFailure('busy')
        return 'ok'
      },
    })
    const playbook = runbook(
      'name: again\nsteps: [{ name: a, tool: do, retry: { attempts: 3, delay_seconds: 0.02, backoff: 1 } }]',
    )
    const began = performance.now()
    const { status } = await new Agent({ model: 'none', playbook, tools: [flaky] }).run('', { run: 'r' })
    expect(status).toBe('succeeded')
    expect(keys).toEqual(['r/a', 'r/a', 'r/a'])
    expect(performance.now() - began).toBeGreaterThan(35)
  })

  test('undoes what it did when a step fails, and says so', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(`
      name: undo
      steps:
        - { name: a, tool: do, input: { n: 1 }, compensate: { tool: undo, input: { n: 1 } } }
        - { name: b, tool: fail }
    `)
    const failing = make('fail', {
      execute: () => {
        throw new ToolFailure('no room')
      },
    })
    const { status, reason } = await new Agent({
      model: 'none',
      playbook,
      tools: [make('do'), make('undo'), failing],
    }).run('')
    expect({ status, reason }).toEqual({
      status: 'failed',
      reason: 'Step b: fail failed: no room. Undone: a',
    })
    expect(effects).toEqual(['do {"n":1}', 'undo {"n":1}'])
  })

  test('undoes what a tool itself says undoes it', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(
      'name: own\non_failure: compensate\nsteps: [{ name: a, tool: do, input: { n: 4 } }, { name: b, tool: fail }]',
    )
    const own = make('do', { compensate: ({ n }, result) => ({ tool: 'undo', args: { n: n!, result } }) })
    const failing = make('fail', {
      execute: () => {
        throw new ToolFailure('no')
      },
    })
    await new Agent({ model: 'none', playbook, tools: [own, make('undo'), failing] }).run('')
    expect(effects).toEqual(['do {"n":4}', 'undo {"n":4,"result":{"done":"do"}}'])
  })

  test('holds a call that requires approval although no policy is configured, and goes on when it is given', async () => {
    const { effects, make } = workshop()
    const journal = new MemoryJournal()
    const playbook = runbook(
      'name: held\nsteps: [{ name: a, tool: do, requires_approval: true, required_roles: [OnCall] }, { name: b, tool: other }]',
    )
    const tools = [make('do'), make('other')]
    const agent = new Agent({ model: 'none', playbook, tools, journal })
    const first = await agent.run('', { run: 'r' })
    expect(first.status).toBe('incomplete')
    expect(first.reason).toBe('do (a) waits for approval')
    expect(effects).toEqual([])
    const voter = { ...ann, roles: ['Guest'], answer: 'approve' } as const
    expect(await agent.vote('r', 'a', voter)).toHaveProperty('refused')
    expect(await agent.vote('r', 'a', { ...ann, answer: 'approve' })).toEqual({ comesTo: 'granted' })
    const second = await agent.resume('r')
    expect(second.status).toBe('succeeded')
    expect(effects).toEqual(['do {}', 'other {}'])
    const admitted = second.snapshot.entries.find(
      ({ type, data }) => type === 'tool.admitted' && data['callId'] === 'a',
    )
    expect(JSON.stringify(admitted)).toContain('runbook.held')
  })

  test('is reached while it is at work: paused, let go on, approved and cancelled', async () => {
    const { effects, make } = workshop()
    const control = new RunControl()
    let goOn = () => undefined as void
    const slow = make('slow', {
      execute: async () => {
        effects.push('slow')
        await new Promise<void>((resolve) => (goOn = resolve))
      },
    })
    const playbook = runbook(`
      name: reached
      on_cancel: compensate
      strict_sequence: false
      steps:
        - { name: s, tool: slow, compensate: { tool: undo } }
        - { name: h, tool: do, requires_approval: true }
        - { name: z, tool: do, after: [s, h] }
    `)
    const agent = new Agent({ model: 'none', playbook, tools: [slow, make('do'), make('undo')] })
    const running = agent.run('', { control })
    await until(() => effects.length === 1)
    expect(control.live).toBe(true)
    expect(control.order({ type: 'pause', by: 'ann', reason: null })).toBe(true)
    expect(control.order({ type: 'pause', by: 'ann', reason: null })).toBe(false)
    expect(control.vote('h', { ...ann, answer: 'approve' })).toEqual({ comesTo: 'granted' })
    await tick()
    expect(effects).toEqual(['slow'])
    control.order({ type: 'unpause', by: 'ann', reason: null })
    await until(() => effects.length === 2)
    expect(effects).toEqual(['slow', 'do {}'])
    control.order({ type: 'cancel', by: 'ann', reason: 'enough' })
    goOn()
    const { status, reason } = await running
    expect({ status, reason }).toEqual({
      status: 'cancelled',
      reason: 'Cancelled by ann: enough. Undone: s. Nothing says how to undo: h',
    })
    expect(effects).toEqual(['slow', 'do {}', 'undo {}'])
    expect(control.live).toBe(false)
    expect(() => control.order({ type: 'cancel', by: 'ann', reason: null })).toThrow('not at work')
  })

  test('is cancelled by its signal, waits for what is in flight, and undoes it', async () => {
    const { effects, make } = workshop()
    const controller = new AbortController()
    const stubborn = make('do', {
      execute: async (_, { signal }) => {
        effects.push('do')
        controller.abort()
        await new Promise((resolve) => void setTimeout(resolve, 5))
        return signal.aborted
      },
      reconcile: () => ({ outcome: 'succeeded', result: true, note: 'it is done' }),
    })
    const playbook = runbook(
      'name: signal\non_cancel: compensate\nsteps: [{ name: a, tool: do, compensate: { tool: undo } }, { name: b, tool: do }]',
    )
    const agent = new Agent({ model: 'none', playbook, tools: [stubborn, make('undo')] })
    const { status } = await agent.run('', { signal: controller.signal })
    expect(status).toBe('cancelled')
    expect(effects).toEqual(['do', 'undo {}'])
  })

  test('is put down by an interruption and taken up where it was', async () => {
    const { effects, make } = workshop()
    const journal = new MemoryJournal()
    const controller = new AbortController()
    const first = make('a', {
      execute: () => {
        effects.push('a')
        controller.abort(new Interruption('put down'))
        return 1
      },
    })
    const playbook = runbook('name: down\nsteps: [{ name: a, tool: a }, { name: b, tool: b }]')
    const agent = new Agent({ model: 'none', playbook, tools: [first, make('b')], journal })
    const down = await agent.run('', { signal: controller.signal, run: 'r' })
    expect({ status: down.status, reason: down.reason }).toEqual({ status: 'incomplete', reason: 'put down' })
    expect(effects).toEqual(['a'])
    expect((await agent.resume('r')).status).toBe('succeeded')
    expect(effects).toEqual(['a', 'b {}'])
  })

  test('fails a step whose call a hook changes or forbids, and makes neither', async () => {
    const { effects, make } = workshop()
    const playbook = runbook('name: hooked\nsteps: [{ name: a, tool: do, input: { n: 1 } }]')
    const changing = new Agent({
      model: 'none',
      playbook,
      tools: [make('do')],
      hooks: [{ beforeToolCall: () => ({ arguments: { n: 2 } }) }],
    })
    const changed = await changing.run('')
    expect(changed.status).toBe('failed')
    expect(changed.reason).toContain('a hook changed what the runbook calls')
    const forbidding = new Agent({
      model: 'none',
      playbook,
      tools: [make('do')],
      hooks: [{ beforeToolCall: () => ({ deny: 'not on Fridays' }) }],
    })
    expect((await forbidding.run('')).reason).toContain('not on Fridays')
    expect(effects).toEqual([])
  })

  test('does not take a refusal that passes for one of the call: what is due goes on when the run does', async () => {
    const { effects, make } = workshop()
    const control = new RunControl()
    const journal = new MemoryJournal()
    const playbook = runbook('name: paused\nsteps: [{ name: a, tool: do }]')
    let pauses = true
    const agent = new Agent({
      model: 'none',
      playbook,
      tools: [make('do')],
      journal,
      hooks: [
        {
          beforeToolCall: () => {
            if (pauses) control.order({ type: 'pause', by: 'ann', reason: null })
            pauses = false
          },
        },
      ],
    })
    expect((await agent.run('', { control, run: 'r' })).reason).toBe('the run is paused by ann')
    await agent.order('r', { type: 'unpause', by: 'ann', reason: null })
    expect((await agent.resume('r')).status).toBe('succeeded')
    expect(effects).toEqual(['do {}'])
  })

  test('gives a call up when the time of its step is over', async () => {
    const { make } = workshop()
    const hanging = make('do', { risk: 'read', execute: () => new Promise(() => undefined) })
    const playbook = runbook('name: slow\nsteps: [{ name: a, tool: do, timeout_seconds: 0.03 }]')
    const { status, reason } = await new Agent({ model: 'none', playbook, tools: [hanging] }).run('')
    expect({ status, reason }).toEqual({ status: 'failed', reason: 'Step a: took longer than 0.03 s' })
  })

  test('shows what it would do in a dry run, and asks nobody', async () => {
    const { effects, make } = workshop()
    const playbook = runbook(`
      name: dry
      steps:
        - { name: look, tool: look }
        - { name: a, tool: do, input: { n: "{steps.look.output.done}" }, requires_approval: true, verify: { tool: look, expect: result.ok == true } }
        - { name: b, tool: do, input: { id: "{steps.a.output.id}" } }
    `)
    const tools = [make('look', { risk: 'read' }), make('do')].map((each) =>
      dryRunTool(each, { callReads: true }),
    )
    const policy = {
      policies: [],
      principal: { id: 'ann', kind: 'local', roles: [] },
      mode: 'dry-run',
    } as const
    // Also where no policies are asked that could say so.
    for (const how of [{ policy }, { mode: 'dry-run' } as const]) {
      const agent = new Agent({ model: 'none', playbook, tools, ...how })
      const { status, snapshot } = await agent.run('')
      expect(status).toBe('succeeded')
      expect(effects.splice(0)).toEqual(['look {}'])
      const sent = snapshot.entries
        .filter(({ type }) => type === 'tool.admitted')
        .map(({ data }) => data['args'])
      expect(sent).toEqual([{}, { n: 'look' }, { id: '{steps.a.output.id}' }])
    }
  })
})

describe('waiting', () => {
  test('for the next attempt ends at once when the run is put down, and goes on where it was', async () => {
    const { make } = workshop()
    const journal = new MemoryJournal()
    const controller = new AbortController()
    let fails = true
    const flaky = make('do', {
      execute: () => {
        if (fails) throw new ToolFailure('busy')
        return 'ok'
      },
    })
    const playbook = runbook(
      'name: wait\nsteps: [{ name: a, tool: do, retry: { attempts: 2, delay_seconds: 3600 } }]',
    )
    const agent = new Agent({ model: 'none', playbook, tools: [flaky], journal })
    const running = agent.run('', { signal: controller.signal, run: 'r' })
    const hasFailed = async () => (await journal.read('r')).some(({ type }) => type === 'tool.settled')
    while (!(await hasFailed())) await tick()
    controller.abort(new Interruption('put down'))
    expect((await running).reason).toBe('put down')
    fails = false
    const control = new RunControl()
    const again = agent.resume('r', { control })
    await until(() => control.live)
    control.order({ type: 'cancel', by: 'ann', reason: 'no time' })
    expect((await again).status).toBe('cancelled')
  })

  test('an order to a run that nobody is at work on is written down, and follows when it is resumed', async () => {
    const { effects, make } = workshop()
    const journal = new MemoryJournal()
    const playbook = runbook('name: held\nsteps: [{ name: a, tool: do, requires_approval: true }]')
    const agent = new Agent({ model: 'none', playbook, tools: [make('do')], journal })
    await agent.run('', { run: 'r' })
    expect(await agent.order('r', { type: 'pause', by: 'ann', reason: 'wait' })).toBe(true)
    expect(await agent.order('r', { type: 'pause', by: 'ann', reason: 'wait' })).toBe(false)
    await agent.vote('r', 'a', { ...ann, answer: 'approve' })
    expect((await agent.resume('r')).reason).toBe('the run is paused by ann: wait')
    expect(await agent.order('r', { type: 'unpause', by: 'ann', reason: null })).toBe(true)
    expect(await agent.order('r', { type: 'cancel', by: 'bob', reason: null })).toBe(true)
    const { status, reason } = await agent.resume('r')
    expect({ status, reason }).toEqual({ status: 'cancelled', reason: 'Cancelled by bob' })
    expect(effects).toEqual([])
    const alone = new Agent({ model: 'none', playbook, tools: [make('do')] })
    await expect(alone.order('r', { type: 'cancel', by: 'bob', reason: null })).rejects.toThrow('journal')
  })
})

describe('a run that was killed', () => {
  const text = `
    name: killed
    steps:
      - { name: cordon, tool: cordon, input: { node: n7 } }
      - { name: after, tool: after }
  `

  /** The record of a run that was killed while its first call was in flight. */
  async function killed(tools: readonly Tool[]) {
    const journal = new MemoryJournal()
    const playbook = runbook(text)
    const stuck = tools.map((each) => ({ ...each, execute: () => new Promise(() => undefined) }) as Tool)
    void new Agent({ model: 'none', playbook, tools: stuck, journal }).run('', { run: 'first' })
    const isAdmitted = async () => (await journal.read('first')).some(({ type }) => type === 'tool.admitted')
    while (!(await isAdmitted())) await tick()
    const entries = await journal.read('first')
    const copy = new MemoryJournal()
    await copy.append('r', entries, { tenant: 'local', principal: 'local', expectedSeq: 0 })
    return { agent: new Agent({ model: 'none', playbook, tools, journal: copy }) }
  }

  test('asks the tool what became of the call, tells it, and goes on', async () => {
    const { effects, make } = workshop()
    const asked: string[] = []
    const cordon = make('cordon', {
      reconcile: (key) => {
        asked.push(key)
        return { outcome: 'succeeded', result: { node: 'n7' }, note: 'already cordoned' }
      },
    })
    const { agent } = await killed([cordon, make('after')])
    const stream = agent.resumeStream('r')
    const events: AgentEvent[] = []
    for await (const event of stream) events.push(event)
    expect((await stream.result).status).toBe('succeeded')
    expect(asked).toEqual(['first/cordon'])
    expect(effects).toEqual(['after {}'])
    expect(events.find(({ type }) => type === 'tool.settled')).toMatchObject({
      callId: 'cordon',
      outcome: 'succeeded',
      found: { how: 'reconciled', note: 'already cordoned' },
    })
  })

  test('makes the call again where nothing was applied, without counting an attempt', async () => {
    const { effects, keys, make } = workshop()
    const cordon = make('cordon', { reconcile: () => ({ outcome: 'failed' }) })
    const { agent } = await killed([cordon, make('after')])
    expect((await agent.resume('r')).status).toBe('succeeded')
    expect(effects).toEqual(['cordon {"node":"n7"}', 'after {}'])
    expect(keys[0]).toBe('first/cordon')
  })

  test('waits for a person where nobody can say', async () => {
    const { effects, make } = workshop()
    const { agent } = await killed([make('cordon'), make('after')])
    const { status, reason } = await agent.resume('r')
    expect(status).toBe('incomplete')
    expect(reason).toContain('nobody knows what became of cordon (cordon)')
    expect(effects).toEqual([])
    const settled = await agent.resume('r', { settle: { cordon: { outcome: 'succeeded' } } })
    expect(settled.status).toBe('succeeded')
    expect(effects).toEqual(['after {}'])
  })
})
