import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dueCalls } from '../../src/run/due-calls.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { replay } from '../../src/run/perform.ts'
import { writeState } from '../../src/run/state-json.ts'
import { readSnapshot, takeSnapshot } from '../../src/tool/snapshot.ts'
import { decideAgain } from './decide-again.ts'
import { compileRunbook, type Script, Simulation } from './simulate.ts'

/** A runbook, what happens around it, and what must come of it. */
interface RunCase extends Script {
  readonly note: string
  readonly runbook: string
  /** The calls that are made, in order: their ids, and the time unless it is 0. */
  readonly calls?: readonly string[]
  /** The arguments of some of them. */
  readonly sent?: { readonly [callId: string]: unknown }
  /** What is recorded besides admissions, successes and what follows from them. */
  readonly events?: readonly string[]
  readonly end: string | null
  readonly message?: string
  readonly steps?: { readonly [step: string]: string }
}

const folder = new URL('../cases/runbook/run/', import.meta.url)
const files = readdirSync(folder)

describe.each(files)('%s', (file) => {
  const cases = parse(readFileSync(new URL(file, folder), 'utf8')) as readonly RunCase[]

  test.each(cases.map((each) => [each.note, each] as const))('%s', (_, given) => {
    const compiled = compileRunbook(given.runbook)
    const simulation = new Simulation(compiled, given)
    let appends = 0
    simulation.onAppend = () => {
      appends++
      const { state, events, now } = simulation
      const stands = plain(writeState(state))
      const again = replay(compiled, events)
      expect(plain(writeState(again))).toEqual(stands)
      const snapshot = plain(takeSnapshot(state, true))
      const { state: restored } = readSnapshot(compiled, snapshot, false)
      expect(plain(writeState(restored))).toEqual(stands)
      const made = state.tickets.filter(({ state: at }) => at !== 'held' && at !== 'not_executed').length
      expect([state.made, again.made, restored.made]).toEqual([made, made, made])
      // Whoever takes the run up finds the same to do.
      const due = dueCalls(state, now)
      expect(dueCalls(again, now)).toEqual(due)
      expect(dueCalls(restored, now)).toEqual(due)
    }
    simulation.onAppend()
    simulation.run()
    expect(appends).toBe(simulation.appends.length)
    const { state, events } = simulation
    expect(decideAgain(compiled, events, (tool) => simulation.policyOf(tool))).toBeNull()
    expect({ end: state.ended, message: state.message ?? '' }).toEqual({
      end: given.end,
      message: given.message ?? state.message ?? '',
    })
    if (given.calls !== undefined) expect(simulation.calls).toEqual(given.calls)
    if (given.sent !== undefined) expect(simulation.sent).toMatchObject(given.sent)
    if (given.events !== undefined) expect(events.flatMap(tell)).toEqual(given.events)
    for (const [id, status] of Object.entries(given.steps ?? {})) {
      const index = compiled.positions.get(id)!
      expect([id, state.activations[index]?.status ?? 'pending']).toEqual([id, status])
    }
  })
})

test('there are enough cases, each with a note of its own', () => {
  const all = files.flatMap(
    (file) => parse(readFileSync(new URL(file, folder), 'utf8')) as readonly RunCase[],
  )
  expect(all.length).toBeGreaterThanOrEqual(40)
  expect(new Set(all.map(({ note }) => note)).size).toBe(all.length)
})

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** What an event says, in short; nothing for the ordinary. */
function tell(event: RunEvent): string[] {
  switch (event.type) {
    case 'run.started':
    case 'tool.admitted':
    case 'run.finished':
    case 'step.opened':
      return event.type === 'tool.admitted' && event.approvedAs !== undefined
        ? [`${event.callId} approved as ${event.approvedAs}`]
        : []
    case 'tool.held':
      return [`held ${event.callId}`]
    case 'tool.denied':
      return [`denied ${event.callId} ${event.code}${event.final === true ? ' finally' : ''}`]
    case 'tool.settled':
      return event.outcome === 'succeeded' && event.confirms !== false
        ? []
        : [`${event.callId} ${event.outcome === 'succeeded' ? 'does not confirm' : event.outcome}`]
    case 'step.completed':
    case 'step.skipped':
    case 'step.undecided':
      return [`${event.step} ${event.type.slice('step.'.length)}`]
    case 'step.failed':
      return [`${event.step} failed: ${event.error}`]
    case 'compensation.begun':
      return [`undoing (${event.cause})`]
    default:
      return [event.type]
  }
}
