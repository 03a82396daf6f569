import { isPlainQuestion } from '../plain-question.ts'
import type { Arm, Call, Computation, Condition, Step, Target, Words } from '../program.ts'
import type { ToolRisks } from './phrase-call.ts'
import type { ExplainedStep, Mark, ModelNeed } from './explanation.ts'

/** What can be said of a bullet by its kind. */
export type StepMarks = Pick<
  ExplainedStep,
  'mark' | 'needsModel' | 'tools' | 'reach' | 'runs' | 'shape' | 'writes'
>

/** Marks a bullet: who does it, whether that takes a model, what it touches. */
export function markStep(step: Exclude<Step, { kind: 'if' }>, risks: ToolRisks): StepMarks {
  switch (step.kind) {
    case 'set':
    case 'call':
      return { ...guaranteed, ...touched([step.value]) }
    case 'say':
      return step.words.kind === 'literal' ? { ...guaranteed, ...touched([step.words.value]) } : model
    case 'extract':
      return { ...model, ...written(step.targets) }
    case 'answer':
      return model
    case 'ask':
      return {
        ...guaranteed,
        ...touched([...computed(step.until), ...literal(step.words)]),
        mark: 'asks a person',
        needsModel: needOfAsking(step),
        shape: 'ask',
      }
    case 'loop':
      return { ...markCondition(step.condition), shape: 'loop' }
    case 'each':
      return { ...guaranteed, ...touched([step.over]), shape: 'loop' }
    case 'require':
      return markCondition(step.condition)
    case 'break':
      return { ...guaranteed, shape: 'leave' }
    case 'continue':
      return { ...guaranteed, shape: 'next' }
    case 'end':
      return { ...guaranteed, shape: 'end' }
    case 'return':
      return { ...guaranteed, ...touched(step.value === null ? [] : [step.value]), shape: 'return' }
    case 'wait':
      return step.for.kind === 'message' ? { ...guaranteed, mark: 'asks a person', shape: 'ask' } : guaranteed
    case 'act':
      return { ...model, ...written(step.targets), ...offered(step, risks) }
  }
}

/** Marks the line that opens a branch. */
export function markArm(arm: Arm): StepMarks {
  return arm.condition === null
    ? { ...guaranteed, shape: 'otherwise' }
    : { ...markCondition(arm.condition), shape: 'decide' }
}

/** Whether a question to a person takes a model: to word it, to read an answer that is more than one plain value, to judge it. */
export function needOfAsking({ words, until, targets }: Extract<Step, { kind: 'ask' }>): ModelNeed {
  if (words?.kind === 'written' || until?.kind === 'judged' || targets.length > 1) return 'always'
  const [target] = targets
  if (target === undefined) return 'never'
  if (target.type === 'list' || target.type === 'dict') return 'always'
  return target.type !== 'bool' || words === null || asksPlainly(words) ? 'sometimes' : 'always'
}

/** Whether a yes to the words means one thing only. */
function asksPlainly(words: Words): boolean {
  return words.kind === 'literal' && words.value.calls.length === 0 && isPlainQuestion(words.value.source)
}

/** The tools that a model is offered: none that cannot be undone, and only those that read where nothing is named. */
export function offered(
  { tools, reach }: Pick<StepMarks, 'tools' | 'reach'>,
  risks: ToolRisks,
): Pick<StepMarks, 'tools' | 'reach'> {
  const kept = tools.filter((tool) => {
    const risk = risks.get(tool)
    return risk === undefined || risk === 'read' || (risk === 'write' && reach === 'named')
  })
  return { tools: kept, reach: kept.every((tool) => risks.has(tool)) ? 'named' : reach }
}

/** What calls touch: tools by name, playbooks by id. */
export function touched(values: readonly Computation[]): Pick<StepMarks, 'tools' | 'runs'> {
  const calls = values.flatMap((value) => value.calls)
  return {
    tools: unique(calls.flatMap(({ target }) => (target.kind === 'tool' ? [target.name] : []))),
    runs: unique(calls.flatMap(({ target }: Call) => (target.kind === 'playbook' ? [target.id] : []))),
  }
}

function markCondition(condition: Condition): StepMarks {
  return { ...(condition.kind === 'judged' ? model : guaranteed), ...touched(computed(condition)) }
}

function computed(condition: Condition | null): readonly Computation[] {
  if (condition === null) return []
  if (condition.kind === 'computed') return [condition.value]
  return condition.known === undefined ? [] : [condition.known.value]
}

function literal(words: Words | null): readonly Computation[] {
  return words?.kind === 'literal' ? [words.value] : []
}

function written(targets: readonly Target[]): Pick<StepMarks, 'writes'> {
  return targets.length === 0 ? {} : { writes: unique(targets.map(({ name }) => name)) }
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}

function marks(mark: Mark, needsModel: ModelNeed, shape: StepMarks['shape']): StepMarks {
  return { mark, needsModel, tools: [], reach: 'named', runs: [], shape }
}

const guaranteed = marks('guaranteed', 'never', 'do')
const model = marks('left to the model', 'always', 'model')
