import type { Trigger } from '../program.ts'
import type { ExplainedTrigger, Mark } from './explanation.ts'
import { phraseCalls, phraseTarget, type ProgramNames } from './phrase-call.ts'
import { phraseCondition } from './phrase-expression.ts'
import { phraseSeconds } from './phrase-name.ts'

/** Says when a trigger fires, and who sees to it. */
export function explainTrigger(trigger: Trigger, names: ProgramNames): ExplainedTrigger {
  const { text, line } = trigger
  const mark: Mark = trigger.kind === 'message' ? 'left to the model' : 'guaranteed'
  return { text, line, fires: firesWhen(trigger, names), mark }
}

function firesWhen(trigger: Trigger, names: ProgramNames): string {
  switch (trigger.kind) {
    case 'begin':
      return 'when the run begins'
    case 'end':
      return 'when the run ends'
    case 'time':
      return `${phraseSeconds(trigger.seconds)} after the run began`
    case 'state':
      return `when it comes about that ${phraseCondition(trigger.value.source, phraseCalls(trigger.value, names))}, right after the write that makes it so`
    case 'message':
      return 'when a message of a person means it; a model is asked, once per message'
    case 'before':
      return `before each call of ${phraseTarget(trigger.call, names)}`
    case 'after':
      return `after each call of ${phraseTarget(trigger.call, names)}`
    case 'fails':
      return `when ${phraseTarget(trigger.call, names)} fails`
  }
}
