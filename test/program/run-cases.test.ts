/** What becomes of Markdown programs, as data: test/cases/markdown/run. Each case runs once as it is, and once more from every cut. */
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { CuttableJournal, describeRun, runCase, unknownCall, worldOf, type RunCase } from './run-case.ts'

const folder = new URL('../cases/markdown/run/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
const by = { tenant: 'local', principal: 'local' }

/** Time passes as fast as nobody has anything else to do, and begins anew for each run. */
function startClock(): void {
  vi.useRealTimers()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  vi.setTimerTickMode('nextTimerAsync')
}
beforeEach(startClock)
afterAll(() => void vi.useRealTimers())

test('there are cases', () => {
  expect(files.length).toBeGreaterThan(10)
})

describe.each(files)('%s', (name) => {
  const { cases } = parse(readFileSync(new URL(name, folder), 'utf8')) as { cases: RunCase[] }

  test.each(cases.map((each) => [each.note, each] as const))('%s', async (_, each) => {
    const run = await runCase(each, new CuttableJournal())
    const { want } = each
    const { result, ...seen } = run
    expect({ status: result.status, ...pick(seen, want) }, result.reason ?? '').toEqual({
      status: want.status,
      ...pick(want, want),
    })
    if (want.message !== undefined) expect(result.message).toBe(want.message)
    if (want.reason !== undefined) expect(result.reason).toContain(want.reason)
    else if (want.status === 'succeeded') expect(result.reason).toBeNull()
  })

  test.each(cases.map((each) => [each.note, each] as const))('cut anywhere: %s', async (_, each) => {
    const journal = new CuttableJournal()
    const whole = await runCase(each, journal)
    const { entries } = whole.result.snapshot
    const prompted = entries.find(({ type }) => type === 'agent.prompted')!.seq
    for (const { seq, asked } of journal.ends.filter((end) => end.seq >= prompted)) {
      const cut = await takeUp(each, entries, seq, asked)
      const where = `cut after entry ${seq}: ${entries[seq - 1]!.type}`
      expect([cut.result.status, cut.result.message, cut.said], where).toEqual([
        whole.result.status,
        whole.result.message,
        whole.said,
      ])
      expect(cut.variables, where).toEqual(whole.variables)
      expect(cut.calls.toSorted(), where).toEqual(withoutOne(whole.calls, inFlight(entries, seq)).toSorted())
    }
  })
})

/** The parts of a run that a case speaks of. */
function pick(from: object, want: RunCase['want']): object {
  const parts = ['said', 'calls', 'variables', 'asked', 'denied'] as const
  const named = parts.filter((part) => want[part] !== undefined)
  return Object.fromEntries(named.map((part) => [part, (from as RunCase['want'])[part]]))
}

/** Goes on from the record as it was after some entry. What was in flight then had been done, and somebody finds that out. */
async function takeUp(each: RunCase, entries: readonly JournalEntry[], seq: number, asked: number) {
  startClock()
  const kept = entries.slice(0, seq)
  const journal = new MemoryJournal()
  for (const [index, entry] of kept.entries())
    await journal.append('r1', [entry], { ...by, expectedSeq: index })
  const world = worldOf(each, journal, kept, asked)
  let result = await world.agent.resume('r1', { person: world.person })
  for (let call = unknownCall(result); call !== null; call = unknownCall(result)) {
    const about = (type: string, list: readonly JournalEntry[]) =>
      list.findLast((entry) => entry.type === type && entry.data['callId'] === call)?.data as never
    const inFlightThen =
      about('tool.admitted', kept) !== undefined && about('tool.settled', kept) === undefined
    if (inFlightThen) {
      const { tool, args } = about('tool.admitted', kept)
      world.calls.push({ tool, args })
    }
    const { outcome, result: value, error } = about('tool.settled', entries)
    if (outcome === 'unknown') break
    const found = {
      outcome,
      ...(value === undefined ? {} : { result: value }),
      ...(error === undefined ? {} : { error }),
    }
    result = await world.agent.resume('r1', { person: world.person, settle: { [call]: found } })
  }
  return describeRun(each, result, world)
}

/** The call of a model's own that was in flight and only reads: it is not made again, the model is told. */
function inFlight(entries: readonly JournalEntry[], seq: number): string | null {
  const open = entries
    .slice(0, seq)
    .filter(({ type, data }) => type === 'tool.admitted' && /^\d+\./.test(String(data['callId'])))
    .find(
      ({ data }) =>
        !entries
          .slice(0, seq)
          .some((each) => each.type === 'tool.settled' && each.data['callId'] === data['callId']),
    )
  return open === undefined ? null : `${String(open.data['tool'])} ${JSON.stringify(open.data['args'])}`
}

function withoutOne(calls: readonly string[], call: string | null): string[] {
  const at = call === null ? -1 : calls.indexOf(call)
  return calls.filter((_, index) => index !== at)
}
