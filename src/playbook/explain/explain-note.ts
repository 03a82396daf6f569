import type { Note } from '../program.ts'
import type { ExplainedNote } from './explanation.ts'
import { phraseCalls, phraseTarget, type ProgramNames } from './phrase-call.ts'
import { phraseDenied } from './phrase-expression.ts'
import { phraseWhen } from './phrase-step.ts'

/** Says whether a note is a rule that the gate keeps, and which, or advice. */
export function explainNote({ text, line, rule }: Note, names: ProgramNames): ExplainedNote {
  if (rule === null) return { text, line, kind: 'advice', rule: null }
  const before = phraseTarget(rule.before, names)
  const { require } = rule
  const computed =
    require.kind === 'holds' && require.condition.kind === 'computed' ? require.condition.value : null
  if (computed?.source.trim() === 'false')
    return { text, line, kind: 'enforced', rule: `${before} is always refused` }
  const denied = computed === null ? null : phraseDenied(computed.source, phraseCalls(computed, names))
  if (denied !== null) return { text, line, kind: 'enforced', rule: `${before} is refused if ${denied}` }
  if (require.kind === 'not called') {
    const rule = `${before} is refused once ${phraseTarget(require.call, names)} was called`
    return { text, line, kind: 'enforced', rule }
  }
  const required =
    require.kind === 'succeeded'
      ? `${phraseTarget(require.call, names)} has succeeded`
      : `${phraseWhen(require.condition, names)}${require.condition.kind === 'judged' ? ' (a model judges that)' : ''}`
  return { text, line, kind: 'enforced', rule: `${before} is refused unless ${required}` }
}
