/** Checks over a whole program: variables that nobody reads, or that are read before they are set. */
import type { Procedure, Program } from '../program.ts'
import type { Findings } from './findings.ts'
import { type StepContext, type VariableUse, reportAt } from './step-context.ts'

/** What counts turns is there for its own sake. */
const turns = /^(?:for|repeat|do|loop|count)\b/i

/** Reports what only shows when all playbooks have been read. */
export function checkProgram(program: Program, uses: readonly VariableUse[], findings: Findings): void {
  const context = { findings } as Pick<StepContext, 'findings'> as StepContext
  let words: ReadonlySet<string> | null = null
  // Only a variable that nobody reads is looked for in descriptions.
  const isMentioned = (name: string): boolean => (words ??= descriptionWords(program)).has(name)
  const procedures = new Map(
    program.agents.flatMap((agent) => agent.playbooks).map((each) => [each.id, each]),
  )
  for (const use of usesByName(uses)) {
    const { write } = use
    if (!use.isRead && write !== null && !turns.test(write.bullet.text) && !isMentioned(write.name)) {
      reportAt(write.bullet, 0, write.bullet.text.length, context).warn(
        'unused_variable',
        `nothing reads \`${write.name}\``,
        'remove the step if nobody needs it',
      )
    }
    warnEarly(use, procedures, context)
  }
}

/** What is done with a variable of an agent. */
interface UsesOfName {
  isRead: boolean
  /** The first read in a step: a trigger or a note asks all the time; only steps have a before and an after. */
  stepRead: VariableUse | null
  /** The first write. */
  write: VariableUse | null
  /** The line of the write that stands highest. */
  highest: number
  /** Whether only one playbook writes it. */
  inOnePlaybook: boolean
}

/** The uses of each variable of each agent, in the order of their first ones. */
function usesByName(uses: readonly VariableUse[]): UsesOfName[] {
  const all: UsesOfName[] = []
  const agents = new Map<string, Map<string, UsesOfName>>()
  for (const use of uses) {
    let names = agents.get(use.agent)
    if (names === undefined) agents.set(use.agent, (names = new Map()))
    let found = names.get(use.name)
    if (found === undefined) {
      found = { isRead: false, stepRead: null, write: null, highest: Infinity, inOnePlaybook: true }
      names.set(use.name, found)
      all.push(found)
    }
    if (use.kind === 'read') {
      found.isRead = true
      if (found.stepRead === null && use.bullet.id.includes('/')) found.stepRead = use
    } else {
      found.write ??= use
      if (found.write.playbook !== use.playbook) found.inOnePlaybook = false
      if (use.bullet.line < found.highest) found.highest = use.bullet.line
    }
  }
  return all
}

/** A read above every write, in the one playbook that has them all, and in no loop. */
function warnEarly(
  { stepRead: read, write, highest, inOnePlaybook }: UsesOfName,
  procedures: ReadonlyMap<string, Procedure>,
  context: StepContext,
): void {
  if (read === null || write === null || !inOnePlaybook || write.playbook !== read.playbook) return
  if (highest <= read.bullet.line) return
  const procedure = procedures.get(read.playbook)
  if (procedure === undefined || procedure.parameters.some((each) => each.name === read.name)) return
  if (hasLoop(procedure.steps)) return
  if (/\bhas\(|\bdefault\(|is (?:not )?(?:set|empty)/i.test(read.bullet.text)) return
  reportAt(read.bullet, 0, read.bullet.text.length, context).warn(
    'unset_variable',
    `\`${read.name}\` is read before any step sets it`,
    `it is set on line ${write.bullet.line}`,
  )
}

function hasLoop(steps: Procedure['steps']): boolean {
  return steps.some(
    (step) =>
      step.kind === 'loop' ||
      step.kind === 'each' ||
      (step.kind === 'if' && step.arms.some((arm) => hasLoop(arm.steps))),
  )
}

/** Words of what a model is told: a variable that is mentioned there is used. */
function descriptionWords(program: Program): Set<string> {
  const words = new Set<string>()
  const take = (text: string): void => {
    for (const word of text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []) words.add(word)
  }
  for (const agent of program.agents) {
    take(agent.description.source)
    for (const each of agent.playbooks) {
      take(each.description.source)
      for (const note of each.notes) take(note.text)
      for (const trigger of each.triggers) take(trigger.text)
      // Without steps, or with prose in them, a model sees the agent's values.
      for (const step of each.steps) if (step.kind === 'act' || step.kind === 'answer') take(step.text)
    }
  }
  return words
}
