import type { Condition } from '../../playbook/program.ts'
import type { Json } from '../../shared/json.ts'
import { visibleVariables, type ProgramContext } from './context.ts'
import type { Frame } from './program-state.ts'

/**
 * Under which key a judgement is remembered: it holds as long as what it reads is the same. One that names no variable reads the
 * conversation and everything else, so any word or write ends it.
 */
export function judgementKey(
  context: ProgramContext,
  frame: Frame,
  id: string,
  condition: Extract<Condition, { kind: 'judged' }>,
): string {
  const { counters } = context.program
  if (condition.reads.length === 0) return `${id} ${counters.writes} ${counters.spoken}`
  const visible = visibleVariables(context, frame)
  const values = condition.reads.map((name): Json => (Object.hasOwn(visible, name) ? visible[name]! : null))
  return `${id} ${JSON.stringify(values)}`
}

/** What was judged before, if what it reads has not changed. */
export function rememberedJudgement(
  context: ProgramContext,
  frame: Frame,
  id: string,
  condition: Extract<Condition, { kind: 'judged' }>,
): boolean | null {
  return context.program.judgements[judgementKey(context, frame, id, condition)] ?? null
}
