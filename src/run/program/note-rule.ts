import { targetName, type CompiledNoteRule } from '../../playbook/compile-program.ts'
import { toolsOf } from '../../playbook/program-playbook.ts'
import type { Call, Condition, Target } from '../../playbook/program.ts'
import type { RunEvent } from '../event.ts'
import type { RunState } from '../state.ts'
import { askQuestions, judgeQuestion, type Asking } from './ask-questions.ts'
import { contextOf, lookupIn, visibleVariables, type ProgramContext } from './context.ts'
import { rememberedJudgement } from './judgement.ts'
import type { Frame } from './program-state.ts'

/** The notes that speak of a call while their playbook runs, each with the call of that playbook. */
function notesOn(
  { compiled, program }: ProgramContext,
  tool: string,
): readonly { readonly note: CompiledNoteRule; readonly frame: Frame }[] {
  return compiled.noteRules.flatMap((note) => {
    if (targetName(note.rule.before) !== tool || note.rule.require.kind !== 'holds') return []
    const frame = program.frames.findLast(({ procedure }) => procedure === note.procedure.id)
    return frame === undefined ? [] : [{ note, frame }]
  })
}

/** Asks a model for the judgements that notes demand before a call; null if all are known. */
export function judgeNotes(context: ProgramContext, target: Call['target']): readonly RunEvent[] | null {
  const asking = notesOn(context, targetName(target)).flatMap(({ note, frame }): Asking[] => {
    const { require } = note.rule
    if (require.kind !== 'holds' || require.condition.kind !== 'judged') return []
    const known = knownJudgement(context, frame, note.key, require.condition)
    return known === null ? [judgeQuestion(context, frame, note.key, require.condition)] : []
  })
  return asking.length === 0 ? null : [askQuestions(context, asking)]
}

/**
 * The judgements that notes will demand before a call further down the same list of bullets, as far as what they read is known: asked
 * before a person is, so that their answer is not kept waiting for it.
 */
export function judgementsAhead(context: ProgramContext, frame: Frame, asked: readonly Target[]): Asking[] {
  const { compiled } = context
  const cursor = frame.cursors.at(-1)!
  const rest = compiled.blocks.get(cursor.block)!.steps.slice(cursor.index + 1)
  const due = new Set(rest.flatMap((step) => toolsOf(step)))
  const visible = visibleVariables(context, frame)
  const known = (name: string) => Object.hasOwn(visible, name) && !asked.some((each) => each.name === name)
  return compiled.noteRules.flatMap(({ key, procedure, rule }): Asking[] => {
    if (procedure.id !== frame.procedure || !due.has(targetName(rule.before))) return []
    if (rule.require.kind !== 'holds' || rule.require.condition.kind !== 'judged') return []
    const { condition } = rule.require
    // What can be worked out is not known yet, and may decide without a question.
    if (condition.known !== undefined) return []
    if (condition.reads.length === 0 || !condition.reads.every(known)) return []
    if (rememberedJudgement(context, frame, key, condition) !== null) return []
    return [judgeQuestion(context, frame, key, condition)]
  })
}

/** Whether a judged condition holds, as far as that is known: what can be worked out may decide it. An error there is no yes. */
function knownJudgement(
  context: ProgramContext,
  frame: Frame,
  id: string,
  condition: Extract<Condition, { kind: 'judged' }>,
): boolean | null {
  const { known } = condition
  if (known !== undefined) {
    const { calls, value } = context.compiled.truth(known.value)
    const holds = calls.length === 0 && value.evaluate(lookupIn(context, frame)) === true
    if (holds === (known.operator === 'or')) return holds
  }
  return rememberedJudgement(context, frame, id, condition)
}

/** Why a note forbids a call now, in its own words; null if none does. What nobody has judged does not hold. */
export function noteProblem(state: RunState, tool: string): string | null {
  if (state.program === null) return null
  const context = contextOf(state, state.clock)
  for (const { note, frame } of notesOn(context, tool)) {
    const { require } = note.rule
    if (require.kind !== 'holds') continue
    const { condition } = require
    const holds =
      condition.kind === 'judged'
        ? knownJudgement(context, frame, note.key, condition)
        : context.compiled.truth(condition.value).value.evaluate(lookupIn(context, frame))
    // Whoever quotes it ends the sentence.
    if (holds !== true) return note.text.replace(/\.+$/, '')
  }
  return null
}
