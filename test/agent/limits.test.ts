import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { tool } from '../../src/tool/tool.ts'
import {
  agentOf,
  answering,
  calls,
  noting,
  notingAll,
  playbookOf,
  proposing,
  saying,
  says,
  shownResults,
  step,
  watched,
} from './run-agent.ts'

const book = playbookOf([step('a'), step('b')])
const usage = { promptTokens: 900, completionTokens: 100 }

describe('a budget', () => {
  test('in tokens stops the run as failed, before the call that would exceed it', async () => {
    const { tools } = notingAll('a')
    const model = answering({ ...proposing('a'), ...usage })
    const result = await new Agent({ model, tools, budget: { tokens: 2_000 } }).run('go')
    expect(result).toMatchObject({ status: 'failed', reason: 'the budget of 2000 tokens is used up (2000)' })
    expect(model.questions).toHaveLength(2)
    expect(result.metrics).toMatchObject({ promptTokens: 1_800, completionTokens: 200, iterations: 2 })
  })

  test('in dollars stops the run as failed with what was spent', async () => {
    const { tools } = notingAll('a')
    const model = watched(() => ({ ...proposing('a'), ...usage }), 'gpt-4o-2024-11-20')
    const result = await new Agent({ model, tools, budget: { dollars: 0.006 } }).run('go')
    expect(result).toMatchObject({ status: 'failed', reason: 'the budget of $0.006 is used up ($0.0065)' })
    expect(result.metrics.cost).toBeCloseTo(0.0065)
  })

  test('limits how long the next answer may be', async () => {
    const { tools } = notingAll('a')
    const model = answering({ ...proposing('a'), ...usage }, saying('x'))
    await new Agent({ model, tools, budget: { tokens: 2_100 }, maxTokens: 500 }).run('go')
    expect(model.questions.map(({ options }) => options.maxOutputTokens)).toEqual([500, 200])
  })

  test('in dollars is refused at the start for a model without a price, and accepted with one', async () => {
    const model = answering(saying('x', { prompt: 1_000_000, completion: 0 }))
    const budget = { dollars: 5 }
    await expect(new Agent({ model, budget }).run('go')).rejects.toMatchObject({ code: 'unpriced_model' })
    expect(model.questions).toEqual([])
    const priced = await new Agent({ model, budget, prices: { watched: { input: 2, output: 4 } } }).run('go')
    expect(priced.metrics.cost).toBe(2)
  })

  test('of a resumed run counts what was spent before', async () => {
    const { tools } = notingAll('a')
    const model = answering({ ...proposing('a'), ...usage })
    const agent = new Agent({ model, tools, budget: { tokens: 1_500 } })
    const first = await new Agent({ model, tools, maxIterations: 1 }).run('go')
    const entries = first.snapshot.entries.filter(({ type }) => type !== 'run.finished')
    const result = await agent.resume({ run: first.run, entries })
    expect(result.metrics.promptTokens).toBe(1_800)
    expect(result.reason).toContain('(2000)')
  })
})

describe('the cost of a run', () => {
  test('is null where the price is not known, never zero', async () => {
    expect((await agentOf([says('x')]).run('go')).metrics.cost).toBeNull()
  })
})

describe('limits', () => {
  test('maxIterations ends the run as failed with the reason', async () => {
    const { tools } = notingAll('a')
    const model = answering(proposing('a'))
    const result = await new Agent({ model, tools, maxIterations: 3 }).run('go')
    expect(result).toMatchObject({ status: 'failed', reason: 'the run took 3 turns, which is all it may' })
    expect(model.questions).toHaveLength(3)
  })

  test("the playbook's max_iterations binds too", async () => {
    const { tools } = notingAll('a', 'b')
    const model = answering(proposing('b'))
    const playbook = playbookOf([step('a'), step('b')], { maxIterations: 2 })
    const result = await new Agent({ model, tools, playbook }).run('go')
    expect(result).toMatchObject({ status: 'failed', reason: /iterations/ })
    expect(model.questions).toHaveLength(2)
  })

  test('a model that repeats refused calls ends the run incomplete with the reason', async () => {
    const { log, tools } = notingAll('a', 'b')
    const model = answering(proposing('b'))
    const result = await new Agent({ model, tools, playbook: book }).run('go')
    expect(result).toMatchObject({ status: 'incomplete', reason: 'nothing was done in 5 turns in a row' })
    expect(log).toEqual([])
    expect(model.questions).toHaveLength(5)
    const patient = answering(proposing('b'))
    await new Agent({ model: patient, tools, playbook: book, maxIdleTurns: 2 }).run('go')
    expect(patient.questions).toHaveLength(2)
  })

  test('a step whose time is over fails the run with that reason, whatever the model says then', async () => {
    const { tools } = notingAll('a', 'b')
    const playbook = playbookOf([step('a', { timeoutSeconds: 0.02 }), step('b')])
    const model = watched(async () => {
      await new Promise((resolve) => setTimeout(resolve, 40))
      return saying('Done.')
    })
    const result = await new Agent({ model, tools, playbook }).run('go')
    expect(result.status).toBe('failed')
    expect(result.reason).toMatch(/a.*(time|0\.02)/)
  })

  test.each([
    [{ maxIterations: Number.NaN }, /maxIterations/],
    [{ maxIterations: 0 }, /maxIterations/],
    [{ budget: { tokens: -1 } }, /budget.tokens/],
    [{ budget: { dollars: Number.NaN } }, /budget.dollars/],
    [{ budget: { euros: 3 } as never }, /euros/],
    [{ offer: 'none' as never }, /offer/],
    [{ playbok: book } as never, /no option 'playbok'/],
    [{ onApproval: 'yes' } as never, /onApproval must be a function/],
  ])('that limit nothing are refused at construction: %j', (options, message) => {
    expect(() => agentOf([says('x')], options)).toThrow(message)
  })
})

describe('cancelling', () => {
  test('while the model thinks ends the run cancelled, and nothing is done', async () => {
    const { log, tools } = notingAll('a')
    const controller = new AbortController()
    const agent = agentOf([{ ...calls('a'), delay_ms: 5_000 }], { tools })
    setTimeout(() => controller.abort(), 20)
    const result = await agent.run('go', { signal: controller.signal })
    expect(result).toMatchObject({ status: 'cancelled', reason: 'the run was cancelled' })
    expect(log).toEqual([])
  })

  test('before the run begins asks nobody', async () => {
    const model = answering(saying('x'))
    const result = await new Agent({ model }).run('go', { signal: AbortSignal.abort() })
    expect(result.status).toBe('cancelled')
    expect(model.questions).toEqual([])
  })

  test('while a tool writes leaves its outcome unknown, tells the tool, and starts nothing more', async () => {
    const log: string[] = []
    const controller = new AbortController()
    let told = false
    const slow = tool({
      name: 'slow',
      description: 'Slow.',
      risk: 'write',
      execute: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => (told = true))
          setTimeout(() => controller.abort(), 10)
        }),
    })
    const result = await agentOf([calls('slow', 'after')], { tools: [slow, noting(log, 'after')] }).run(
      'go',
      {
        signal: controller.signal,
      },
    )
    expect(result.status).toBe('cancelled')
    expect(told).toBe(true)
    expect(log).toEqual([])
    const settled = result.snapshot.entries.find(({ type }) => type === 'tool.settled')
    expect(settled?.data['outcome']).toBe('unknown')
  })
})

describe('the record (A2)', () => {
  /** A journal whose disk is full after so many appends. */
  function filling(room: number): Journal & { readonly kept: MemoryJournal } {
    const kept = new MemoryJournal()
    let appends = 0
    return {
      kept,
      append: async (run, facts, options) => {
        if (appends++ >= room) throw new Error('disk full')
        return await kept.append(run, facts, options)
      },
      read: (run, from) => kept.read(run, from),
      runs: () => kept.runs(),
      close: () => kept.close(),
    }
  }

  test('says what the model answered before any call of it is judged', async () => {
    const { tools } = notingAll('a', 'b')
    const result = await agentOf([calls('a'), calls('b'), says('x')], { tools, playbook: book }).run('go')
    const types = result.snapshot.entries.map(({ type }) => type)
    expect(types.indexOf('model.answered')).toBeLessThan(types.indexOf('tool.admitted'))
    expect(types.indexOf('tool.admitted')).toBeLessThan(types.indexOf('tool.settled'))
  })

  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'that cannot be written after %i appends lets no tool run beyond it, says so, and is kept',
    async (room) => {
      const { log, tools } = notingAll('a', 'b')
      const journal = filling(room)
      const agent = agentOf([calls('a'), calls('b'), says('x')], { tools, playbook: book, journal })
      await expect(agent.run('go', { run: 'r1' })).rejects.toMatchObject({
        code: 'record_failed',
        message: /Run r1 could not be written down.*disk full/,
      })
      const entries = await journal.kept.read('r1')
      const admitted = entries.filter(({ type }) => type === 'tool.admitted')
      expect(log.length).toBeLessThanOrEqual(admitted.length)
      expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    },
  )

  test('of a run whose name is taken is not mixed with the other', async () => {
    const journal = new MemoryJournal()
    const agent = agentOf([says('x'), says('y')], { journal })
    await agent.run('go', { run: 'same' })
    const before = await journal.read('same')
    await expect(agent.run('go', { run: 'same' })).rejects.toMatchObject({ code: 'run_exists' })
    expect(await journal.read('same')).toEqual(before)
  })

  test('of a run whose name was used in this process is not begun, without any journal (N1)', async () => {
    const keys: string[] = []
    const tools = [noting([], 'a', 'write', (_, { idempotencyKey }) => void keys.push(idempotencyKey))]
    const agent = () => agentOf([calls('a'), says('x')], { tools })
    await agent().run('go', { run: 'z' })
    await expect(agent().run('go', { run: 'z' })).rejects.toMatchObject({ code: 'run_exists' })
    expect(keys).toEqual(['z/1.s1-1'])
  })

  test('is not begun where another run of the name is, both at once', async () => {
    const agent = () => agentOf([says('x')])
    const begun = await Promise.allSettled([
      agent().run('go', { run: 'zz' }),
      agent().run('go', { run: 'zz' }),
    ])
    expect(begun.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })

  test.each(['../x', '', 'a b', 'x'.repeat(129), 5])('has no name that is none: %j', async (run) => {
    for (const journal of [{}, { journal: new MemoryJournal() }]) {
      const begun = agentOf([says('x')], journal).run('go', { run: run as string })
      await expect(begun).rejects.toMatchObject({ code: 'usage', message: /cannot name a run/ })
    }
  })

  test('gives every call a key that no other run has', async () => {
    const keys: string[] = []
    const tools = [noting([], 'a', 'write', (_, { idempotencyKey }) => void keys.push(idempotencyKey))]
    const model = watched((number) => (number % 2 === 1 ? proposing('a') : saying('x')))
    const agent = new Agent({ model, tools })
    const [one, two] = [await agent.run('go'), await agent.run('go')]
    expect(keys).toEqual([`${one.run}/1.c1`, `${two.run}/1.c1`])
  })
})

describe('the metrics of a run', () => {
  test('count tokens, turns, and the time of the model and of the tools', async () => {
    const took = { model: 0, tool: 0 }
    const pause = async (who: keyof typeof took) => {
      const began = performance.now()
      await new Promise((resolve) => setTimeout(resolve, 30))
      took[who] += (performance.now() - began) / 1000
    }
    const tools = [noting([], 'a', 'write', () => pause('tool'))]
    const began = performance.now()
    const model = watched(async (number) => {
      await pause('model')
      return number === 1 ? { ...proposing('a'), ...usage } : saying('x', { prompt: 10, completion: 5 })
    })
    const { metrics } = await new Agent({ model, tools }).run('go')
    expect(metrics).toMatchObject({ promptTokens: 910, completionTokens: 105, cost: null, iterations: 2 })
    // A millisecond is what clocks differ by. Nothing is counted for both.
    expect(metrics.modelSeconds).toBeGreaterThan(took.model - 0.001)
    expect(metrics.toolSeconds).toBeGreaterThan(took.tool - 0.001)
    const all = (performance.now() - began) / 1000
    expect(metrics.modelSeconds + metrics.toolSeconds).toBeLessThan(all + 0.001)
  })
})

describe('observing (G13)', () => {
  test('lets the call through, marks it, and offers every tool', async () => {
    const { log, tools } = notingAll('a', 'b')
    const model = answering(proposing('b'), proposing('a'), saying('x'))
    const result = await new Agent({ model, tools, playbook: book, blockViolations: false }).run('go')
    expect(log).toEqual(['b', 'a'])
    expect(result.violations).toMatchObject([{ violationType: 'out_of_sequence', blocked: false }])
    expect(model.questions[0]!.tools).toEqual(['a', 'b', 'complete_step', 'skip_step', 'fail_step'])
    expect(shownResults(model.questions[1]!)).toMatchObject([{ type: 'json', value: { from: 'b' } }])
  })
})
