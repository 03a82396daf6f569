import type { Arm, Condition, Step, Target } from '../../playbook/program.ts'
import type { RunEvent } from '../event.ts'
import type { ProgramContext } from './context.ts'
import { judgementKey, rememberedJudgement } from './judgement.ts'
import type { Frame } from './program-state.ts'
import type { Question } from './question.ts'

/** A question with the variables it reads (null: whatever there is) and the key under which its answer is remembered. */
export interface Asking {
  readonly question: Question
  readonly reads: readonly string[] | null
  readonly memory?: string
}

/** The event that puts questions to a model, all in one request. */
export function askQuestions({ program, at }: ProgramContext, asking: readonly Asking[]): RunEvent {
  const reads = asking.some((each) => each.reads === null) ? null : asking.flatMap((each) => each.reads ?? [])
  return {
    type: 'question.asked',
    at,
    id: `q-${program.counters.questions + 1}`,
    questions: asking.map(({ question }) => question),
    reads: reads === null ? null : [...new Set(reads)],
    memory: Object.fromEntries(
      asking.flatMap(({ question, memory }) => (memory === undefined ? [] : [[question.id, memory]])),
    ),
  }
}

/** The question whether a condition holds. */
export function judgeQuestion(
  context: ProgramContext,
  frame: Frame,
  id: string,
  condition: Extract<Condition, { kind: 'judged' }>,
): Asking {
  const reads = condition.reads.length === 0 ? null : condition.reads
  const memory = judgementKey(context, frame, id, condition)
  return { question: { id, kind: 'judge', text: condition.text }, reads, memory }
}

/** The question for some values. */
export function extractQuestion(
  id: string,
  targets: readonly Target[],
  instruction: string,
  from: readonly string[] | null,
): Asking {
  const slots = targets.map(({ name, type }) => ({ name, type }))
  return { question: { id, kind: 'extract', slots, instruction }, reads: from }
}

/** The question for a text. A bullet that names no variable may be about any of them. */
export function writeQuestion(id: string, instruction: string, reads: readonly string[]): Asking {
  return { question: { id, kind: 'write', instruction }, reads: reads.length === 0 ? null : reads }
}

/** What a bullet asks of a model by itself, if that is all it needs; null if it does something else first. */
export function leafQuestion(step: Step): Asking | null {
  switch (step.kind) {
    case 'extract':
      return extractQuestion(
        step.id,
        step.targets,
        step.instruction,
        step.from.length === 0 ? null : step.from,
      )
    case 'say':
      return step.words.kind === 'written'
        ? writeQuestion(step.id, step.words.instruction, step.words.reads)
        : null
    case 'answer':
      return writeQuestion(step.id, step.instruction, step.reads)
    case 'act':
      if (step.tools.length > 0) return null
      return step.targets.length > 0
        ? extractQuestion(step.id, step.targets, step.instruction, null)
        : writeQuestion(step.id, step.instruction, step.reads)
    default:
      return null
  }
}

/** The questions of the bullets from here on that a model can answer in the same breath: up to the next one that does something. */
export function followingQuestions(context: ProgramContext, frame: Frame): Asking[] {
  const cursor = frame.cursors.at(-1)!
  const { steps } = context.compiled.blocks.get(cursor.block)!
  const asking: Asking[] = []
  for (const step of steps.slice(cursor.index)) {
    const leaf = leafQuestion(step)
    if (leaf !== null) {
      asking.push(leaf)
      if (step.kind === 'answer') break
      continue
    }
    // Words that stand in the playbook change nothing that a later question reads.
    if (step.kind === 'say' && step.words.kind === 'literal' && step.words.value.calls.length === 0) continue
    const first = step.kind === 'if' ? firstJudged(step.arms) : null
    if (first !== null && rememberedJudgement(context, frame, first.arm.id, first.condition) === null) {
      asking.push(judgeQuestion(context, frame, first.arm.id, first.condition))
    }
    break
  }
  return asking
}

function firstJudged(
  arms: readonly Arm[],
): { readonly arm: Arm; readonly condition: Extract<Condition, { kind: 'judged' }> } | null {
  const [arm] = arms
  return arm?.condition?.kind === 'judged' ? { arm, condition: arm.condition } : null
}
