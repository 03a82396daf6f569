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

/** The question whether a condition holds. One that reads what the same request asks for (`given`) is not remembered: nobody knows yet of which value. */
export function judgeQuestion(
  context: ProgramContext,
  frame: Frame,
  id: string,
  condition: Judged,
  given: ReadonlySet<string> = new Set(),
): Asking {
  const reads = condition.reads.length === 0 ? null : condition.reads
  const question = { id, kind: 'judge', text: condition.text } as const
  if (condition.reads.some((name) => given.has(name))) return { question, reads }
  return { question, reads, memory: judgementKey(context, frame, id, condition) }
}

type Judged = Extract<Condition, { kind: 'judged' }>

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

/**
 * The questions of the bullets from here on that a model can answer in the same breath: up to the next one that does something. The
 * conditions of the branches that follow are asked along, and the condition of the loop that the bullets lead back to.
 */
export function followingQuestions(context: ProgramContext, frame: Frame): Asking[] {
  const cursor = frame.cursors.at(-1)!
  const { steps } = context.compiled.blocks.get(cursor.block)!
  const asking: Asking[] = []
  const given = new Set<string>()
  for (const step of steps.slice(cursor.index)) {
    const leaf = leafQuestion(step)
    if (leaf !== null) {
      asking.push(leaf)
      if (step.kind === 'answer') return asking
      if ('targets' in step) for (const { name } of step.targets) given.add(name)
      continue
    }
    // Words that stand in the playbook change nothing that a later question reads.
    if (step.kind === 'say' && step.words.kind === 'literal' && step.words.value.calls.length === 0) continue
    if (step.kind === 'ask' && step.words?.kind === 'written') {
      asking.push(writeQuestion(step.id, step.words.instruction, step.words.reads))
    }
    if (step.kind === 'if') asking.push(...branchQuestions(context, frame, step.arms, given))
    return asking
  }
  const owner = context.compiled.steps.get(cursor.block)
  const loop = owner !== undefined && 'kind' in owner && owner.kind === 'loop' ? owner : null
  if (loop?.condition.kind === 'judged' && loop.condition.known === undefined && asking.length > 0) {
    asking.push(...judgements(context, frame, loop.id, loop.condition, given))
  }
  return asking
}

/** What branches ask, if the first of them asks something; the others may never be looked at, and cost nothing in the same request. */
function branchQuestions(
  context: ProgramContext,
  frame: Frame,
  arms: readonly Arm[],
  given: ReadonlySet<string>,
): Asking[] {
  const first = arms[0]?.condition
  // What can be worked out may decide without a question.
  if (first?.kind !== 'judged' || first.known !== undefined) return []
  return arms.flatMap(({ id, condition }) =>
    condition?.kind === 'judged' && condition.known === undefined
      ? judgements(context, frame, id, condition, given)
      : [],
  )
}

function judgements(
  context: ProgramContext,
  frame: Frame,
  id: string,
  condition: Judged,
  given: ReadonlySet<string>,
): Asking[] {
  const asking = judgeQuestion(context, frame, id, condition, given)
  const known = asking.memory !== undefined && rememberedJudgement(context, frame, id, condition) !== null
  return known ? [] : [asking]
}
