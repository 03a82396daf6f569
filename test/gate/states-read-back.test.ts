import { describe, expect, it } from 'vitest'
import { admit, enforce, fakeClock, make, playbookOf, refusal, step } from './enforce.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import type { PlaybookDefinition } from '../../src/playbook/playbook.ts'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { replay } from '../../src/run/perform.ts'
import type { RunState } from '../../src/run/state.ts'
import { readState, type RunStateJson, writeState } from '../../src/run/state-json.ts'

/** What a state holds that its JSON leaves out, because it follows from the rest. */
function derived(state: RunState) {
  return {
    open: state.open,
    lingering: state.lingering,
    timed: state.timed.map((each) => each.step),
    inFlight: [...state.openTickets].map((ticket) => ticket.callId),
    known: [...state.byCallId.keys()],
    remaining: state.remaining,
    failedRequired: state.failedRequired,
    paused: state.paused,
    extraCalls: state.extraCalls,
    visits: [...state.activations, ...state.previous].map(
      (each) =>
        each && {
          visit: each.visit,
          used: each.used,
          open: each.open,
          succeeded: each.succeededTools,
          results: each.results,
          missing: each.missingKeywords,
          calls: each.tickets.map((ticket) => ticket.callId),
        },
    ),
  }
}

const keyword = { validation: { requiredResultKeywords: ['red', 'blue'] } }
const runs: [
  string,
  readonly PlaybookStepDefinition[],
  Omit<Partial<PlaybookDefinition>, 'steps'>,
  (enforcer: PlaybookEnforcer) => void,
][] = [
  [
    'extras of every outcome',
    [step('a')],
    { allowExtraTools: true },
    (enforcer) => {
      for (const outcome of ['succeeded', 'failed', 'unknown', 'not_executed'] as const)
        make(enforcer, `z-${outcome}`, { outcome })
      admit(enforcer, 'z')
    },
  ],
  [
    'calls of every outcome, settled in another order',
    [step('a', { ...keyword, maxToolCalls: 9 })],
    {},
    (enforcer) => {
      const ids = [1, 2, 3, 4, 5].map(() => admit(enforcer, 'a').callId!)
      enforcer.recordToolCall('a', { callId: ids[3]!, result: 'blue' })
      enforcer.recordToolCall('a', { callId: ids[1]!, outcome: 'not_executed' })
      enforcer.recordToolCall('a', { callId: ids[0]!, result: { n: 1 } })
      enforcer.recordToolCall('a', { callId: ids[2]!, outcome: 'unknown' })
    },
  ],
  [
    'a step in its second visit, with calls in both',
    [step('a', { maxToolCalls: 1 }), step('b')],
    {},
    (enforcer) => {
      make(enforcer, 'a', { outcome: 'failed' })
      enforcer.retryStep('a')
      make(enforcer, 'a')
      admit(enforcer, 'b')
    },
  ],
  [
    'two steps in their second visits',
    [step('a', { maxToolCalls: 1, required: false }), step('b', { maxToolCalls: 1, required: false })],
    { strictSequence: false },
    (enforcer) => {
      for (const id of ['a', 'b']) make(enforcer, id, { outcome: 'failed' })
      for (const id of ['a', 'b']) enforcer.retryStep(id)
    },
  ],
  [
    'steps that failed, are skipped, and linger',
    [
      step('a', { required: false }),
      step('b', { required: false }),
      step('c', { maxToolCalls: 2 }),
      step('d'),
    ],
    {},
    (enforcer) => {
      enforcer.failCurrentStep('no')
      enforcer.skipCurrentStep()
      make(enforcer, 'c')
    },
  ],
  ['a required step that failed', [step('a'), step('b')], {}, (enforcer) => enforcer.failCurrentStep('no')],
  [
    'a step that waits for a person',
    [step('a', { maxToolCalls: 1, onLimit: 'escalate' }), step('b')],
    {},
    (enforcer) => make(enforcer, 'a', { outcome: 'failed' }),
  ],
  [
    'a when that could not be judged',
    [step('a'), step('b', { when: 'result("a").ok' })],
    {},
    (enforcer) => make(enforcer, 'a'),
  ],
]

describe('a state that is read back', () => {
  it.each(runs)('derives what it was: %s', (_, steps, fields, move) => {
    const events: RunEvent[] = []
    const enforcer = enforce(steps, fields, { onEvents: (each) => events.push(...each) })
    move(enforcer)
    const compiled = compilePlaybook(enforcer.playbook)
    const kept = replay(compiled, events)
    const read = readState(compiled, JSON.parse(JSON.stringify(writeState(kept))) as RunStateJson)
    expect(derived(read)).toEqual(derived(kept))
    expect(writeState(read)).toEqual(writeState(kept))
  })

  it('still awaits the judgement of a when that waits for a call in flight', () => {
    const playbook = playbookOf([step('a', { maxToolCalls: 9 }), step('b', { when: 'result("a").ok' })])
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook, { blockViolations: false })
    make(enforcer, 'a')
    admit(enforcer, 'a')
    enforcer.retryStep('b')
    const restored = PlaybookEnforcer.restore(playbook, enforcer.snapshot())
    restored.recordToolCall('a', { result: { ok: true } })
    expect(restored.plan.getStepExecution('b')).toMatchObject({ phase: 'open' })
  })

  it('begins the clock of a step that nobody has begun anew under another version', () => {
    const clock = fakeClock()
    const timed = step('a', { timeoutSeconds: 10 })
    const enforcer = enforce([timed], {}, { clock })
    clock.pass(9)
    const restored = PlaybookEnforcer.restore(playbookOf([timed, step('b')]), enforcer.snapshot(), {
      clock,
      acceptOtherVersion: true,
    })
    restored.checkTime()
    expect(refusal(restored, 'a')).toBeNull()
  })

  it('remembers calls that are open, for conditions that ask', () => {
    const playbook = playbookOf([step('a', { maxToolCalls: 2 })], {
      rules: [{ tool: 'a', require: 'count("a") == 0' }],
    })
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    admit(enforcer, 'a', {})
    const restored = PlaybookEnforcer.restore(playbook, enforcer.snapshot())
    expect(refusal(restored, 'a', {})).toBe('rule')
  })

  it('looks again at what was open, so that a version that asks for less goes on', () => {
    const enforcer = enforce([step('a', { validation: { minToolCalls: 2 }, maxToolCalls: 5 }), step('b')])
    make(enforcer, 'a')
    const restored = PlaybookEnforcer.restore(
      playbookOf([step('a', { maxToolCalls: 5 }), step('b')]),
      enforcer.snapshot(),
      { acceptOtherVersion: true },
    )
    make(restored, 'b')
    expect(restored.isComplete).toBe(true)
  })

  it('keeps the number of the visit under another version, though nothing has happened in it', () => {
    const enforcer = enforce([step('a')])
    enforcer.failCurrentStep('no')
    enforcer.retryStep('a')
    const restored = PlaybookEnforcer.restore(playbookOf([step('a'), step('b')]), enforcer.snapshot(), {
      acceptOtherVersion: true,
    })
    expect(restored.snapshot().state.activations[0]).toMatchObject({ step: 'a', visit: 2 })
  })
})

describe('a snapshot that cannot be read', () => {
  it.each<[string, (state: { -readonly [Key in keyof RunStateJson]: RunStateJson[Key] }) => void]>([
    [
      "The snapshot has a history for step 'z', which the playbook lacks.",
      (state) => (state.activations = [{ ...state.activations[0]!, step: 'z' }]),
    ],
    [
      "The snapshot has the step 'a' twice.",
      (state) => (state.activations = [state.activations[0]!, state.activations[0]!]),
    ],
    ["The snapshot has nothing to judge at step 'a'.", (state) => (state.toJudge = ['a'])],
    ["The snapshot has nothing to judge at step 'b'.", (state) => (state.toJudge = ['b'])],
    [
      "The snapshot has the call 'call-1' twice.",
      (state) => (state.tickets = [state.tickets[0]!, state.tickets[0]!]),
    ],
    [
      "The snapshot's call 'call-1' belongs to no visit of its step.",
      (state) => (state.tickets = [{ ...state.tickets[0]!, visit: 2 }]),
    ],
    [
      "The snapshot's call 'call-1' belongs to no visit of its step.",
      (state) => (state.tickets = [{ ...state.tickets[0]!, step: 'b' }]),
    ],
  ])('says why: %s', (message, damage) => {
    const enforcer = enforce([step('a'), step('b')])
    admit(enforcer, 'a')
    const state = structuredClone(enforcer.snapshot().state)
    damage(state)
    expect(() => readState(compilePlaybook(enforcer.playbook), state)).toThrow(message)
  })
})
