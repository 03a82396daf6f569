import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import type { DueCall } from '../../src/run/due-calls.ts'
import { readState, writeState } from '../../src/run/state-json.ts'
import type { Outcome } from '../../src/run/ticket.ts'
import { decideAgain } from '../runbook/decide-again.ts'
import { type ScriptedOutcome, Simulation, type TimedRequest } from '../runbook/simulate.ts'
import {
  type Effect,
  findForbidden,
  type RandomRunbook,
  type RandomStep,
  toFile,
} from './runbook-invariants.ts'

/** How much is tried: LOCKSTEP_RUNS=20 tries twenty times as much. */
const effort = Number(process.env['LOCKSTEP_RUNS'] ?? 1)

const randomStep = fc.record({
  tool: fc.constantFrom('t0', 't1', 't2', 't3', 't4'),
  after: fc.array(fc.nat(5), { maxLength: 3 }),
  required: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  attempts: fc.integer({ min: 1, max: 3 }),
  undo: fc.oneof(fc.constantFrom('u0', 'u1'), fc.constant(null)),
  verify: fc.boolean(),
  items: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.integer({ min: 0, max: 3 })),
  concurrency: fc.integer({ min: 1, max: 3 }),
  when: fc.boolean(),
})

const randomRunbook: fc.Arbitrary<RandomRunbook> = fc.record({
  steps: fc.array(randomStep, { minLength: 1, maxLength: 6 }).map((steps) =>
    steps.map((step, index): RandomStep => {
      const before = new Set(step.after.filter((each) => each < index).map((each) => `s${each}`))
      return { ...step, id: `s${index}`, after: [...before] }
    }),
  ),
  onFailure: fc.constantFrom('compensate', 'stop', null),
  onCancel: fc.constantFrom('compensate', 'stop'),
})

const fates = [
  'succeeded',
  'succeeded',
  'succeeded',
  'succeeded',
  'failed',
  'unknown',
  'not_executed',
] as const

/** What becomes of one call after another, whichever they are. */
const randomWorld = fc.record({
  flag: fc.boolean(),
  fates: fc.array(
    fc.record({ outcome: fc.constantFrom(...fates), takes: fc.nat(30), applied: fc.boolean() }),
    { maxLength: 40 },
  ),
  cancelAt: fc.option(fc.nat(60), { nil: null, freq: 3 }),
  pauseAt: fc.option(fc.nat(60), { nil: null, freq: 4 }),
  crashes: fc.array(fc.nat(30), { maxLength: 4 }),
})

type World = typeof randomWorld extends fc.Arbitrary<infer Value> ? Value : never

function compile(runbook: RandomRunbook) {
  const { playbook, diagnostics } = parsePlaybook(JSON.stringify(toFile(runbook)), { format: 'json' })
  if (playbook === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return compilePlaybook(playbook)
}

/** Plays a run in a world in which calls end as it says, people find out what is unknown, and the process dies now and then. */
function play(runbook: RandomRunbook, world: World, restarts: 'never' | 'always') {
  const effects: Effect[] = []
  const unknown: { readonly callId: string; readonly applied: boolean }[] = []
  let turn = 0
  const fateOf = ({ key, callId }: DueCall): ScriptedOutcome => {
    const { outcome = 'succeeded', takes = 0, applied = true } = world.fates[turn++] ?? {}
    effects.push({ key, applied: outcome === 'succeeded' || (outcome === 'unknown' && applied) })
    if (outcome === 'unknown') unknown.push({ callId, applied })
    return { outcome, takes, error: 'as fate has it' }
  }
  const { cancelAt, pauseAt } = world
  const by = { by: 'somebody', reason: null }
  const orders = [
    ...(cancelAt === null ? [] : [{ at: cancelAt, type: 'cancel', ...by }]),
    ...(pauseAt === null
      ? []
      : [
          { at: pauseAt, type: 'pause', ...by },
          { at: pauseAt + 40, type: 'unpause', ...by },
        ]),
  ]
  const simulation = new Simulation(compile(runbook), {
    inputs: { flag: world.flag, items: ['x', 'y', 'z'] },
    play: fateOf,
    requests: orders as TimedRequest[],
  })
  if (restarts === 'always') {
    simulation.onTurn = () => {
      simulation.restart()
      simulation.state = readState(
        simulation.compiled,
        JSON.parse(JSON.stringify(writeState(simulation.state))),
      )
    }
  }
  return { simulation, effects, unknown }
}

/** Goes on until the run has ended; whenever it stands still, somebody finds out what became of a call. */
function finish({ simulation, unknown }: ReturnType<typeof play>): void {
  for (let times = 0; times < 200 && simulation.state.ended === null; times++) {
    simulation.run(1_000)
    if (simulation.state.ended !== null) return
    const found = unknown.shift()
    if (found === undefined) return
    const { callId, applied } = found
    const ticket = simulation.state.byCallId.get(callId)
    if (ticket?.state !== 'unknown') continue
    simulation.request({
      type: 'settle',
      callId,
      tool: ticket.tool,
      outcome: applied ? 'succeeded' : 'failed',
      ...(applied ? { result: callId } : {}),
    })
  }
}

describe('a random runbook in a random world', { timeout: 60_000 * Math.max(1, effort) }, () => {
  test('keeps its order, its limits and its word, has no effect twice, and ends', () => {
    fc.assert(
      fc.property(randomRunbook, randomWorld, (runbook, world) => {
        const played = play(runbook, world, 'never')
        finish(played)
        const { compiled, events } = played.simulation
        expect(findForbidden(runbook, events, played.effects)).toEqual([])
        expect(decideAgain(compiled, events, () => null)).toBeNull()
      }),
      { numRuns: Math.ceil(600 * effort) },
    )
  })

  test('does the same when it is put down and taken up again before every call', () => {
    fc.assert(
      fc.property(randomRunbook, randomWorld, (runbook, world) => {
        const kept = play(runbook, world, 'never')
        const restored = play(runbook, world, 'always')
        finish(kept)
        finish(restored)
        expect(restored.simulation.events).toEqual(kept.simulation.events)
      }),
      { numRuns: Math.ceil(250 * effort) },
    )
  })

  test('keeps all of that when the process dies with calls in flight', () => {
    let died = 0
    fc.assert(
      fc.property(randomRunbook, randomWorld, (runbook, world) => {
        const played = play(runbook, world, 'never')
        const { simulation, effects, unknown } = played
        const crashes = [...world.crashes]
        let turn = 0
        simulation.onTurn = () => {
          if (!crashes.includes(turn++)) return
          simulation.crash((call): ScriptedOutcome => {
            died++
            // What was on its way may have arrived or not; who asks the service learns it, or nothing.
            const last = effects.findLastIndex(({ key }) => key === call.key)
            const { applied } = effects[last]!
            const sure = turn % 3 !== 0
            if (!sure) unknown.push({ callId: call.callId, applied })
            const outcome: Outcome = sure ? (applied ? 'succeeded' : 'not_executed') : 'unknown'
            return { outcome }
          })
        }
        finish(played)
        expect(findForbidden(runbook, simulation.events, effects)).toEqual([])
      }),
      { numRuns: Math.ceil(500 * effort) },
    )
    expect(died).toBeGreaterThan(50)
  })
})
