/** Every runbook of test/cases is decided again from its record alone: what was due, tried again, checked, undone and cancelled. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { compileRunbook, type Script, Simulation } from '../runbook/simulate.ts'
import { entriesOf, judgeEntries } from './export-of.ts'

type RunCase = Script & { readonly note: string; readonly runbook: string }

const folder = new URL('../cases/runbook/run/', import.meta.url)

describe.each(readdirSync(folder))('%s', (file) => {
  const cases = parse(readFileSync(new URL(file, folder), 'utf8')) as readonly RunCase[]

  test.each(cases.map((each) => [each.note, each] as const))('%s', (_, given) => {
    const compiled = compileRunbook(given.runbook)
    const { events } = new Simulation(compiled, given).run()
    const verdict = judgeEntries(entriesOf(events, 'r'), compiled.playbook)
    expect(verdict.findings).toEqual([])
    // Where the script plays the policies there is no text of theirs to ask.
    const played = given.needApproval !== undefined || given.forbidden !== undefined
    if (!played)
      expect(verdict).toMatchObject({ notRecomputable: [], chains: [{ recomputed: events.length }] })
  })
})
