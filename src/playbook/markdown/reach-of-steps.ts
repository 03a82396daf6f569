/**
 * What comes after each step: a call that cannot be undone, and whether anything looks at what the person said before it is made.
 *
 * Invariants:
 * 1. A call counts for a step only where a way leads from the step to it: not in another branch, not behind an ending.
 * 2. In a loop whatever it calls comes after each of its steps.
 */
import { computationsIn } from '../explain/computations-of.ts'
import type { Computation, Condition, Procedure, Program, Step } from '../program.ts'
import type { ProgramTool } from './callables.ts'
import { speaksOfAnswer } from './speaks-of-answer.ts'

/** The first call without a way back that may follow; `heard` says whether what a person said is looked at before it. */
export interface Reach {
  readonly call: string | null
  readonly heard: boolean
}

interface Loop {
  readonly left: Reach
  readonly again: Reach
}

const nothing: Reach = { call: null, heard: false }

/** What may follow each step that is no branch and no loop, by the ids of the steps; nothing where no call of the program is final. */
export function reachOfSteps(
  { agents }: Pick<Program, 'agents'>,
  tools: ReadonlyMap<string, ProgramTool>,
): ReadonlyMap<string, Reach> {
  const procedures = agents.flatMap(({ playbooks }) => playbooks)
  const final = finalCalls(procedures, tools)
  const reaches = new Map<string, Reach>()
  for (const procedure of procedures) {
    const before = procedure.triggers.find(
      (each) => each.kind === 'before' && final(each.call.kind === 'tool' ? each.call.name : each.call.id),
    )
    const call =
      before?.kind !== 'before' ? null : before.call.kind === 'tool' ? before.call.name : before.call.id
    if (call === null && firstCall(procedure.steps, final) === null) continue
    walk(procedure.steps, { call, heard: false }, null, final, reaches)
  }
  return reaches
}

type IsFinal = (name: string) => boolean

/** Whether a call cannot be undone: that of a tool by its risk, which is also assumed where none is known, and of a playbook by what it calls. */
function finalCalls(procedures: readonly Procedure[], tools: ReadonlyMap<string, ProgramTool>): IsFinal {
  const callers = new Map<string, string[]>()
  const final = new Set<string>()
  const waiting: string[] = []
  for (const { id, steps } of procedures) {
    for (const { target } of computationsIn(steps).flatMap(({ calls }) => calls)) {
      if (target.kind === 'playbook') {
        const known = callers.get(target.id)
        if (known === undefined) callers.set(target.id, [id])
        else known.push(id)
      } else if ((tools.get(target.name)?.risk ?? 'irreversible') === 'irreversible') {
        final.add(target.name)
        waiting.push(id)
      }
    }
  }
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (final.has(id)) continue
    final.add(id)
    waiting.push(...(callers.get(id) ?? []))
  }
  return (name) => final.has(name) || tools.get(name)?.risk === 'irreversible'
}

function callIn(computations: readonly Computation[], final: IsFinal): string | null {
  for (const { calls } of computations) {
    for (const { target } of calls) {
      const name = target.kind === 'tool' ? target.name : target.id
      if (final(name)) return name
    }
  }
  return null
}

function firstCall(steps: readonly Step[], final: IsFinal): string | null {
  return callIn(computationsIn(steps), final)
}

/** What follows the beginning of a list, found from its end. */
function walk(
  steps: readonly Step[],
  after: Reach,
  loop: Loop | null,
  final: IsFinal,
  reaches: Map<string, Reach>,
): Reach {
  let reach = after
  for (const step of steps.toReversed()) {
    if (step.kind === 'if') {
      reach = walkBranch(step.arms, reach, loop, final, reaches)
    } else if (step.kind === 'loop' || step.kind === 'each') {
      const head = step.kind === 'each' ? callIn([step.over], final) : null
      const call = firstCall(step.steps, final) ?? reach.call
      const heard = reach.heard || (step.kind === 'loop' && judgesAnswer(step.condition))
      const again: Reach = { call, heard }
      const begin = walk(step.steps, again, { left: reach, again }, final, reaches)
      reach = { call: head ?? begin.call ?? reach.call, heard: head === null && begin.heard }
    } else {
      reaches.set(step.id, reach)
      if (step.kind === 'end' || step.kind === 'return' || step.kind === 'answer') reach = nothing
      if (step.kind === 'break') reach = loop?.left ?? nothing
      if (step.kind === 'continue') reach = loop?.again ?? nothing
      const call = callIn(computationsIn([step]), final)
      if (call !== null) reach = { call, heard: false }
      else if (hears(step)) reach = { call: reach.call, heard: true }
    }
  }
  return reach
}

function walkBranch(
  arms: Extract<Step, { kind: 'if' }>['arms'],
  after: Reach,
  loop: Loop | null,
  final: IsFinal,
  reaches: Map<string, Reach>,
): Reach {
  const ways = arms.map((arm) => walk(arm.steps, after, loop, final, reaches))
  if (arms.at(-1)?.condition !== null) ways.push(after)
  const calls = ways.filter(({ call }) => call !== null)
  // A branch deals with an answer only where one way through it avoids the call.
  const decides =
    calls.length < ways.length && arms.some(({ condition }) => condition !== null && judgesAnswer(condition))
  const call = calls[0]?.call ?? null
  return { call, heard: decides || calls.every(({ heard }) => heard) }
}

function judgesAnswer(condition: Condition): boolean {
  return condition.kind === 'judged' && speaksOfAnswer(condition.text)
}

/** Whether a step takes something out of what a person said, or fails unless they said it. */
function hears(step: Step): boolean {
  if (step.kind === 'extract') return true
  if (step.kind === 'act') return step.targets.length > 0
  return step.kind === 'require' && judgesAnswer(step.condition)
}
