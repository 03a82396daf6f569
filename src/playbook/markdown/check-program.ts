/** Checks over a whole program: variables that nobody reads, or that are read before they are set. */
import type { Procedure, Program } from '../program.ts'
import type { Findings } from './findings.ts'
import { type StepContext, type VariableUse, reportAt } from './step-context.ts'

/** Reports what only shows when all playbooks have been read. */
export function checkProgram(program: Program, uses: readonly VariableUse[], findings: Findings): void {
  const context = { findings } as Pick<StepContext, 'findings'> as StepContext
  let words: ReadonlySet<string> | null = null
  // Only a variable that nobody reads is looked for in descriptions.
  const isMentioned = (name: string): boolean => (words ??= descriptionWords(program)).has(name)
  const procedures = new Map(
    program.agents.flatMap((agent) => agent.playbooks).map((each) => [each.id, each]),
  )
  for (const { first, reads, writes } of usesByName(uses)) {
    if (first.bullet === null) continue
    const [write] = writes
    if (
      reads.length === 0 &&
      write?.bullet != null &&
      !/^(?:for|repeat|do|loop|count)\b/i.test(write.bullet.text) &&
      !isMentioned(write.name)
    ) {
      reportAt(write.bullet, 0, write.bullet.text.length, context).warn(
        'unused_variable',
        `nothing reads \`${write.name}\``,
        'remove the step if nobody needs it',
      )
    }
    warnEarly(reads, writes, procedures, context)
  }
}

interface UsesOfName {
  readonly first: VariableUse
  readonly reads: VariableUse[]
  readonly writes: VariableUse[]
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
      found = { first: use, reads: [], writes: [] }
      names.set(use.name, found)
      all.push(found)
    }
    if (use.kind === 'read') found.reads.push(use)
    else found.writes.push(use)
  }
  return all
}

/** A read above every write, in the one playbook that has them all, and in no loop. */
function warnEarly(
  reads: readonly VariableUse[],
  writes: readonly VariableUse[],
  procedures: ReadonlyMap<string, Procedure>,
  context: StepContext,
): void {
  // A trigger or a note asks all the time; only steps have a before and an after.
  const read = reads.find((use) => use.bullet?.id.includes('/') === true)
  if (read?.bullet == null || writes.length === 0 || writes.some((write) => write.playbook !== read.playbook))
    return
  const procedure = procedures.get(read.playbook)
  if (procedure === undefined || procedure.parameters.some((each) => each.name === read.name)) return
  if (hasLoop(procedure.steps) || !writes.every((write) => write.line > read.line)) return
  if (/\bhas\(|\bdefault\(|is (?:not )?(?:set|empty)/i.test(read.bullet.text)) return
  reportAt(read.bullet, 0, read.bullet.text.length, context).warn(
    'unset_variable',
    `\`${read.name}\` is read before any step sets it`,
    `it is set on line ${writes[0]!.line}`,
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
