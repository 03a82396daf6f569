import { describe, expect, it } from 'vitest'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { Playbook, type PlaybookDefinition } from '../playbook/playbook.ts'
import type { RunEvent } from './event.ts'
import { perform, startRun } from './perform.ts'
import type { RunRequest } from './request.ts'
import type { RunState } from './state.ts'

type Steps = NonNullable<PlaybookDefinition['steps']>

function begin(steps: Steps, fields: Partial<PlaybookDefinition> = {}): RunState {
  const compiled = compilePlaybook(new Playbook({ id: 'p', name: 'P', ...fields, steps }))
  return startRun(compiled, { run: 'r', inputs: {}, enforced: true, finishAttempts: 0 }, { now: 0 }).state
}

function answer(state: RunState, request: RunRequest): readonly RunEvent[] {
  return perform(state, request, { now: 0 }).answer
}

function call(state: RunState, tool: string, outcome?: 'succeeded' | 'failed' | 'unknown'): void {
  expect(answer(state, { type: 'call', callId: null, tool, args: null })).toMatchObject([
    { type: 'tool.admitted' },
  ])
  if (outcome !== undefined) answer(state, { type: 'settle', callId: null, tool, outcome })
}

/** What was refused, by whom, and why. */
function refused(state: RunState, request: RunRequest): unknown {
  const [event] = answer(state, request)
  expect(event).toMatchObject({ type: 'step.refused' })
  return event?.type === 'step.refused' ? [event.step, event.move, event.by, ...event.reasons] : null
}

const complete = (step: string, by: 'host' | 'model' = 'model') =>
  ({ type: 'complete', by, step, result: null }) as const
const skip = (step: string, by: 'host' | 'model' = 'model') =>
  ({ type: 'skip', by, step, reason: null }) as const
const fail = (step: string, by: 'host' | 'model' = 'model') =>
  ({ type: 'fail', by, step, error: 'no' }) as const
const retry = (step: string) => ({ type: 'retry', step, reason: null }) as const

describe('a refused move', () => {
  it('G7: names the step, the move, who asked and one reason: what stands in the way first', () => {
    const state = begin([
      { id: 'a', description: '', expectedTools: ['x', 'y'], validation: { minToolCalls: 5 } },
      { id: 'b', description: '' },
    ])
    expect(refused(state, complete('a'))).toEqual([
      'a',
      'complete',
      'model',
      'it completes by its calls, not by declaration',
    ])
    call(state, 'x', 'succeeded')
    call(state, 'x')
    call(state, 'y')
    const unsettled = 'not settled yet: x (call-2, admitted), y (call-3, admitted)'
    expect(refused(state, complete('a'))).toEqual(['a', 'complete', 'model', unsettled])
    expect(refused(state, complete('a', 'host'))).toEqual(['a', 'complete', 'host', unsettled])
    expect(refused(state, complete('b'))).toEqual(['b', 'complete', 'model', 'its turn has not come'])
  })

  it('G7: a step that is required is not skipped, whatever else stands in the way', () => {
    const state = begin([{ id: 'a', description: '' }])
    expect(refused(state, skip('a'))).toEqual(['a', 'skip', 'model', 'it is required'])
  })

  it('G8: says that a failed step must be retried, and how a step that is done stands', () => {
    const state = begin([
      { id: 'a', description: '' },
      { id: 'b', description: '' },
    ])
    answer(state, complete('a'))
    expect(refused(state, complete('a'))).toEqual(['a', 'complete', 'model', 'it is completed'])
    expect(refused(state, fail('a'))).toEqual(['a', 'fail', 'model', 'it is completed'])
    answer(state, fail('b', 'host'))
    expect(refused(state, complete('b', 'host'))).toEqual([
      'b',
      'complete',
      'host',
      'it has failed, and must be retried first',
    ])
  })

  it('G8: only a step that failed or waits for a person is retried, and not one that nobody has looked at', () => {
    const state = begin([
      { id: 'a', description: '' },
      { id: 'b', description: '' },
    ])
    const reason = 'only a step that failed or waits for a person can be retried'
    expect(refused(state, retry('a'))).toEqual(['a', 'retry', 'host', reason])
    expect(refused(state, retry('b'))).toEqual(['b', 'retry', 'host', reason])
  })

  it('G9: after the end of the run every move is refused with how it ended', () => {
    const state = begin([
      { id: 'a', description: '', required: false },
      { id: 'b', description: '', expectedTools: ['b'] },
    ])
    expect(answer(state, { type: 'finish', message: null }).at(-1)).toMatchObject({ status: 'incomplete' })
    const reason = 'the run has ended (incomplete)'
    expect(refused(state, complete('a', 'host'))).toEqual(['a', 'complete', 'host', reason])
    expect(refused(state, skip('a', 'host'))).toEqual(['a', 'skip', 'host', reason])
    expect(refused(state, fail('a', 'host'))).toEqual(['a', 'fail', 'host', reason])
    expect(refused(state, retry('a'))).toEqual(['a', 'retry', 'host', reason])
  })
})

describe('a completed step', () => {
  it('G13: is not out of order where its turn had come, be it declared, answered or ended by a limit', () => {
    const declared = begin([{ id: 'a', description: '' }])
    expect(answer(declared, complete('a'))).toMatchObject([{ type: 'step.completed', outOfOrder: false }])
    const answered = begin([{ id: 'a', description: '' }])
    expect(answer(answered, { type: 'finish', message: 'done' })).toMatchObject([
      { type: 'step.completed', outOfOrder: false },
      { type: 'run.finished' },
    ])
    const limited = begin([
      { id: 'a', description: '', expectedTools: ['x', 'y'], maxToolCalls: 2, onLimit: 'advance' },
    ])
    call(limited, 'x', 'succeeded')
    call(limited, 'x', 'succeeded')
    expect(limited.activations[0]).toMatchObject({ status: 'completed', by: 'limit', outOfOrder: false })
  })

  it('G8: that nobody has ended by declaration fails by its cap if its tools have not succeeded', () => {
    const state = begin([{ id: 'a', description: '', expectedTools: ['x', '*'], maxToolCalls: 1 }])
    call(state, 'x', 'failed')
    expect(state.activations[0]).toMatchObject({ status: 'failed', by: 'limit' })
  })
})
