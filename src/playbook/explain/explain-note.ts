import type { Note } from '../program.ts'
import type { ExplainedNote } from './explanation.ts'
import { phraseTarget, type ProgramNames } from './phrase-call.ts'
import { phraseWhen } from './phrase-step.ts'

/** Says whether a note is a rule that the gate keeps, and which, or advice. */
export function explainNote({ text, line, rule }: Note, names: ProgramNames): ExplainedNote {
  if (rule === null) return { text, line, kind: 'advice', rule: null }
  const before = phraseTarget(rule.before, names)
  const required =
    rule.require.kind === 'succeeded'
      ? `${phraseTarget(rule.require.call, names)} has succeeded`
      : `${phraseWhen(rule.require.condition, names)}${rule.require.condition.kind === 'judged' ? ' (a model judges that)' : ''}`
  return { text, line, kind: 'enforced', rule: `${before} is refused unless ${required}` }
}
