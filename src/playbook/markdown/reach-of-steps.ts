/**
 * What comes after each step: a call that cannot be undone, and whether anything looks at what the person said before it is made.
 *
 * Invariants:
 * 1. A call counts for a step only where a way leads from the step to it: not in another branch, not behind an ending.
 * 2. In a loop whatever it calls comes after each of its steps.
 * 3. What comes after a call of a playbook comes after the steps of that playbook.
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
  return new ReachWalk(procedures, finalCalls(procedures, tools)).run()
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

/**
 * Walks the playbooks from their ends. What follows a call of a playbook follows its own end too; a playbook is walked again when that is found to
 * be more, which happens twice at most: nothing, a call before which somebody is heard, one before which nobody is.
 */
class ReachWalk {
  readonly #procedures: ReadonlyMap<string, Procedure>
  readonly #final: IsFinal
  readonly #reaches = new Map<string, Reach>()
  /** What may follow the end of each playbook. */
  readonly #ends = new Map<string, Reach>()
  readonly #waiting: string[] = []
  #end = nothing

  constructor(procedures: readonly Procedure[], final: IsFinal) {
    this.#procedures = new Map(procedures.map((each) => [each.id, each]))
    this.#final = final
  }

  run(): ReadonlyMap<string, Reach> {
    for (const { id, steps, triggers } of this.#procedures.values()) {
      const call = beforeCall(triggers, this.#final)
      if (call !== null) this.#ends.set(id, { call, heard: false })
      if (call !== null || firstCall(steps, this.#final) !== null) this.#waiting.push(id)
    }
    for (let id = this.#waiting.pop(); id !== undefined; id = this.#waiting.pop()) {
      this.#end = this.#ends.get(id) ?? nothing
      this.#walk(this.#procedures.get(id)!.steps, this.#end, null)
    }
    return this.#reaches
  }

  /** What follows the beginning of a list, found from its end. */
  #walk(steps: readonly Step[], after: Reach, loop: Loop | null): Reach {
    let reach = after
    for (const step of steps.toReversed()) {
      if (step.kind === 'if') reach = this.#branch(step.arms, reach, loop)
      else if (step.kind === 'loop' || step.kind === 'each') reach = this.#loop(step, reach)
      else {
        this.#reaches.set(step.id, reach)
        if (step.kind === 'end') reach = nothing
        if (step.kind === 'return' || step.kind === 'answer') reach = this.#end
        if (step.kind === 'break') reach = loop?.left ?? nothing
        if (step.kind === 'continue') reach = loop?.again ?? nothing
        const calling = this.#calls(computationsIn([step]), reach)
        reach = calling === reach && hears(step) ? { call: reach.call, heard: true } : calling
      }
    }
    return reach
  }

  /** What follows the beginning of computations: the first of their calls that is final, else what follows them. */
  #calls(computations: readonly Computation[], after: Reach): Reach {
    let reach = after
    for (const { calls } of computations.toReversed()) {
      for (const { target } of calls.toReversed()) {
        if (target.kind === 'playbook') this.#follow(target.id, reach)
        const name = target.kind === 'tool' ? target.name : target.id
        if (this.#final(name)) reach = { call: name, heard: false }
      }
    }
    return reach
  }

  /** Notes what follows a call of a playbook. */
  #follow(id: string, after: Reach): void {
    const known = this.#ends.get(id) ?? nothing
    const now = either(known, after)
    if ((now.call === known.call && now.heard === known.heard) || !this.#procedures.has(id)) return
    this.#ends.set(id, now)
    this.#waiting.push(id)
  }

  #loop(step: Extract<Step, { kind: 'loop' | 'each' }>, after: Reach): Reach {
    const call = firstCall(step.steps, this.#final) ?? after.call
    const heard = after.heard || (step.kind === 'loop' && judgesAnswer(step.condition))
    const again: Reach = { call, heard }
    const begin = this.#walk(step.steps, again, { left: after, again })
    const reach = { call: begin.call ?? after.call, heard: begin.heard }
    return this.#calls(step.kind === 'each' ? [step.over] : conditionOf(step.condition), reach)
  }

  #branch(arms: Extract<Step, { kind: 'if' }>['arms'], after: Reach, loop: Loop | null): Reach {
    const ways = arms.map((arm) => this.#walk(arm.steps, after, loop))
    if (arms.at(-1)?.condition !== null) ways.push(after)
    const calls = ways.filter(({ call }) => call !== null)
    // A branch deals with an answer only where one way through it avoids the call.
    const decides =
      calls.length < ways.length &&
      arms.some(({ condition }) => condition !== null && judgesAnswer(condition))
    const call = calls[0]?.call ?? null
    const reach = { call, heard: decides || calls.every(({ heard }) => heard) }
    return this.#calls(
      arms.flatMap(({ condition }) => (condition === null ? [] : conditionOf(condition))),
      reach,
    )
  }
}

/** The final call that a playbook runs before, if it runs before one. */
function beforeCall(triggers: Procedure['triggers'], final: IsFinal): string | null {
  for (const trigger of triggers) {
    if (trigger.kind !== 'before') continue
    const name = trigger.call.kind === 'tool' ? trigger.call.name : trigger.call.id
    if (final(name)) return name
  }
  return null
}

/** What follows where one thing or another may. */
function either(one: Reach, other: Reach): Reach {
  if (one.call === null) return other.call === null ? one : other
  return other.call === null ? one : { call: one.call, heard: one.heard && other.heard }
}

function conditionOf(condition: Condition): Computation[] {
  const value = condition.kind === 'computed' ? condition.value : condition.known?.value
  return value === undefined ? [] : [value]
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
