import type { Json, JsonObject } from '../../shared/json.ts'
import type { FrameCause } from './program-state.ts'
import type { Answer, AnswerUsage, Question } from './question.ts'

/** A fact about a program: where it went, what it asked, what it was told. Like every event it says what was decided, so that nothing is decided again. */
export type ProgramEvent =
  | {
      readonly type: 'playbook.begun'
      readonly frame: number
      readonly playbook: string
      readonly cause: FrameCause
      /** The call it answers, if it was called. */
      readonly callId: string | null
      /** The trigger that set it off, if one did. */
      readonly trigger: string | null
      readonly arguments: JsonObject
      /** Null while a placeholder waits for a call. */
      readonly description: string | null
    }
  | { readonly type: 'playbook.described'; readonly frame: number; readonly description: string }
  | { readonly type: 'playbook.returned'; readonly frame: number; readonly value: Json }
  | { readonly type: 'playbook.failed'; readonly frame: number; readonly error: string }
  | { readonly type: 'step.entered'; readonly step: string }
  /** A branch was looked at: it is taken, or the next one is looked at. */
  | { readonly type: 'branch.taken'; readonly step: string; readonly arm: string }
  | { readonly type: 'branch.passed'; readonly step: string; readonly arm: string }
  /** The branches are done with. */
  | { readonly type: 'branch.ended'; readonly step: string }
  | {
      readonly type: 'loop.turned'
      readonly step: string
      readonly turn: number
      readonly items: readonly Json[] | null
    }
  | { readonly type: 'loop.continued'; readonly step: string }
  | {
      readonly type: 'variable.set'
      readonly name: string
      /** Null where the playbook's own call knows it alone. */
      readonly agent: string | null
      readonly value: Json
    }
  | {
      readonly type: 'call.due'
      readonly step: string
      readonly callId: string
      readonly tool: string
      readonly args: JsonObject
    }
  | { readonly type: 'act.begun'; readonly step: string }
  | { readonly type: 'act.done'; readonly step: string; readonly result: string }
  | {
      readonly type: 'question.asked'
      readonly id: string
      readonly questions: readonly Question[]
      readonly reads: readonly string[] | null
      readonly memory: { readonly [question: string]: string }
    }
  | {
      readonly type: 'question.answered'
      readonly id: string
      readonly answers: { readonly [question: string]: Answer }
      /** Which request to the model this was, and what it took; null where nobody counts. */
      readonly usage: AnswerUsage | null
    }
  | {
      readonly type: 'message.sent'
      readonly step: string | null
      readonly text: string
      /** Whether the words stand in the playbook or a model wrote them. */
      readonly by: 'playbook' | 'model'
    }
  | { readonly type: 'person.awaited'; readonly step: string | null }
  | { readonly type: 'message.received'; readonly text: string }
  | { readonly type: 'message.handled'; readonly step: string | null }
  | { readonly type: 'wait.begun'; readonly step: string; readonly until: number }
  | { readonly type: 'trigger.set'; readonly key: string; readonly due: number }
  /** The condition of a state trigger came to hold, or no longer does; `null` once all were looked at. */
  | { readonly type: 'trigger.changed'; readonly key: string | null; readonly holds: boolean }
  | { readonly type: 'trigger.fired'; readonly key: string }
  /** The playbooks that come before the call at hand have been begun. */
  | { readonly type: 'call.readied'; readonly step: string }
  /** The playbooks that come after a call have been begun. */
  | { readonly type: 'call.followed'; readonly tool: string }
  | { readonly type: 'failure.handled'; readonly trigger: string }
  | { readonly type: 'program.ending'; readonly reason?: string }
