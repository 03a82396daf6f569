/** What came of a run, so that one that was killed can be held against one that was not. */
import { expect } from 'vitest'
import { exportChains } from '../../src/journal/export-chains.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import type { PracticeEffect } from '../../src/practice/practice-store.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import { withoutAttempt } from '../../src/run/call-id.ts'
import { verifySignature } from '../record/export-of.ts'
import { openStore, type Job } from './work-on.ts'

/** How a run ended, what became of its steps, and what it did to the world, whatever the order of what runs side by side. */
export interface RunOutcome {
  readonly status: string
  readonly steps: Readonly<Record<string, string>>
  readonly undone: readonly string[]
  readonly effects: readonly string[]
}

const stepEnds = ['step.completed', 'step.failed', 'step.skipped']

/** Everything that was done to the world, in its order. */
export async function effectsOf(url: string): Promise<readonly PracticeEffect[]> {
  return ((await (await fetch(`${url}/effects`)).json()) as { effects: PracticeEffect[] }).effects
}

/** Sums a run up that has ended. */
export function outcomeOf(entries: readonly JournalEntry[], effects: readonly PracticeEffect[]): RunOutcome {
  const steps: Record<string, string> = {}
  for (const { type, data } of entries)
    if (stepEnds.includes(type)) steps[String(data['step'])] = type.slice('step.'.length)
  const end = entries.findLast(({ type }) => type === 'run.finished')
  const settled = entries.filter(
    ({ type, data }) => type === 'tool.settled' && data['outcome'] === 'succeeded',
  )
  const undone = settled.map(({ data }) => String(data['callId'])).filter((id) => id.includes('!'))
  return {
    status: String(end?.data['status'] ?? 'open'),
    steps: Object.fromEntries(Object.entries(steps).toSorted()),
    undone: undone.map(withoutAttempt).toSorted(),
    effects: effects.map(describeEffect).toSorted(),
  }
}

/**
 * `cordon practice.cordon_node node/node-7`, and that nothing changed where nothing did. What a model or a program
 * asks for again has a number of its own. */
function describeEffect({ key, tool, target, changed }: PracticeEffect): string {
  const call = key?.replace(/^[^/]*[/]/, '').replace(/^(\d+[.]|step-\d+$)/, '') ?? '-'
  return `${call} ${tool} ${target}${changed ? '' : ' unchanged'}`
}

/**
 * What was done came in an order that the record allows: nothing was done before the call was let through that did it, and what was over before another call
 * was let through was done before it. What was undone was undone in the reverse order of settlement.
 */
export function expectOrder(entries: readonly JournalEntry[], effects: readonly PracticeEffect[]): void {
  const done = effects.map(({ key }) => key?.replace(/^[^/]*[/]/, '') ?? '-')
  const calls = new Map<string, { begun: number; ended: number }>()
  const settledInOrder: string[] = []
  for (const { type, seq, data } of entries) {
    const id = withoutAttempt(String(data['callId']))
    if (type === 'tool.admitted' && !calls.has(id)) calls.set(id, { begun: seq, ended: Infinity })
    if (type !== 'tool.settled' || data['outcome'] !== 'succeeded') continue
    calls.get(id)!.ended = seq
    settledInOrder.push(id)
  }
  for (const [at, first] of done.entries())
    for (const second of done.slice(at + 1)) {
      const [one, other] = [calls.get(first), calls.get(second)]
      if (one !== undefined && other !== undefined)
        expect(other.ended, `${first} was done before ${second}`).toBeGreaterThan(one.begun)
    }
  const undone = done.filter((id) => id.endsWith('!')).map((id) => id.slice(0, -1))
  expect(undone).toEqual(settledInOrder.filter((id) => undone.includes(id)).toReversed())
}

/** The record is whole: its chain, its signatures, every decision made again, and the tenant's chain that says what was opened and closed. */
export async function expectProven({ folder, run }: Job, ended: boolean): Promise<void> {
  const store = openStore(folder)
  try {
    const checkpoint = await store.checkpoint(run, 1)
    const lines = await exportChains(store, [run], { tenants: ['local'] })
    const outside = { publicKeys: store.publicKeys(), checkpoints: [checkpoint] }
    const { verdict, findings, notRecomputable, runs } = verifyExport(lines, { verifySignature, ...outside })
    expect({ verdict, findings, notRecomputable }).toEqual({
      verdict: 'proven',
      findings: [],
      notRecomputable: [],
    })
    expect(runs).toMatchObject({ opened: 1, closed: ended ? 1 : 0, missing: [] })
    expect([await store.openRuns(), ended ? await store.locks('local') : []]).toEqual([
      ended ? [] : [run],
      [],
    ])
  } finally {
    await store.close()
  }
}
