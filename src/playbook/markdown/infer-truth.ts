/**
 * What a program takes for yes or no is asked for as yes or no.
 *
 * The words of an answer count as true whatever they say, `no` among them. So a variable that only a person or a model gives a value, that
 * has no type, and that nothing but conditions read, each as it stands, becomes a `bool`.
 */
import type { Arm, Condition, Program, Step, Target } from '../program.ts'
import { sigilNames } from './sigil-names.ts'

/** A program with the types that its conditions imply, and the names of answers that it takes for yes or no and for words as well. */
export interface InferredTruth {
  readonly program: Program
  readonly unclear: ReadonlySet<string>
}

const none: ReadonlySet<string> = new Set()

/** Gives types to what conditions take for yes or no; the program is the same where they imply none. */
export function inferTruth(program: Program): InferredTruth {
  const asking: (Step | Arm)[] = []
  visitAll(program, (step) => {
    const condition = conditionOf(step)
    if (condition !== null && mayBeTruth(condition)) asking.push(step)
  })
  // Most conditions compare something.
  if (asking.length === 0) return { program, unclear: none }
  const given = new Set<string>()
  visitAll(program, (step) => {
    for (const { name, type } of answered(step)) if (type === 'any') given.add(name)
  })
  const names = new Set<string>()
  for (const step of given.size === 0 ? [] : asking) {
    for (const name of usedIn(step, given)) if (isTruthOf(conditionOf(step)!, name)) names.add(name)
  }
  // Few programs take a value for yes or no, so few need a second look.
  if (names.size === 0) return { program, unclear: none }
  const unclear = new Set<string>()
  visitAll(program, (step) => {
    for (const { name } of answered(step)) if (names.has(name) && asksYesOrNo(step.text)) unclear.add(name)
  })
  visitAll(program, (step) => removeOthers(step, names))
  for (const name of names) unclear.delete(name)
  if (names.size === 0) return { program, unclear }
  const agents = program.agents.map((agent) => ({
    ...agent,
    playbooks: agent.playbooks.map((each) => ({ ...each, steps: withTypes(each.steps, names) })),
  }))
  return { program: { ...program, agents }, unclear }
}

/** Whether a bullet asks something that yes or no would answer. */
function asksYesOrNo(text: string): boolean {
  const asked = /"\s*([^"]*\?)\s*"/.exec(text)?.[1]
  if (asked === undefined) return /\b(?:whether|if)\b/i.test(text)
  return !/^(?:what|which|who|whose|whom|how|when|where|why)\b/i.test(asked)
}

/** The variables that a person or a model gives a value in a step. */
function answered(step: Step | Arm): readonly Target[] {
  return 'kind' in step && (step.kind === 'ask' || step.kind === 'extract') ? step.targets : noTargets
}

const noTargets: readonly Target[] = []

/** Takes away the names that a step uses in any other way than for yes or no. */
function removeOthers(step: Step | Arm, names: Set<string>): void {
  for (const { name, type } of answered(step)) if (type !== 'any') names.delete(name)
  const condition = conditionOf(step)
  for (const name of usedIn(step, names)) {
    if (condition === null || !isTruthOf(condition, name)) names.delete(name)
  }
}

/** Those of the names that a step mentions and does not give a value. */
function usedIn(step: Step | Arm, names: ReadonlySet<string>): string[] {
  if (!step.text.includes('$')) return []
  const own = new Set(answered(step).map((target) => target.name))
  // Each once: a text may name one thing a thousand times.
  return [...new Set(sigilNames(step.text))].filter((name) => names.has(name) && !own.has(name))
}

function conditionOf(step: Step | Arm): Condition | null {
  return 'condition' in step ? step.condition : null
}

/** Whether a condition takes the variable for yes or no, and does nothing else with it. */
function isTruthOf(condition: Condition, name: string): boolean {
  if (condition.kind !== 'computed') return false
  const parts = condition.value.source.split(/\s+(?:and|or)\s+/)
  const use = new RegExp(String.raw`\$${name}(?![\p{L}\p{N}_])`, 'u')
  const truth = new RegExp(String.raw`^[(\s]*(?:not[(\s]+)?\$${name}[)\s]*$`, 'u')
  const uses = parts.filter((part) => use.test(part))
  return uses.length > 0 && uses.every((part) => truth.test(part))
}

/** A glance: one comparison takes nothing for yes or no. */
function mayBeTruth(condition: Condition): boolean {
  if (condition.kind !== 'computed') return false
  const { source } = condition.value
  return !/[<>=]/.test(source) || /\s(?:and|or)\s/.test(source)
}

function visitAll({ agents }: Program, see: (step: Step | Arm) => void): void {
  for (const { playbooks } of agents) for (const { steps } of playbooks) visit(steps, see)
}

function visit(steps: readonly Step[], see: (step: Step | Arm) => void): void {
  for (const step of steps) {
    if (step.kind === 'if') {
      for (const arm of step.arms) {
        see(arm)
        visit(arm.steps, see)
      }
    } else {
      see(step)
      if (step.kind === 'loop' || step.kind === 'each') visit(step.steps, see)
    }
  }
}

function withTypes(steps: readonly Step[], names: ReadonlySet<string>): readonly Step[] {
  return steps.map((step): Step => {
    switch (step.kind) {
      case 'if':
        return { ...step, arms: step.arms.map((arm) => ({ ...arm, steps: withTypes(arm.steps, names) })) }
      case 'loop':
      case 'each':
        return { ...step, steps: withTypes(step.steps, names) }
      case 'ask':
      case 'extract':
        return {
          ...step,
          targets: step.targets.map((target) =>
            target.type === 'any' && names.has(target.name) ? { ...target, type: 'bool' } : target,
          ),
        }
      default:
        return step
    }
  })
}
