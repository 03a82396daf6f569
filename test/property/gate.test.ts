import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { Playbook } from '../../src/playbook/playbook.ts'
import { decide } from '../../src/run/decide.ts'
import { denialCodes } from '../../src/run/denial-code.ts'
import { replay } from '../../src/run/perform.ts'
import { readState, writeState } from '../../src/run/state-json.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import type { CallToRun } from '../../src/tool/run-call.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { hostileValue } from './hostile-value.ts'
import { accept, Pair, proposed, type RunChoices } from './pair.ts'
import { type Operation, randomOperations, randomProposal } from './random-operation.ts'
import { randomPlaybook, type RandomPlaybook, randomTool } from './random-playbook.ts'
import { findExceeded, findForbidden } from './run-invariants.ts'

/** How much is tried: LOCKSTEP_RUNS=20 tries twenty times as much. */
const effort = Number(process.env['LOCKSTEP_RUNS'] ?? 1)
const patience = 60_000 * Math.max(1, effort)

const enforcing: fc.Arbitrary<RunChoices> = fc.record({
  enforced: fc.constant(true),
  flag: fc.boolean(),
  registered: fc.boolean(),
})
const observing = enforcing.map((choices) => ({ ...choices, enforced: false }))
const either = fc.oneof({ weight: 3, arbitrary: enforcing }, { weight: 1, arbitrary: observing })

/** Begins a run of a random playbook, and tries another where the playbook's own checks reject it. */
function begin(random: RandomPlaybook, choices: RunChoices): Pair {
  const playbook = accept(random)
  fc.pre(playbook !== null)
  return new Pair(playbook, random, choices)
}

/** Holds a property over random runs, whose operations are done by the property. */
function always(
  choices: fc.Arbitrary<RunChoices>,
  runs: number,
  property: (pair: Pair, operations: readonly Operation[], random: RandomPlaybook) => void,
): void {
  fc.assert(
    fc.property(randomPlaybook, choices, randomOperations, (random, choice, operations) => {
      property(begin(random, choice), operations, random)
    }),
    { numRuns: Math.ceil(runs * effort) },
  )
}

function compare(pair: Pair, operations: readonly Operation[]): void {
  expect(pair.observe()).toEqual(pair.expect())
  for (const operation of operations) {
    const { said, expected } = pair.apply(operation)
    expectSame(said, expected)
  }
}

/** Says where two values differ; much faster than `expect` where they do not. */
function expectSame(value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected)) expect(value).toEqual(expected)
}

describe('the naive gate', { timeout: patience }, () => {
  test('agrees on every verdict, status, phase, violation and end of an enforcing run', () => {
    always(enforcing, 700, compare)
  })

  test('agrees on every verdict, status, phase, violation and end of an observing run', () => {
    always(observing, 400, compare)
  })

  test('agrees on a fixed set of runs, which meet every way to refuse a call', () => {
    const seen = new Set<string>()
    let accepted = 0
    const runs = fc.sample(fc.tuple(randomPlaybook, either, randomOperations), { numRuns: 500, seed: 1 })
    for (const [random, choice, operations] of runs) {
      const playbook = accept(random)
      if (playbook === null) continue
      accepted++
      const pair = new Pair(playbook, random, choice)
      for (const operation of operations) {
        const { said, expected } = pair.apply(operation)
        expectSame(said, expected)
        if (operation.type === 'reset') continue
        for (const { violationType } of pair.enforcer.violations) seen.add(violationType)
      }
    }
    expect(accepted / runs.length).toBeGreaterThan(0.8)
    // Time is noticed before any call is judged, so a late call meets what came of it; a throw has a test of its own below.
    const elsewhere = ['timeout', 'gate_error', 'policy', 'awaiting_approval', 'run_cancelled']
    expect([...seen, ...elsewhere].toSorted()).toEqual(denialCodes.toSorted())
  })
})

describe('an enforcing run', { timeout: patience }, () => {
  test('admits nothing before its turn, in a stopped or paused run, or in a step that does not admit it', () => {
    always(enforcing, 350, (pair, operations, { naive }) => {
      for (const operation of operations) pair.apply(operation)
      expect(findForbidden(naive, pair.events)).toEqual([])
    })
  })

  test('never exceeds a cap, whatever is done to it', () => {
    always(enforcing, 350, (pair, operations, { naive }) => {
      for (const operation of operations) {
        pair.apply(operation)
        expectSame(findExceeded(naive, pair.enforcer.snapshot()), [])
      }
    })
  })

  test('never exceeds a cap nor runs beside a write, whatever calls are made side by side and however they end', async () => {
    await fc.assert(
      fc.asyncProperty(randomPlaybook, enforcing, turns, async (random, choice, calls) => {
        const pair = begin(random, { ...choice, registered: false })
        await runSideBySide(pair, random, calls)
      }),
      { numRuns: Math.ceil(200 * effort) },
    )
  })

  test('always has a legal move until it is complete or has ended', () => {
    always(either, 300, (pair, operations) => {
      for (const operation of operations) {
        pair.apply(operation)
        if (!pair.enforcer.isComplete && pair.enforcer.status === null) expect(findMove(pair)).not.toBeNull()
      }
    })
  })

  test('refuses a call when time is over and nobody has noticed it yet', () => {
    const playbook = new Playbook({
      id: 'late',
      name: 'Late',
      steps: [{ id: 's0', description: '', expectedTools: ['a'], timeoutSeconds: 1 }],
    })
    const { state } = PlaybookEnforcer.fromPlaybook(playbook, { clock: () => 0 }).snapshot()
    const call = { type: 'call', callId: null, tool: 'a', args: null } as const
    const answer = (now: number) => decide(readState(compilePlaybook(playbook), state), call, { now })
    expect(answer(999)).toMatchObject([{ type: 'tool.admitted' }])
    expect(answer(1000)).toMatchObject([{ type: 'tool.denied', code: 'timeout' }])
  })
})

describe('the record of a run', { timeout: patience }, () => {
  test('its events alone give the state that was, after every operation', () => {
    always(either, 300, (pair, operations) => {
      for (const operation of operations) {
        pair.apply(operation)
        const again = replay(compilePlaybook(pair.playbook), pair.events)
        expectSame(
          JSON.parse(JSON.stringify(writeState(again))),
          JSON.parse(JSON.stringify(pair.enforcer.snapshot().state)),
        )
      }
    })
  })

  test('putting it down as JSON and taking it up at any point changes no later verdict', () => {
    fc.assert(
      fc.property(randomPlaybook, either, randomOperations, (random, choice, operations) => {
        const [kept, restored] = [begin(random, choice), begin(random, choice)]
        for (const operation of operations) {
          restored.roundTrip()
          expectSame(restored.apply(operation).said, kept.apply(operation).said)
        }
        const [{ state: one }, { state: other }] = [restored.enforcer.snapshot(), kept.enforcer.snapshot()]
        expect([one.activations, one.tickets]).toEqual([other.activations, other.tickets])
      }),
      { numRuns: Math.ceil(200 * effort) },
    )
  })
})

describe('a forecast', { timeout: patience }, () => {
  const proposals = fc.array(randomProposal, { minLength: 1, maxLength: 8 })

  test('changes nothing, and says what becomes of the same calls when they are made and succeed', () => {
    fc.assert(
      fc.property(
        randomPlaybook,
        either,
        randomOperations,
        proposals,
        (random, choice, operations, calls) => {
          const pair = begin(random, choice)
          for (const operation of operations.slice(0, 10)) pair.apply(operation)
          const { enforcer } = pair
          const before = enforcer.snapshot()
          const forecast = enforcer.validateToolCalls(
            calls.map((call) => ({ tool: call.tool, ...proposed(call) })),
          )
          expect(enforcer.snapshot()).toEqual(before)
          const made = calls.map((call) => {
            const result = enforcer.validateToolCall(call.tool, proposed(call))
            if (result.callId !== null) enforcer.recordToolCall(call.tool, { callId: result.callId })
            return result
          })
          const verdicts = (results: readonly (typeof made)[number][]) =>
            results.map(({ allowed, code, currentStep }) => [allowed, code, currentStep?.id])
          expect(verdicts(forecast)).toEqual(verdicts(made))
        },
      ),
      { numRuns: Math.ceil(350 * effort) },
    )
  })
})

describe('validateToolCall', { timeout: patience }, () => {
  test('never throws, whatever it is given, and refuses what is no call', () => {
    fc.assert(
      fc.property(
        randomPlaybook,
        enforcing,
        hostileValue,
        hostileValue,
        hostileValue,
        fc.nat(3),
        (random, choice, ...given) => {
          const { enforcer, playbook } = begin(random, choice)
          const before = JSON.stringify(enforcer.snapshot().state.activations)
          const [one, other, third] = [given[0](), given[1](), given[2]()]
          const how = given[3]
          const tool = how % 2 === 0 ? 'a' : one
          const call = how < 2 ? { arguments: other, callId: third } : other
          const result = enforcer.validateToolCall(tool as string, call as object)
          if (typeof tool !== 'string') expect(result.allowed).toBe(false)
          if (result.allowed) return
          expect(denialCodes).toContain(result.code)
          expect(JSON.stringify(enforcer.snapshot().state.activations)).toBe(before)
          expect(enforcer.snapshot().state.tickets).toEqual([])
          PlaybookEnforcer.restore(playbook, JSON.parse(JSON.stringify(enforcer.snapshot())))
        },
      ),
      { numRuns: Math.ceil(400 * effort) },
    )
  })

  test('says gate_error when what it is given throws', () => {
    const playbook = new Playbook({ id: 'p', name: 'P', allowExtraTools: true })
    const call = Object.defineProperty({}, 'callId', { get: () => expect.unreachable() })
    const { allowed, code } = PlaybookEnforcer.fromPlaybook(playbook).validateToolCall('a', call)
    expect({ allowed, code }).toEqual({ allowed: false, code: 'gate_error' })
  })
})

interface RandomCall {
  readonly tool: string
  readonly k: number
  readonly ticks: number
  readonly ending: 'returns' | 'fails' | 'throws'
  readonly risk: 'read' | 'write'
}

const call: fc.Arbitrary<RandomCall> = fc.record({
  tool: randomTool,
  k: fc.constantFrom(1, 2),
  ticks: fc.nat({ max: 3 }),
  ending: fc.constantFrom('returns', 'returns', 'returns', 'fails', 'throws'),
  risk: fc.constantFrom('read', 'write'),
})
/** Turns of several models at once: a turn of one call is made by `call`, a longer one by `callAll`. */
const turns = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })

async function runSideBySide(
  pair: Pair,
  random: RandomPlaybook,
  calls: readonly (readonly RandomCall[])[],
): Promise<void> {
  const { enforcer } = pair
  let [readers, writers, done] = [0, 0, 0]
  const overlaps: string[] = []
  const toRun = ({ tool, k, ticks, ending, risk }: RandomCall): CallToRun => ({
    tool,
    risk,
    arguments: { k },
    async execute() {
      done++
      if (risk === 'write') writers++
      else readers++
      if (writers > 1 || (writers === 1 && readers > 0)) overlaps.push(`${tool} beside a write`)
      expect(findExceeded(random.naive, enforcer.snapshot())).toEqual([])
      for (let tick = 0; tick < ticks; tick++) await sleep(0)
      if (risk === 'write') writers--
      else readers--
      if (ending === 'fails') throw new ToolFailure('nothing was done')
      if (ending === 'throws') throw new Error('who knows')
      return { v: k }
    },
  })
  const turns = calls.map((turn) => {
    const [only, ...others] = turn.map(toRun)
    if (others.length > 0) return enforcer.callAll([only!, ...others])
    const { tool, arguments: args, execute, risk } = only!
    return enforcer.call(tool, args, execute, { risk: risk! }).then((outcome) => [outcome])
  })
  const outcomes = (await Promise.all(turns)).flat()
  const { tickets } = enforcer.snapshot().state
  expect(overlaps).toEqual([])
  expect(findExceeded(random.naive, enforcer.snapshot())).toEqual([])
  expect(findForbidden(random.naive, pair.events)).toEqual([])
  expect(tickets.length).toBe(done)
  expect(outcomes.filter(({ enforcement }) => enforcement?.allowed === true).length).toBe(done)
}

/** Some move that is legal now: a call, a record of an open one, or a move of a step. */
function findMove(pair: Pair): string | null {
  const { enforcer, playbook } = pair
  const ticket = enforcer
    .snapshot()
    .state.tickets.find(({ settledAt, state }) => settledAt === null || state === 'unknown')
  if (ticket !== undefined) return `record ${ticket.callId}`
  const [legal] = pair.legalCalls(1)
  if (legal !== undefined && pair.copy().validateToolCall(legal.tool, proposed(legal)).allowed)
    return legal.tool
  const works = (move: (copy: PlaybookEnforcer) => unknown): boolean => {
    const copy = pair.copy()
    const before = JSON.stringify(copy.snapshot().state.activations)
    try {
      move(copy)
    } catch {
      return false
    }
    return JSON.stringify(copy.snapshot().state.activations) !== before
  }
  if (works((copy) => copy.skipCurrentStep())) return 'skip'
  if (works((copy) => copy.failCurrentStep('stuck'))) return 'fail'
  const stuck = playbook.steps.find(({ id }) => works((copy) => copy.retryStep(id)))
  return stuck === undefined ? null : `retry ${stuck.id}`
}
