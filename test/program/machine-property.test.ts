/** Whatever a program says and whatever the world does, the machine goes its way to an end. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compilePlaybook, type CompiledPlaybook } from '../../src/playbook/compile-playbook.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { passTime, perform, replay, startRun } from '../../src/run/perform.ts'
import type { Answer, Question } from '../../src/run/program/question.ts'
import type { RunRequest } from '../../src/run/request.ts'
import type { RunState } from '../../src/run/state.ts'
import { readState, writeState } from '../../src/run/state-json.ts'
import type { Json } from '../../src/shared/json.ts'
import { randomProgram } from './random-program.ts'

const effort = Number(process.env['LOCKSTEP_RUNS'] ?? 1)

/** What the world does, choice by choice; then it is tired, and the person leaves. */
const choices = fc.array(fc.nat({ max: 5 }), { minLength: 10, maxLength: 60 })
const values: readonly Json[] = [null, 1, -2, 'x', [1], { a: 1 }]
const sayings = ['ORD-42', 'well, I do not know', '7', '', 'yes', '"quoted"']

function answerTo(question: Question, choice: number): Answer {
  switch (question.kind) {
    case 'judge':
      return { kind: 'judge', value: choice % 2 === 0, reason: '' }
    case 'write':
      return { kind: 'write', text: choice === 0 ? '' : 'words' }
    case 'match':
      return {
        kind: 'match',
        matched: question.triggers.map((_, at) => at).filter((at) => (choice + at) % 2 === 0),
      }
    case 'extract':
      return {
        kind: 'extract',
        values: Object.fromEntries(question.slots.map(({ name }, at) => [name, values[(choice + at) % 6]!])),
      }
  }
}

interface Driven {
  readonly state: RunState
  readonly events: readonly RunEvent[]
  readonly turns: number
}

/** Drives a run to its end; the state is written down and read back before one of the turns. */
function drive(compiled: CompiledPlaybook, choose: readonly number[], snapshotAt: number | null): Driven {
  let now = 0
  const start = { run: 'r', inputs: {}, enforced: true, finishAttempts: 2 }
  const begun = startRun(compiled, start, { now })
  let { state } = begun
  const events: RunEvent[] = [...begun.events]
  const request = (what: RunRequest) => {
    const performance = perform(
      state,
      what,
      what.type === 'call' ? { now, registered: true, risk: 'read' } : { now },
    )
    events.push(...performance.events)
    return performance
  }
  let turn = 0
  for (; state.ended === null; turn++) {
    if (turn > 1_000) throw new Error('it does not end')
    if (turn === snapshotAt)
      state = readState(compiled, JSON.parse(JSON.stringify(writeState(state))) as never)
    const { pending } = state.program!
    if (pending === null) throw new Error('it stands still')
    const tired = turn >= choose.length
    const choice = tired ? 5 : choose[turn]!
    switch (pending.kind) {
      case 'call': {
        const { callId, tool, args } = pending
        const { answer } = request({ type: 'call', callId, tool, args })
        if (!answer.some(({ type }) => type === 'tool.admitted')) break
        // What nobody knows is settled by somebody in the end.
        if (choice === 1) request({ type: 'settle', callId, tool, outcome: 'unknown', error: 'lost' })
        if (choice <= 1 || tired)
          request({ type: 'settle', callId, tool, outcome: 'failed', error: 'broken' })
        else request({ type: 'settle', callId, tool, outcome: 'succeeded', result: values[choice]! })
        break
      }
      case 'questions': {
        const given = pending.questions.map((each, at) => [each.id, answerTo(each, choice + at)])
        const { id } = pending
        if (choice === 4) request({ type: 'unanswered', id, error: 'no answer' })
        else request({ type: 'answer', id, answers: Object.fromEntries(given) as never })
        break
      }
      case 'person':
        now += 20_000 * choice
        request(tired ? { type: 'leave' } : { type: 'message', text: sayings[choice]! })
        break
      case 'time':
        now = choice === 0 ? now - 1_000 : Math.max(now, Math.min(pending.until, now + 20_000))
        if (tired) now = Math.max(now, pending.until)
        events.push(...passTime(state, { now }))
        break
      case 'act': {
        const { step } = pending
        const callId = `m-${turn}`
        const { answer } = request({ type: 'call', callId, tool: 'look', args: {} })
        if (answer.some(({ type }) => type === 'tool.admitted'))
          request({ type: 'settle', callId, tool: 'look', outcome: 'succeeded', result: null })
        if (state.program?.pending?.kind !== 'act') break
        if (choice === 0) request({ type: 'fail', by: 'model', step, error: 'it cannot be done' })
        else request({ type: 'complete', by: 'model', step, result: 'done' })
      }
    }
  }
  return { state, events, turns: turn }
}

test('a random program comes to an end, whatever happens, and what is recorded says the same', () => {
  const ends = new Map<string, number>()
  fc.assert(
    fc.property(randomProgram, choices, fc.nat({ max: 30 }), (program, choose, snapshot) => {
      const compiled = compilePlaybook(programPlaybook(program, 'random'))
      const { state, events, turns } = drive(compiled, choose, null)
      ends.set(state.ended!, (ends.get(state.ended!) ?? 0) + 1)
      const written = JSON.stringify(writeState(state))
      expect(JSON.stringify(writeState(replay(compiled, events)))).toBe(written)
      if (turns > 0) {
        const cut = drive(compiled, choose, snapshot % turns)
        expect(JSON.stringify(writeState(cut.state))).toBe(written)
        expect(cut.events).toEqual(events)
      }
      if (state.ended === 'succeeded') {
        expect(state.openTickets.size).toBe(0)
        expect(openSteps(state)).toEqual([])
      }
    }),
    { numRuns: 1_000 * effort },
  )
  // Not all of them fail at their first step.
  expect(ends.get('succeeded')).toBeGreaterThan(20)
})

function openSteps(state: RunState): string[] {
  const visits = [...state.activations, ...state.previous].filter((each) => each !== undefined)
  return visits
    .filter(({ status }) => status === 'in_progress')
    .map(({ step }) => state.compiled.steps[step]!.id)
}
