import type { Step, Target } from '../../playbook/program.ts'
import type { Json } from '../../shared/json.ts'
import type { RunEvent } from '../event.ts'
import {
  advanceEach,
  advanceIf,
  advanceLoop,
  breakLoop,
  continueLoop,
  judgeCondition,
} from './advance-branch.ts'
import { advanceAsk, advanceSay, advanceWait } from './advance-talk.ts'
import { returnFrom } from './begin-playbook.ts'
import { askQuestions, extractQuestion, followingQuestions } from './ask-questions.ts'
import { compute } from './compute.ts'
import { lookupIn, ownValue, shown, typeProblem, type ProgramContext } from './context.ts'
import { closeSteps, completeStep, failStep, putAll } from './end-step.ts'
import type { Frame } from './program-state.ts'

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

/** The next consequence of the bullet at hand. */
export function advanceStep(context: ProgramContext, frame: Frame, step: Step): readonly RunEvent[] {
  switch (step.kind) {
    case 'set':
    case 'call':
      return advanceValue(context, frame, step)
    case 'extract':
      return advanceExtract(context, frame, step)
    case 'say':
      return advanceSay(context, frame, step)
    case 'ask':
      return advanceAsk(context, frame, step)
    case 'wait':
      return advanceWait(context, frame, step)
    case 'if':
      return advanceIf(context, frame, step)
    case 'loop':
      return advanceLoop(context, frame, step)
    case 'each':
      return advanceEach(context, frame, step)
    case 'break':
      return breakLoop(context, frame, step)
    case 'continue':
      return continueLoop(context, frame, step)
    case 'return':
      return advanceReturn(context, frame, step)
    case 'answer':
      return advanceAnswer(context, frame, step)
    case 'act':
      return advanceAct(context, frame, step)
    case 'require':
      return advanceRequire(context, frame, step)
    case 'end':
      return endProgram(context, step.reason)
  }
}

function advanceValue(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'set' | 'call'>,
): readonly RunEvent[] {
  const computed = compute(context, frame, context.compiled.computation(step.value), step.id)
  if ('events' in computed) return computed.events
  if ('error' in computed) return [failStep(context, step.id, computed.error)]
  const { target } = step
  return putAll(context, frame, step.id, target === null ? [] : [[target, computed.value]])
}

function advanceExtract(context: ProgramContext, frame: Frame, step: StepOf<'extract'>): readonly RunEvent[] {
  const known = memberValues(context, frame, step)
  const answer = context.program.answers[step.id]
  if (known === null && answer === undefined) {
    return [askQuestions(context, followingQuestions(context, frame))]
  }
  const values = known ?? (answer?.kind === 'extract' ? answer.values : {})
  return putExtracted(context, frame, step.id, step.targets, values)
}

/** Every playbook that runs returns, the innermost first, so that no call is left open. */
function endProgram(context: ProgramContext, reason: string | undefined): readonly RunEvent[] {
  const frames = context.program.frames.toReversed()
  return [
    ...frames.flatMap((frame) => [...closeSteps(context, frame), ...returnFrom(context, frame, null)]),
    { type: 'program.ending', at: context.at, ...(reason === undefined ? {} : { reason }) },
  ]
}

/** A guard: what does not hold, or cannot be worked out, fails the step. */
function advanceRequire(context: ProgramContext, frame: Frame, step: StepOf<'require'>): readonly RunEvent[] {
  const judged = judgeCondition(context, frame, step.id, step.condition)
  if ('events' in judged) return judged.events
  if ('error' in judged) return [failStep(context, step.id, judged.error)]
  return [
    judged.holds
      ? completeStep(context, step.id)
      : failStep(context, step.id, `it does not hold: ${step.text.replace(/[.!]+$/, '')}`),
  ]
}

/** Members of a value that is known need no one who understands language. */
function memberValues(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'extract'>,
): { readonly [name: string]: Json } | null {
  const [only, ...others] = step.from
  if (only === undefined || others.length > 0) return null
  const value = lookupIn(context, frame)(only)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const members = value as { readonly [name: string]: Json }
  return step.targets.every(({ name }) => Object.hasOwn(members, name)) ? members : null
}

function putExtracted(
  context: ProgramContext,
  frame: Frame,
  step: string,
  targets: readonly Target[],
  values: { readonly [name: string]: Json },
): readonly RunEvent[] {
  const missing = targets.find(({ name }) => ownValue(values, name) === null)
  if (missing !== undefined) return [failStep(context, step, `there is no ${missing.name} to be found`)]
  return putAll(
    context,
    frame,
    step,
    targets.map((target) => [target, ownValue(values, target.name)] as const),
  )
}

function advanceReturn(context: ProgramContext, frame: Frame, step: StepOf<'return'>): readonly RunEvent[] {
  if (step.value === null) return returnValue(context, frame, step.id, null)
  const computed = compute(context, frame, context.compiled.computation(step.value), step.id)
  if ('events' in computed) return computed.events
  if ('error' in computed) return [failStep(context, step.id, computed.error)]
  return returnValue(context, frame, step.id, computed.value)
}

function advanceAnswer(context: ProgramContext, frame: Frame, step: StepOf<'answer'>): readonly RunEvent[] {
  const answer = context.program.answers[step.id]
  if (answer === undefined) return [askQuestions(context, followingQuestions(context, frame))]
  return returnValue(context, frame, step.id, answer.kind === 'write' ? answer.text : null)
}

function returnValue(context: ProgramContext, frame: Frame, step: string, value: Json): readonly RunEvent[] {
  const { returns } = context.compiled.procedures.get(frame.procedure)!
  const problem = returns === null ? null : typeProblem(returns, value)
  if (problem !== null) return [failStep(context, step, `the playbook returns ${returns}, and ${problem}`)]
  const [, ...around] = closeSteps(context, frame)
  return [completeStep(context, step, shown(value)), ...around, ...returnFrom(context, frame, value)]
}

function advanceAct(context: ProgramContext, frame: Frame, step: StepOf<'act'>): readonly RunEvent[] {
  const answer = context.program.answers[step.id]
  if (step.tools.length === 0) {
    if (answer === undefined) return [askQuestions(context, followingQuestions(context, frame))]
    if (answer.kind === 'extract') return putExtracted(context, frame, step.id, step.targets, answer.values)
    return [completeStep(context, step.id, answer.kind === 'write' ? answer.text : null)]
  }
  if (frame.outcome === null) return [{ type: 'act.begun', at: context.at, step: step.id }]
  if (step.targets.length === 0) return [completeStep(context, step.id, frame.outcome)]
  if (answer?.kind === 'extract') return putExtracted(context, frame, step.id, step.targets, answer.values)
  const instruction = `${step.instruction}\nWhat was done: ${frame.outcome}`
  return [askQuestions(context, [extractQuestion(step.id, step.targets, instruction, null)])]
}
