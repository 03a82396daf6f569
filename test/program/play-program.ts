import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import type { Program } from '../../src/playbook/program.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { passTime, perform, replay, startRun } from '../../src/run/perform.ts'
import type { Answer, Question } from '../../src/run/program/question.ts'
import type { RunRequest } from '../../src/run/request.ts'
import type { RunState } from '../../src/run/state.ts'
import { writeState } from '../../src/run/state-json.ts'
import type { Json, JsonObject } from '../../src/shared/json.ts'

/** Who plays the parts of the world in a test of the machine alone. */
export interface Cast {
  readonly inputs?: JsonObject
  readonly tools?: { readonly [name: string]: (args: JsonObject) => Json }
  /** What the person says, in turn; they leave when nothing is left. */
  readonly says?: readonly string[]
  readonly answer?: (question: Question, batch: readonly Question[]) => Answer | undefined
}

/** How a program went. */
export interface Played {
  readonly state: RunState
  readonly events: readonly RunEvent[]
  readonly status: string | null
  readonly message: string | null
  /** What was said, each line with its speaker. */
  readonly said: readonly string[]
  /** The kinds of questions of each request to the model. */
  readonly asked: readonly string[]
  readonly calls: readonly string[]
  readonly variables: JsonObject
}

/** Plays a program through with the machine alone. The state is rebuilt from the events on the way, and must be the same. */
export function play(program: Program, cast: Cast = {}): Played {
  const compiled = compilePlaybook(programPlaybook(program, 'test'))
  const start = { run: 'r', inputs: cast.inputs ?? {}, enforced: true, finishAttempts: 2 }
  let now = 0
  const begun = startRun(compiled, start, { now })
  const { state } = begun
  const events: RunEvent[] = [...begun.events]
  const asked: string[] = []
  const calls: string[] = []
  const says = [...(cast.says ?? [])]
  const request = (what: RunRequest) => {
    const facts = what.type === 'call' ? { now, registered: true } : { now }
    const performance = perform(state, what, facts)
    events.push(...performance.events)
    return performance
  }
  for (let turn = 0; state.ended === null; turn++) {
    if (turn > 1_000) throw new Error('it does not end')
    const { pending } = state.program!
    if (pending === null) throw new Error('it stands still')
    switch (pending.kind) {
      case 'call': {
        const { callId, tool, args } = pending
        calls.push(`${tool}(${JSON.stringify(args)})`)
        const { answer } = request({ type: 'call', callId, tool, args })
        if (!answer.some(({ type }) => type === 'tool.admitted')) break
        try {
          const result = cast.tools?.[tool]?.(args) ?? null
          request({ type: 'settle', callId, tool, outcome: 'succeeded', result })
        } catch (error) {
          request({ type: 'settle', callId, tool, outcome: 'failed', error: (error as Error).message })
        }
        break
      }
      case 'questions': {
        asked.push(pending.questions.map(({ kind }) => kind).join('+'))
        const answers = pending.questions.map((each) => {
          const answer = cast.answer?.(each, pending.questions)
          if (answer === undefined) throw new Error(`no answer for ${JSON.stringify(each)}`)
          return [each.id, answer]
        })
        request({ type: 'answer', id: pending.id, answers: Object.fromEntries(answers) as never })
        break
      }
      case 'person': {
        const text = says.shift()
        request(text === undefined ? { type: 'leave' } : { type: 'message', text })
        break
      }
      case 'time':
        now = pending.until
        events.push(...passTime(state, { now }))
        break
      case 'act':
        request({ type: 'complete', by: 'model', step: pending.step, result: 'done' })
    }
  }
  const again = writeState(replay(compiled, events))
  if (JSON.stringify(again) !== JSON.stringify(writeState(state))) throw new Error('replay differs')
  const { conversation, agents } = state.program!
  return {
    state,
    events,
    status: state.ended,
    message: state.message,
    said: conversation.map(({ by, text }) => `${by}: ${text}`),
    asked,
    calls,
    variables: Object.values(agents)[0] ?? {},
  }
}
