import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/agent/answering-model.ts'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions, AgentResult } from '../../src/agent/agent-options.ts'
import { FileJournal } from '../../src/journal/file/file-journal.ts'
import type { Journal, JournalEntry } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
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

const by = { tenant: 'local', principal: 'local' }

/** A journal that holds the first entries of a run, as a crash would leave it. */
async function cutJournal(journal: Journal, entries: readonly JournalEntry[]): Promise<Journal> {
  const run = entries[0]!.run
  for (const [index, entry] of entries.entries())
    await journal.append(run, [entry], { ...by, expectedSeq: index })
  return journal
}

/** Everything that can be cut off: reads beside each other, a denial, a move, a write, an early answer. */
const playbook = playbookOf([
  step('look', { expectedTools: ['look', 'peek'] }),
  step('think', { expectedTools: [] }),
  step('think_again', { expectedTools: [] }),
  step('pay'),
  step('tell'),
])

/** What the model answers to a conversation that is as long as this; asking it again gives the same. */
function turnFor(answered: number): Answer {
  return (
    [
      proposing('look', 'peek'),
      proposing('pay', 'complete_step'),
      proposing('complete_step'),
      saying('Early.'),
      proposing('complete_step', 'pay'),
      proposing('tell'),
      saying('Done.'),
    ][answered] ?? saying('Done.')
  )
}

function world(log: Log, journal?: Journal, options: Partial<AgentOptions> = {}) {
  const asked: number[] = []
  const model = watched((_, { options: { prompt } }) => {
    const answered = prompt.filter(({ role }) => role === 'assistant').length
    asked.push(answered)
    // A read that was interrupted is asked for again.
    const again = prompt.filter((each) => each.role === 'tool' && /interrupted/.test(JSON.stringify(each)))
    const reads = again.filter((each) => /"toolName":"(look|peek)"/.test(JSON.stringify(each)))
    return turnFor(answered - reads.length)
  })
  const tools = [
    noting(log, 'look', 'read'),
    noting(log, 'peek', 'read'),
    noting(log, 'pay', 'irreversible'),
    noting(log, 'tell'),
  ]
  const agent = new Agent({
    model,
    tools,
    playbook,
    ...options,
    ...(journal === undefined ? {} : { journal }),
  })
  return { agent, asked, model }
}

async function wholeRun(): Promise<{ result: AgentResult; entries: readonly JournalEntry[]; log: Log }> {
  const log: Log = []
  const { agent } = world(log, new MemoryJournal())
  const result = await agent.run('go', { run: 'r1' })
  return { result, entries: result.snapshot.entries, log }
}

const whole = await wholeRun()

describe('a run that was cut off after any entry', () => {
  test('is a run with something of everything to cut', () => {
    expect(whole.result).toMatchObject({ status: 'succeeded', message: 'Done.' })
    expect(whole.log).toEqual(['look', 'peek', 'pay', 'tell'])
    const types = new Set(whole.entries.map(({ type }) => type))
    for (const type of ['tool.denied', 'tool.settled', 'finish.refused', 'agent.reminded', 'step.completed'])
      expect(types).toContain(type)
  })

  const cuts = whole.entries.map((_, index) => index + 1)
  const prompted = whole.entries.findIndex(({ type }) => type === 'agent.prompted') + 1

  test.each(cuts.filter((cut) => cut < prompted))(
    'says so where it had not begun (after entry %i)',
    async (cut) => {
      const journal = await cutJournal(new MemoryJournal(), whole.entries.slice(0, cut))
      await expect(world([], journal).agent.resume('r1')).rejects.toMatchObject({ code: 'invalid_snapshot' })
    },
  )

  test.each(cuts.filter((cut) => cut >= prompted))(
    'does everything exactly once, or says what nobody knows (after entry %i)',
    async (cut) => {
      const kept = whole.entries.slice(0, cut)
      const journal = await cutJournal(new MemoryJournal(), kept)
      // What was admitted and not settled may have run or not; here it did not, which only a person can find out.
      const settledIds = new Set(
        kept.filter(({ type }) => type === 'tool.settled').map(({ data }) => data['callId']),
      )
      const inFlight = kept.filter(
        ({ type, data }) => type === 'tool.admitted' && !settledIds.has(data['callId']!),
      )
      const log: Log = []
      const { agent, asked } = world(log, journal)
      const result = await agent.resume('r1')

      const before = kept
        .filter(({ type, data }) => type === 'tool.settled' && data['outcome'] === 'succeeded')
        .map(({ data }) => String(data['callId']))
      const effects = [...before.map((callId) => toolOf(callId)), ...log].filter(
        (tool) => tool === 'pay' || tool === 'tell',
      )
      const unknown = inFlight
        .map(({ data }) => data['tool'])
        .filter((tool) => tool === 'pay' || tool === 'tell')
      if (unknown.length === 0) {
        expect(result.status).toBe('succeeded')
        expect(effects).toEqual(['pay', 'tell'])
      } else {
        // Nothing that may have happened is tried again by itself.
        expect(result.status).toBe('incomplete')
        expect(result.reason).toContain(`nobody knows what became of ${String(unknown[0])}`)
        expect(effects).not.toContain(unknown[0])
      }
      const recorded = kept.filter(({ type }) => type === 'model.answered').length
      expect(asked.every((answered) => answered >= recorded)).toBe(true)
      const denials = (await journal.read('r1')).filter(
        ({ type, data }) => type === 'tool.denied' && data['tool'] === 'pay',
      )
      expect(denials).toHaveLength(1)
      const sentBack = (await journal.read('r1')).filter(({ type }) => type === 'finish.refused')
      if (unknown.length === 0) expect(sentBack).toHaveLength(1)
      const types = (await journal.read('r1')).map(({ type }) => type)
      const counted = types.filter((type) => type === 'iteration.started')
      expect(counted).toHaveLength(types.filter((type) => type === 'model.answered').length)
      if (unknown.length === 0) {
        const completed = (await journal.read('r1')).filter(({ type }) => type === 'step.completed')
        expect(completed.map(({ data }) => data['step'])).toEqual([
          'look',
          'think',
          'think_again',
          'pay',
          'tell',
        ])
      }
    },
  )

  const toolOf = (callId: string) =>
    String(
      whole.entries.find(({ type, data }) => type === 'tool.admitted' && data['callId'] === callId)!.data[
        'tool'
      ],
    )

  test('goes on in a file that a crash tore in the middle of a line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lockstep-resume-'))
    const cut =
      whole.entries.findIndex(({ type, data }) => type === 'tool.settled' && data['callId'] === '5.c2') + 1
    const journal = await cutJournal(new FileJournal(folder), whole.entries.slice(0, cut))
    await journal.close()
    const { appendFileSync } = await import('node:fs')
    appendFileSync(join(folder, 'r1.jsonl'), '{"v":1,"run":"r1","se')
    const log: Log = []
    const again = new FileJournal(folder)
    const result = await world(log, again).agent.resume('r1')
    expect(result.status).toBe('succeeded')
    expect(log).toEqual(['tell'])
    await again.close()
  })
})

describe('resuming', () => {
  test('from a snapshot needs no journal', async () => {
    const cut =
      whole.entries.findIndex(({ type, data }) => type === 'model.answered' && data['number'] === 5) + 1
    const log: Log = []
    const { agent, asked } = world(log)
    const result = await agent.resume({ run: 'r1', entries: whole.entries.slice(0, cut) })
    expect(result).toMatchObject({ status: 'succeeded', run: 'r1' })
    expect(log).toEqual(['pay', 'tell'])
    expect(asked).toEqual([5, 6])
    expect(result.metrics.iterations).toBe(7)
  })

  test('a run that has ended leaves it as it ended, and asks nobody', async () => {
    const { agent, asked } = world([], await cutJournal(new MemoryJournal(), whole.entries))
    expect(await agent.resume('r1')).toMatchObject({ status: 'succeeded', message: 'Done.', reason: null })
    const stopped = world([], new MemoryJournal(), { maxIterations: 1 })
    const { run } = await stopped.agent.run('go')
    expect(await stopped.agent.resume(run)).toMatchObject({ status: 'failed', reason: /1 turns/ })
    expect(asked).toEqual([])
    expect(stopped.asked).toHaveLength(1)
  })

  test('refuses what is no run, and a run of another playbook', async () => {
    const { agent } = world([], new MemoryJournal())
    await expect(agent.resume('nowhere')).rejects.toMatchObject({ code: 'invalid_snapshot' })
    const other = new Agent({
      model: answering(saying('x')),
      playbook: playbookOf([step('x', { expectedTools: [] })]),
    })
    await expect(other.resume(whole.result.snapshot)).rejects.toMatchObject({ code: 'playbook_mismatch' })
  })

  test('refuses a snapshot that knows more than the journal', async () => {
    const { agent } = world([], await cutJournal(new MemoryJournal(), whole.entries.slice(0, 5)))
    await expect(agent.resume(whole.result.snapshot)).rejects.toMatchObject({ code: 'journal_conflict' })
  })

  test('twice at once lets one of the two go on', async () => {
    const cut =
      whole.entries.findIndex(({ type, data }) => type === 'model.answered' && data['number'] === 5) + 1
    const journal = await cutJournal(new MemoryJournal(), whole.entries.slice(0, cut))
    const log: Log = []
    const two = await Promise.allSettled([
      world(log, journal).agent.resume('r1'),
      world(log, journal).agent.resume('r1'),
    ])
    expect(two.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(log).toEqual(['pay', 'tell'])
  })

  test('does not let a later write of the turn run because the record of the denial before it was cut off', async () => {
    const log: Log = []
    const tools = [noting(log, 'a'), noting(log, 'b')]
    const book = playbookOf([step('a'), step('b')])
    const model = () => answering(proposing('b', 'a'), saying('x'))
    const journal = new MemoryJournal()
    const first = await new Agent({ model: model(), tools, playbook: book, journal }).run('go', { run: 'r2' })
    expect(log).toEqual([])
    const entries = first.snapshot.entries
    const cut = entries.findIndex(({ type }) => type === 'tool.returned') + 1
    const again = await cutJournal(new MemoryJournal(), entries.slice(0, cut))
    await new Agent({ model: model(), tools, playbook: book, journal: again }).resume('r2')
    expect(log).toEqual([])
  })

  test('makes the second of two moves that one turn asks for, when only the first was shown', async () => {
    const book = playbookOf([step('a', { expectedTools: [] }), step('b', { expectedTools: [] })])
    const model = () => answering(proposing('complete_step', 'complete_step'), saying('Done.'))
    const { run, snapshot } = await new Agent({ model: model(), playbook: book }).run('go')
    const cut = snapshot.entries.findIndex(({ type }) => type === 'tool.returned') + 1
    const later = answering(saying('Done.'))
    const again = new Agent({ model: later, playbook: book })
    await again.resume({ run, entries: snapshot.entries.slice(0, cut) })
    expect(JSON.stringify(shownResults(later.questions[0]!))).toMatch(/"step":"a".*"step":"b"/)
  })

  test('goes through the gate and the hooks: a step-3 tool in the open turn is refused', async () => {
    const log: Log = []
    const seen: string[] = []
    const tools = ['a', 'b', 'c'].map((name) => noting(log, name))
    const book = playbookOf([step('a'), step('b'), step('c')])
    const hook = { name: 'watch', beforeToolCall: ({ tool }: { tool: string }) => void seen.push(tool) }
    const model = () => answering(proposing('c'), saying('x'))
    const first = await new Agent({ model: model(), tools, playbook: book }).run('go')
    const entries = first.snapshot.entries
    const cut = entries.findIndex(({ type }) => type === 'model.answered') + 1
    const resumed = new Agent({ model: answering(saying('x')), tools, playbook: book, hooks: [hook] })
    const result = await resumed.resume({ run: first.run, entries: entries.slice(0, cut) })
    expect(seen).toEqual(['c'])
    expect(log).toEqual([])
    expect(result.violations).toMatchObject([{ violationType: 'out_of_sequence' }])
  })
})

describe('a call whose outcome nobody knows', () => {
  const book = playbookOf([step('pay')])
  const failing = (log: Log) =>
    noting(log, 'pay', 'irreversible', () => {
      throw new Error('connection reset')
    })

  test('pauses the run, and settling it lets the run go on with the model told', async () => {
    const log: Log = []
    const journal = new MemoryJournal()
    const model = answering(proposing('pay'), saying('I could not find out.'), saying('x'), saying('Paid.'))
    const agent = new Agent({ model, tools: [failing(log)], playbook: book, journal })
    const paused = await agent.run('go', { run: 'r3' })
    expect(paused).toMatchObject({
      status: 'incomplete',
      reason: /nobody knows what became of pay \(1\.c1\)/,
    })
    const asked = model.questions.length
    const result = await agent.resume('r3', {
      settle: { '1.c1': { outcome: 'succeeded', result: { id: 7 } } },
    })
    expect(result).toMatchObject({ status: 'succeeded' })
    expect(model.questions[asked]!.conversation).toContain('what became of pay (1.c1): succeeded')
    expect(log).toEqual(['pay'])
  })

  test('is settled by an order where nobody is at work, and the model is told once when the run goes on', async () => {
    const journal = new MemoryJournal()
    const model = answering(proposing('pay'), saying('I could not find out.'), saying('x'), saying('Paid.'))
    const agent = new Agent({ model, tools: [failing([])], playbook: book, journal })
    await agent.run('go', { run: 'r4' })
    const order = { type: 'settle', outcome: 'succeeded', by: 'ann', reason: 'seen' } as const
    expect(await agent.order('r4', { ...order, callId: '9.c9' })).toBe(false)
    const big = { ...order, callId: '1.c1', result: '\ud800' }
    await expect(agent.order('r4', big)).rejects.toMatchObject({ code: 'invalid_value' })
    expect(await agent.order('r4', { ...order, callId: '1.c1', result: { id: 7 } })).toBe(true)
    expect(await agent.order('r4', { ...order, callId: '1.c1' })).toBe(false)
    const asked = model.questions.length
    expect(await agent.resume('r4')).toMatchObject({ status: 'succeeded' })
    expect(model.questions[asked]!.conversation).toContain('what became of pay (1.c1): succeeded')
    const reminded = (await journal.read('r4')).filter(({ type }) => type === 'agent.reminded')
    expect(reminded.filter(({ data }) => String(data['text']).includes('found out'))).toHaveLength(1)
  })

  test('that was in flight at the crash is settled as the host says, and shown as the call of the turn', async () => {
    const log: Log = []
    const cut =
      whole.entries.findIndex(({ type, data }) => type === 'tool.admitted' && data['callId'] === '5.c2') + 1
    const { agent, model } = world(log, await cutJournal(new MemoryJournal(), whole.entries.slice(0, cut)))
    const result = await agent.resume('r1', {
      settle: { '5.c2': { outcome: 'succeeded', result: { from: 'a person' } } },
    })
    expect(result.status).toBe('succeeded')
    expect(log).toEqual(['tell'])
    expect(shownResults(model.questions[0]!)).toMatchObject([{}, { value: { from: 'a person' } }])
  })

  test('must be open to be settled', async () => {
    const { agent } = world([], await cutJournal(new MemoryJournal(), whole.entries.slice(0, 8)))
    await expect(agent.resume('r1', { settle: { '9.c9': { outcome: 'failed' } } })).rejects.toMatchObject({
      code: 'usage',
    })
  })

  test('stays unknown over another interruption', async () => {
    const cut =
      whole.entries.findIndex(({ type, data }) => type === 'tool.admitted' && data['callId'] === '5.c2') + 1
    const journal = await cutJournal(new MemoryJournal(), whole.entries.slice(0, cut))
    expect((await world([], journal).agent.resume('r1')).status).toBe('incomplete')
    expect((await world([], journal).agent.resume('r1')).status).toBe('incomplete')
    const settlements = (await journal.read('r1')).filter(({ data }) => data['callId'] === '5.c2')
    expect(settlements.map(({ type }) => type)).toEqual(['tool.admitted', 'tool.settled'])
    const log: Log = []
    const result = await world(log, journal).agent.resume('r1', {
      settle: { '5.c2': { outcome: 'not_executed' } },
    })
    // Not executed: so the step is open again, and the model may do it.
    expect(result.playbookPlan.getStepExecution('pay')?.status).not.toBe('failed')
  })
})

describe('a step that waits for a person', () => {
  test('pauses the run, and retrying it on resume lets it go on', async () => {
    const log: Log = []
    const book = playbookOf([
      step('pay', {
        maxToolCalls: 1,
        onLimit: 'escalate',
        validation: { requiredResultKeywords: ['never'] },
      }),
    ])
    const tools = [noting(log, 'pay')]
    const agent = new Agent({
      model: answering(proposing('pay')),
      tools,
      playbook: book,
      journal: new MemoryJournal(),
    })
    const paused = await agent.run('go', { run: 'r4' })
    expect(paused).toMatchObject({ status: 'incomplete', reason: "step 'pay' waits for a person" })
    const again = await agent.resume('r4', { retry: ['pay'] })
    expect(again).toMatchObject({ status: 'incomplete', reason: "step 'pay' waits for a person" })
    expect(log).toEqual(['pay', 'pay'])
  })
})
