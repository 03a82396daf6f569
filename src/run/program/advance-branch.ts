import type { Arm, Condition, Step } from '../../playbook/program.ts'
import type { RunEvent } from '../event.ts'
import { returnFrom } from './begin-playbook.ts'
import { askQuestions, judgeQuestion, type Asking } from './ask-questions.ts'
import { compute } from './compute.ts'
import { setVariable, shown, typeProblem, type ProgramContext } from './context.ts'
import { rememberedJudgement } from './judgement.ts'
import { closeSteps, completeStep, failStep } from './end-step.ts'
import type { Cursor, Frame } from './program-state.ts'

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

/** Whether a condition holds, or what has to happen before that is known. `owner` is the bullet that makes its calls. */
export function judgeCondition(
  context: ProgramContext,
  frame: Frame,
  id: string,
  condition: Condition,
  owner: string = id,
  others: readonly Asking[] = [],
): { readonly holds: boolean } | { readonly events: readonly RunEvent[] } | { readonly error: string } {
  if (condition.kind === 'computed') {
    const computed = compute(context, frame, context.compiled.truth(condition.value), owner)
    return 'value' in computed ? { holds: computed.value === true } : computed
  }
  const { known: part } = condition
  if (part !== undefined) {
    const computed = compute(context, frame, context.compiled.truth(part.value), owner)
    if (!('value' in computed)) return computed
    const holds = computed.value === true
    if (holds === (part.operator === 'or')) return { holds }
  }
  const answer = context.program.answers[id]
  if (answer?.kind === 'judge') return { holds: answer.value }
  const known = rememberedJudgement(context, frame, id, condition)
  if (known !== null) return { holds: known }
  return { events: [askQuestions(context, [judgeQuestion(context, frame, id, condition), ...others])] }
}

/** What the branches after one would ask for certain: one request serves them all. */
function laterJudgements(context: ProgramContext, frame: Frame, arms: readonly Arm[]): Asking[] {
  return arms.flatMap(({ id, condition }) =>
    condition?.kind === 'judged' &&
    condition.known === undefined &&
    rememberedJudgement(context, frame, id, condition) === null
      ? [judgeQuestion(context, frame, id, condition)]
      : [],
  )
}

/** Looks at the branches in order; the first whose condition holds is taken, none if none does. */
export function advanceIf(context: ProgramContext, frame: Frame, step: StepOf<'if'>): readonly RunEvent[] {
  const { at } = context
  const arm: Arm | undefined = step.arms[frame.arm]
  if (arm === undefined) return [{ type: 'branch.ended', at, step: step.id }]
  if (frame.at !== arm.id) return [{ type: 'step.entered', at, step: arm.id }]
  if (arm.condition === null) return [{ type: 'branch.taken', at, step: step.id, arm: arm.id }]
  const later = laterJudgements(context, frame, step.arms.slice(frame.arm + 1))
  const judged = judgeCondition(context, frame, arm.id, arm.condition, arm.id, later)
  if ('events' in judged) return judged.events
  if ('error' in judged) return [failStep(context, arm.id, judged.error)]
  if (judged.holds) return [{ type: 'branch.taken', at, step: step.id, arm: arm.id }]
  return [
    { type: 'step.skipped', at, step: arm.id, by: 'condition', reason: 'its condition does not hold' },
    { type: 'branch.passed', at, step: step.id, arm: arm.id },
  ]
}

/** Begins the next turn of a loop, or ends it. */
export function advanceLoop(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'loop'>,
): readonly RunEvent[] {
  const judged = judgeCondition(context, frame, step.id, step.condition)
  if ('events' in judged) return judged.events
  if ('error' in judged) return [failStep(context, step.id, judged.error)]
  if (judged.holds !== (step.form === 'while')) return [completeStep(context, step.id)]
  return turn(context, frame, step, null)
}

/** Walks through a list; the list is fixed when the loop begins. */
export function advanceEach(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'each'>,
): readonly RunEvent[] {
  const body = bodyCursor(frame, step.id)
  if (body !== null) return turnEach(context, frame, step, body)
  const computed = compute(context, frame, context.compiled.computation(step.over), step.id)
  if ('events' in computed) return computed.events
  if ('error' in computed) return [failStep(context, step.id, computed.error)]
  const { value } = computed
  if (!Array.isArray(value)) return [failStep(context, step.id, `${shown(value)} is no list to walk through`)]
  if (value.length === 0) return [completeStep(context, step.id)]
  return turnEach(context, frame, step, {
    block: step.id,
    index: 0,
    turn: 0,
    counted: 0,
    spoken: false,
    items: value,
  })
}

function turnEach(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'each'>,
  { turn: done, items }: Cursor,
): readonly RunEvent[] {
  const list = items ?? []
  if (done >= list.length) return [completeStep(context, step.id)]
  const item = list[done]!
  const problem = typeProblem(step.item.type, item)
  if (problem !== null) return [failStep(context, step.id, `$${step.item.name}: ${problem}`)]
  const events = turn(context, frame, step, list)
  return events[0]?.type === 'loop.turned'
    ? [...events, setVariable(context, frame, { ...step.item, scope: 'local' }, item)]
    : events
}

function turn(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'loop' | 'each'>,
  items: Cursor['items'],
): readonly RunEvent[] {
  const body = bodyCursor(frame, step.id)
  const counted = (body?.counted ?? 0) + (body === null || body.spoken ? 0 : 1)
  // A limit is never a success (G8).
  if (counted >= step.maxTurns) {
    return [failStep(context, step.id, `the loop took ${step.maxTurns} turns, which is all it may`)]
  }
  const first = body === null
  return [
    {
      type: 'loop.turned',
      at: context.at,
      step: step.id,
      turn: (body?.turn ?? 0) + 1,
      items: first ? items : null,
    },
  ]
}

/** Ends a block whose bullets are all done: a branch ends its `if`, a loop's body leads back to the loop, a playbook returns. */
export function endBlock(context: ProgramContext, frame: Frame): readonly RunEvent[] {
  const cursor = frame.cursors.at(-1)!
  const owner = context.compiled.steps.get(cursor.block)
  if (owner === undefined) return returnFrom(context, frame, null)
  if (!('kind' in owner)) {
    return [
      completeStep(context, owner.id),
      { type: 'branch.ended', at: context.at, step: ifOf(context, frame).id },
    ]
  }
  if (owner.kind === 'loop') return advanceLoop(context, frame, owner)
  return owner.kind === 'each' ? advanceEach(context, frame, owner) : []
}

function ifOf(context: ProgramContext, frame: Frame): Step {
  const outer = frame.cursors.at(-2)!
  return context.compiled.blocks.get(outer.block)!.steps[outer.index]!
}

/** Leaves the innermost loop. */
export function breakLoop(context: ProgramContext, frame: Frame, step: Step): readonly RunEvent[] {
  const loop = innermostLoop(context, frame)
  if (loop === null) return [failStep(context, step.id, 'there is no loop to leave')]
  return closeSteps(context, frame, loop)
}

/** Goes on with the next turn of the innermost loop. */
export function continueLoop(context: ProgramContext, frame: Frame, step: Step): readonly RunEvent[] {
  const loop = innermostLoop(context, frame)
  if (loop === null) return [failStep(context, step.id, 'there is no loop to go on with')]
  return [completeStep(context, step.id), { type: 'loop.continued', at: context.at, step: loop }]
}

function innermostLoop({ compiled }: ProgramContext, frame: Frame): string | null {
  const cursor = frame.cursors.findLast(({ block }) => {
    const owner = compiled.steps.get(block)
    return owner !== undefined && 'kind' in owner
  })
  return cursor?.block ?? null
}

function bodyCursor(frame: Frame, loop: string): Cursor | null {
  const cursor = frame.cursors.at(-1)
  return cursor?.block === loop ? cursor : null
}
