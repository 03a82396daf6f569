/**
 * How often a run can ask a model, at most, from the tree alone.
 *
 * 1. Every question counts, although several between two effects go in one request: the bound is an upper one.
 * 2. A loop counts with its bound; a list that may be of any length is told by the item. Rounds in which a person speaks have none, so they are told besides.
 * 3. A trigger on a call counts with every such call. What fires on messages and on state is told besides.
 * 4. Playbooks that lead back to themselves have no bound, unless nothing on the way asks a model.
 */
import type { Call, Computation, Condition, Procedure, Program, Step, Words } from '../program.ts'
import { computationsOf } from './computations-of.ts'
import { alwaysConverses, converses, conversing } from './converses.ts'
import { entriesOf } from './entries-of.ts'
import type { ModelCallBound } from './explanation.ts'
import {
  boundOf,
  calls,
  dearest,
  free,
  type ModelCost,
  sum,
  times,
  unbounded,
  withEach,
} from './model-cost.ts'
import { strongComponents } from './strong-components.ts'

/** The most calls of a model that a run of the program can take. */
export function countModelCalls(program: Program): ModelCallBound {
  const counter = new ModelCallCounter(program)
  const all = program.agents.flatMap(({ playbooks }) => playbooks)
  const entries = entriesOf(program)
  const once = all.filter((procedure) => !entries.includes(procedure) && fires(procedure, ['end', 'time']))
  let total = sum([...entries, ...once].map(({ id }) => counter.costOf(id)))
  for (const procedure of all) {
    for (const trigger of procedure.triggers) {
      if (trigger.kind !== 'message' && trigger.kind !== 'state') continue
      total = withEach(
        total,
        `time "${trigger.text}" starts ${procedure.name}`,
        counter.costOf(procedure.id).most,
      )
    }
  }
  if (all.some((procedure) => fires(procedure, ['message'])))
    total = withEach(total, 'message that comes while no playbook runs', 1)
  return boundOf(total, program.maxModelCalls)
}

/** What no author means as a bound. */
const longList = 1000

type TriggerKind = Procedure['triggers'][number]['kind']

function fires({ triggers }: Procedure, kinds: readonly TriggerKind[]): boolean {
  return triggers.some(({ kind }) => kinds.includes(kind))
}

/** The targets of calls as one text, to look up what hangs on them. */
function keyOf(target: Call['target']): string {
  return target.kind === 'tool' ? `tool ${target.name}` : `playbook ${target.id}`
}

class ModelCallCounter {
  readonly #costs = new Map<string, ModelCost>()
  /** The playbooks that triggers run around a call, by what is called. */
  readonly #around = new Map<string, Procedure[]>()
  /** What a call costs inside the playbook that is being counted, by what is called. */
  readonly #calls = new Map<string, ModelCost>()
  /** What is filled in when a playbook of the agent begins. */
  readonly #agentOf = new Map<string, Computation>()
  readonly #speaking: ReadonlySet<string>
  readonly #matches: boolean
  readonly #program: Program

  constructor(program: Program) {
    this.#program = program
    const all = program.agents.flatMap(({ playbooks }) => playbooks)
    for (const { description, playbooks } of program.agents)
      for (const { id } of playbooks) this.#agentOf.set(id, description)
    this.#speaking = conversing(all)
    this.#matches = all.some((procedure) => fires(procedure, ['message']))
    for (const procedure of all) {
      for (const trigger of procedure.triggers) {
        if (!('call' in trigger)) continue
        const key = keyOf(trigger.call)
        const around = this.#around.get(key)
        if (around === undefined) this.#around.set(key, [procedure])
        else around.push(procedure)
      }
    }
    const positions = new Map(all.map(({ id }, index) => [id, index]))
    const edges = all.map((procedure) => [
      ...new Set(
        this.#leadsTo(procedure)
          .map((id) => positions.get(id))
          .filter((position) => position !== undefined),
      ),
    ])
    for (const group of strongComponents(edges)) {
      const members = group.map((position) => all[position]!)
      const circular = group.length > 1 || edges[group[0]!]!.includes(group[0]!)
      const own = members.map((member) => this.#procedure(member))
      const asks = own.some(({ most, besides }) => most > 0 || besides.size > 0)
      const through = members.map(({ name }) => name).sort()
      const endless = circular && asks ? unbounded(`recursion through ${through.join(', ')}`) : null
      for (const [index, member] of members.entries()) this.#costs.set(member.id, endless ?? own[index]!)
    }
  }

  costOf(id: string): ModelCost {
    return this.#costs.get(id) ?? free
  }

  /** The playbooks that one leads to by itself: those it calls, and those that triggers run around its calls. */
  #leadsTo(procedure: Procedure): readonly string[] {
    const values = [...computationsOf(procedure), ...this.#agentDescription(procedure)]
    const called = values.flatMap((value) => value.calls.map(({ target }) => target))
    // Each once: what hangs on a call may be as much as there are calls of it.
    const targets = new Map(called.map((target) => [keyOf(target), target]))
    return [...targets.values()].flatMap((target) => [
      ...(target.kind === 'playbook' ? [target.id] : []),
      ...(this.#around.get(keyOf(target)) ?? []).map(({ id }) => id),
    ])
  }

  #procedure(procedure: Procedure): ModelCost {
    this.#calls.clear()
    const descriptions = [...this.#agentDescription(procedure), procedure.description]
    const begin = sum(descriptions.map((value) => this.#computation(value, procedure)))
    switch (procedure.mode) {
      case 'host':
        return begin
      case 'raw':
        return sum([begin, calls(1)])
      case 'react':
        return sum([begin, calls(this.#program.maxTurns)])
      case 'steps':
        return sum([begin, this.#steps(procedure.steps, procedure)])
    }
  }

  #agentDescription({ id }: Procedure): readonly Computation[] {
    const description = this.#agentOf.get(id)
    return description === undefined ? [] : [description]
  }

  #steps(steps: readonly Step[], within: Procedure): ModelCost {
    return sum(steps.map((step) => this.#step(step, within)))
  }

  #step(step: Step, within: Procedure): ModelCost {
    switch (step.kind) {
      case 'set':
      case 'call':
        return this.#computation(step.value, within)
      case 'extract':
      case 'answer':
        return calls(1)
      case 'say':
        return this.#words(step.words, within)
      case 'ask':
        return this.#ask(step, within)
      case 'if': {
        const conditions = step.arms.map(({ condition }) => this.#condition(condition, within))
        return sum([...conditions, dearest(step.arms.map((arm) => this.#steps(arm.steps, within)))])
      }
      case 'loop':
        return this.#loop(step, this.#condition(step.condition, within), within)
      case 'require':
        return this.#condition(step.condition, within)
      case 'each':
        return sum([this.#computation(step.over, within), this.#loop(step, free, within)])
      case 'return':
        return step.value === null ? free : this.#computation(step.value, within)
      case 'wait':
        return step.for.kind === 'message' ? this.#message() : free
      case 'act':
        return calls(step.maxCalls + 1)
      case 'break':
      case 'continue':
      case 'end':
        return free
    }
  }

  #loop(step: Extract<Step, { kind: 'loop' | 'each' }>, condition: ModelCost, within: Procedure): ModelCost {
    const round = sum([condition, this.#steps(step.steps, within)])
    // A list has an end whoever speaks; where nobody says how long it may be, a number would say nothing.
    if (step.kind === 'each' && step.maxTurns >= longList)
      return withEach({ ...round, most: 0 }, `item of ${step.id}`, round.most)
    if (step.kind === 'each' || !converses(step.steps, this.#speaking))
      return sum([times(round, step.maxTurns), condition])
    const silent = alwaysConverses(step.steps) ? free : times(round, step.maxTurns)
    return withEach(sum([silent, condition]), `round of ${step.id} in which a person speaks`, round.most)
  }

  /** An answer is read in one request, with what else there is to ask about it; only whether it will do may take another. */
  #ask(step: Extract<Step, { kind: 'ask' }>, within: Procedure): ModelCost {
    const words = step.words === null ? free : this.#words(step.words, within)
    const reading = step.targets.length > 0 ? calls(1) : this.#message()
    const until = this.#condition(step.until, within)
    return times(sum([words, reading, until]), Math.max(1, step.maxTurns))
  }

  /** What it takes to find out whether a message sets off a trigger. */
  #message(): ModelCost {
    return this.#matches ? calls(1) : free
  }

  #words(words: Words, within: Procedure): ModelCost {
    return words.kind === 'written' ? calls(1) : this.#computation(words.value, within)
  }

  #condition(condition: Condition | null, within: Procedure): ModelCost {
    if (condition === null) return free
    if (condition.kind === 'computed') return this.#computation(condition.value, within)
    const known = condition.known === undefined ? free : this.#computation(condition.known.value, within)
    return sum([calls(1), known])
  }

  #computation(value: Computation, within: Procedure): ModelCost {
    return sum(value.calls.map(({ target }) => this.#call(target, within)))
  }

  #call(target: Call['target'], within: Procedure): ModelCost {
    const key = keyOf(target)
    const known = this.#calls.get(key) ?? this.#costOfCall(key, target, within)
    this.#calls.set(key, known)
    return known
  }

  #costOfCall(key: string, target: Call['target'], within: Procedure): ModelCost {
    const around = (this.#around.get(key) ?? []).map(({ id }) => this.costOf(id))
    const judged = within.notes.filter(
      ({ rule }) =>
        rule !== null &&
        keyOf(rule.before) === key &&
        rule.require.kind === 'holds' &&
        rule.require.condition.kind === 'judged',
    )
    const own = target.kind === 'playbook' ? this.costOf(target.id) : free
    return sum([...around, calls(judged.length), own])
  }
}
