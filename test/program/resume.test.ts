import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import type { Journal, JournalEntry } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { tool } from '../../src/tool/tool.ts'
import {
  computed,
  holds,
  judged,
  playbookCall,
  procedure,
  program,
  template,
  toolCall,
  variable,
} from './build-program.ts'

const by = { tenant: 'local', principal: 'local' }
const say = (source: string) =>
  ({ kind: 'say', words: { kind: 'literal', value: template(source) } }) as const
const call = (name: string, named: Record<string, string> = {}) =>
  ({ kind: 'call', target: null, value: computed('call_1', [toolCall(name, named)]) }) as const

/** Something of everything that can be cut off: a question to a person, a loop, a playbook, a judgement, an errand, a trigger. */
const playbook = programPlaybook(
  program([
    procedure('Main', [
      { kind: 'ask', words: null, targets: [variable('order', 'str')], until: null, maxTurns: 3 },
      {
        kind: 'each',
        item: variable('n'),
        over: computed('[1, 2]'),
        maxTurns: 5,
        steps: [call('look', { n: 'n' })],
      },
      { kind: 'if', arms: [{ condition: judged('the order is old'), steps: [say('old')] }] },
      {
        kind: 'call',
        target: variable('receipt'),
        value: computed('call_1', [playbookCall('Pay', '$order')]),
      },
      {
        kind: 'act',
        instruction: 'Look around',
        targets: [],
        reads: [],
        tools: ['look'],
        reach: 'named',
        maxCalls: 3,
      },
      { kind: 'return', value: computed('$receipt') },
    ]),
    procedure(
      'Pay',
      [
        {
          kind: 'if',
          arms: [{ condition: holds('true'), steps: [call('pay', { order: 'order' })] }],
        },
        { kind: 'return', value: computed('"paid " + order') },
      ],
      { parameters: [{ name: 'order', type: 'str' }] },
    ),
    procedure('Note', [say('noted {$receipt}')], {
      triggers: [
        {
          kind: 'state',
          value: computed('$receipt == "paid ORD-42"'),
          reads: ['receipt'],
          text: '',
          line: 1,
        },
      ],
    }),
  ]),
  'orders',
)

const turns = [
  { judge: true },
  { calls: [{ tool: 'look', arguments: { n: 3 } }] },
  { text: 'I looked around.' },
]

/** How many answers the record holds: a script goes on after them. */
function answered(entries: readonly JournalEntry[]): number {
  return entries.filter(({ type }) => type === 'question.answered' || type === 'model.answered').length
}

function world(log: string[], journal: Journal, past: readonly JournalEntry[] = []) {
  const noting = (name: string, risk: 'read' | 'write') =>
    tool({
      name,
      description: name,
      risk,
      execute: (args) => {
        log.push(`${name} ${JSON.stringify(args)}`)
        return { ok: true }
      },
    })
  const model = scriptedModel({
    turns: [...turns.slice(answered(past)), { text: 'more than there is to say' }],
  })
  const agent = new Agent({
    model,
    playbook,
    journal,
    tools: [noting('look', 'read'), noting('pay', 'write')],
  })
  const heard = past.some(({ type }) => type === 'message.received')
  const says = heard ? [] : ['ORD-42']
  return { agent, person: { hear: async () => says.shift() ?? null } }
}

/** A journal that notes after which entries a crash can happen: an append is all or nothing. */
class CuttableJournal extends MemoryJournal {
  readonly ends: number[] = []

  override async append(...given: Parameters<Journal['append']>) {
    const entries = await super.append(...given)
    this.ends.push(entries.at(-1)!.seq)
    return entries
  }
}

const wholeLog: string[] = []
const wholeJournal = new CuttableJournal()
const first = world(wholeLog, wholeJournal)
const whole = await first.agent.run('', { run: 'r1', person: first.person })
const entries = await wholeJournal.read('r1')
const effects = ['look {"n":1}', 'look {"n":2}', 'pay {"order":"ORD-42"}', 'look {"n":3}']

describe('a program that was cut off after any append', () => {
  test('is one with something of everything to cut', () => {
    expect(whole).toMatchObject({ status: 'succeeded', message: 'paid ORD-42', reason: null })
    expect(wholeLog).toEqual(effects)
    const types = new Set(entries.map(({ type }) => type))
    for (const type of [
      'question.answered',
      'message.received',
      'trigger.changed',
      'act.done',
      'branch.taken',
    ])
      expect(types).toContain(type)
    expect(wholeJournal.ends.length).toBeGreaterThan(15)
  })

  test('can be taken up as soon as it has begun: its task is written with its beginning', () => {
    const prompted = entries.find(({ type }) => type === 'agent.prompted')!.seq
    expect(wholeJournal.ends[0]).toBeGreaterThanOrEqual(prompted)
  })

  test.each(wholeJournal.ends)(
    'does everything exactly once, or says what nobody knows (after entry %i)',
    async (end) => {
      const kept = entries.slice(0, end)
      const journal = new MemoryJournal()
      for (const [index, entry] of kept.entries())
        await journal.append('r1', [entry], { ...by, expectedSeq: index })
      // What is settled has happened; what was admitted and not settled has not happened here.
      const done = kept
        .filter(({ type, data }) => type === 'tool.settled' && data['outcome'] === 'succeeded')
        .map(({ data }) =>
          kept.find((entry) => entry.type === 'tool.admitted' && entry.data['callId'] === data['callId'])!,
        )
        .filter(({ data }) => data['tool'] !== 'Pay')
        .map(({ data }) => `${String(data['tool'])} ${JSON.stringify(data['args'])}`)
      const log = [...done]
      const { agent, person } = world(log, journal, kept)
      let result = await agent.resume('r1', { person })
      const unknown = result.snapshot.entries.findLast(
        ({ type, data }) => type === 'tool.settled' && data['outcome'] === 'unknown',
      )
      if (result.status !== 'succeeded' && unknown !== undefined) {
        expect(result.reason).toMatch(/nobody knows what became of pay/)
        const again = world(log, journal, result.snapshot.entries)
        log.push('pay {"order":"ORD-42"}')
        result = await again.agent.resume('r1', {
          person: again.person,
          settle: { [String(unknown.data['callId'])]: { outcome: 'succeeded', result: { ok: true } } },
        })
      }
      expect(result).toMatchObject({ status: 'succeeded', message: 'paid ORD-42' })
      // A read of a model's own is not repeated: the model is told that it was interrupted.
      const cut = kept.some((entry) => entry.type === 'tool.admitted' && entry.data['callId'] === '2.s2-1')
      const told = cut && !done.includes('look {"n":3}')
      expect(log.toSorted()).toEqual(effects.filter((each) => !told || each !== 'look {"n":3}').toSorted())
    },
  )
})

describe('a program that was killed before', () => {
  const ask = {
    kind: 'ask',
    words: null,
    targets: [variable('order', 'str')],
    until: null,
    maxTurns: 3,
  } as const
  const short = programPlaybook(
    program([
      procedure('Main', [
        ask,
        call('pay', { order: 'order' }),
        { kind: 'return', value: computed('$order') },
      ]),
    ]),
    'short',
  )
  const killedAfter = async (type: string, keys: string[]) => {
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      risk: 'write',
      reconcile: () => ({ outcome: 'failed' }),
      execute: (_, { idempotencyKey }) => void keys.push(idempotencyKey),
    })
    const agentOn = (journal: Journal) => new Agent({ model: 'none', playbook: short, journal, tools: [pay] })
    const journal = new CuttableJournal()
    await agentOn(journal).run('ORD-42', { run: 'r' })
    const all = await journal.read('r')
    const at = all.find((entry) => entry.type === type)!.seq
    const kept = all.slice(
      0,
      journal.ends.find((end) => end >= at),
    )
    const copy = new MemoryJournal()
    await copy.append('r', kept, { ...by, expectedSeq: 0 })
    return await agentOn(copy).resume('r')
  }

  test('its first words were heard hears them when it is taken up', async () => {
    expect(await killedAfter('person.awaited', [])).toMatchObject({ status: 'succeeded', message: 'ORD-42' })
  })

  test('a call was carried out makes it anew under the same key: the first request may still be on its way', async () => {
    const keys: string[] = []
    expect(await killedAfter('tool.admitted', keys)).toMatchObject({ status: 'succeeded' })
    expect(keys).toEqual(['r/step-1', 'r/step-1'])
  })
})
