import { verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exportPlain } from '../../src/journal/export-chains.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import type { RunEvent } from '../../src/run/event.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { accept, Pair, type RunChoices } from './pair.ts'
import { randomOperations } from './random-operation.ts'
import { randomPlaybook } from './random-playbook.ts'

const effort = Number(process.env['LOCKSTEP_RUNS'] ?? 1)

const choices: fc.Arbitrary<RunChoices> = fc.record({
  enforced: fc.boolean(),
  flag: fc.boolean(),
  registered: fc.boolean(),
})

/** A random run as an export without a chain, so that only its decisions are judged. */
function exportOf(pair: Pair, events: readonly RunEvent[]): string[] {
  const entries = events.map(({ type, at, ...data }, index): JournalEntry => ({
    v: 1,
    run: 'r1',
    seq: index + 1,
    at,
    tenant: 't',
    principal: 'p',
    type,
    data: JSON.parse(JSON.stringify(data)) as JsonObject,
  }))
  const { digest } = compilePlaybook(pair.playbook)
  return exportPlain(entries, { [digest]: pair.playbook.toJSON() })
}

const judge = (lines: readonly string[]) =>
  verifyExport(lines, {
    verifySignature: (key, text, signature) =>
      verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex')),
  })

describe('the verifier', { timeout: 60_000 * Math.max(1, effort) }, () => {
  test('finds every run of the gate consistent, and decides all of it again', () => {
    const run = fc.property(randomPlaybook, choices, randomOperations, (random, choice, operations) => {
      const playbook = accept(random)
      fc.pre(playbook !== null)
      const pair = new Pair(playbook, random, choice)
      for (const operation of operations) pair.apply(operation)
      const verdict = judge(exportOf(pair, pair.events))
      expect(verdict.findings).toEqual([])
      const { recomputed, entries } = verdict.chains[0]!
      const errors = pair.events.filter(
        (event) => event.type === 'tool.denied' && event.code === 'gate_error',
      )
      expect(recomputed).toBe(entries - errors.length)
    })
    fc.assert(run, { numRuns: Math.ceil(300 * effort) })
  })

  test('finds every verdict that is turned round', () => {
    let turned = 0
    const run = fc.property(
      randomPlaybook,
      choices,
      randomOperations,
      fc.nat(),
      (random, choice, operations, pick) => {
        const playbook = accept(random)
        fc.pre(playbook !== null)
        const pair = new Pair(playbook, random, choice)
        for (const operation of operations) pair.apply(operation)
        const places = pair.events.flatMap((event, index) => (turn(event) === null ? [] : [index]))
        fc.pre(places.length > 0)
        const place = places[pick % places.length]!
        const forged = pair.events.with(place, turn(pair.events[place]!)!)
        expect(judge(exportOf(pair, forged)).verdict).toBe('broken')
        turned++
      },
    )
    fc.assert(run, { numRuns: Math.ceil(300 * effort) })
    expect(turned).toBeGreaterThan(100)
  })
})

const onItsWord: ReadonlySet<string> = new Set(['vetoed', 'unknown_tool', 'invalid_arguments', 'gate_error'])

/** The event with another verdict; null where it is none. */
function turn(event: RunEvent): RunEvent | null {
  // Whether a tool was known, readable and not vetoed is no part of the record, so that these are taken on its word.
  if (event.type === 'tool.denied' && event.blocked && !onItsWord.has(event.code)) {
    const { at, tool, args, step } = event
    return {
      type: 'tool.admitted',
      at,
      callId: event.callId ?? 'forged',
      tool,
      args,
      step,
      extra: false,
      observed: null,
    }
  }
  if (event.type === 'tool.admitted' && event.observed === null) {
    const { at, callId, tool, args, step } = event
    return { type: 'tool.denied', at, callId, tool, args, step, code: 'rule', message: 'no', blocked: true }
  }
  if (event.type === 'run.finished' && event.status === 'incomplete') return { ...event, status: 'succeeded' }
  return null
}
