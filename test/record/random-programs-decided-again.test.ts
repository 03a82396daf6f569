import fc from 'fast-check'
import { expect, test } from 'vitest'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import type { Program } from '../../src/playbook/program.ts'
import type { Answer, Question } from '../../src/run/program/question.ts'
import { play, type Played } from '../program/play-program.ts'
import { randomProgram } from '../program/random-program.ts'
import { entriesOf, judgeEntries } from './export-of.ts'

const effort = Number(process.env['LOCKSTEP_RUNS'] ?? 1)

function answerTo(question: Question): Answer {
  switch (question.kind) {
    case 'judge':
      return { kind: 'judge', value: question.id.length % 2 === 0, reason: '' }
    case 'write':
      return { kind: 'write', text: 'words' }
    case 'match':
      return { kind: 'match', matched: question.triggers.length > 0 ? [0] : [] }
    case 'extract':
      return { kind: 'extract', values: Object.fromEntries(question.slots.map(({ name }) => [name, 7])) }
  }
}

/** The program played through; null for one that would go on for ever. */
function played(program: Program): Played | null {
  try {
    return play(program, { says: ['ORD-42', 'yes', '7'], answer: answerTo })
  } catch {
    return null
  }
}

test('a random program is decided again to its last event, and not if one of them is left out', () => {
  let decided = 0
  const property = fc.property(randomProgram, fc.nat(), (program, pick) => {
    const whole = played(program)
    fc.pre(whole !== null)
    const { events } = whole
    const playbook = programPlaybook(program, 'test')
    const verdict = judgeEntries(entriesOf(events, 'r'), playbook)
    expect(verdict).toMatchObject({ findings: [], chains: [{ recomputed: events.length }] })
    const at = pick % events.length
    const without = judgeEntries(entriesOf(events.toSpliced(at, 1), 'r'), playbook)
    // Without its end a record may be that of a run that goes on, and a refusal changes nothing.
    if (at < events.length - 1 && events[at]!.type !== 'tool.denied') {
      const told = without.findings.length + without.notRecomputable.length
      expect([events[at]!.type, told > 0]).toEqual([events[at]!.type, true])
    }
    decided += events.length
  })
  fc.assert(property, { numRuns: Math.ceil(150 * effort) })
  expect(decided).toBeGreaterThan(1_000)
})
