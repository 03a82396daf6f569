/** Checks over a whole program: variables that nobody reads, or that are read before they are set. */
import type { Procedure, Program } from '../program.ts'
import type { Findings } from './findings.ts'
import type { InferredTruth } from './infer-truth.ts'
import { nameEnd } from './sigil-names.ts'
import { type StepContext, reportAt } from './step-context.ts'
import type { Variable, Variables } from './variables.ts'

/** What counts turns is there for its own sake. */
const turns = /^(?:for|repeat|do|loop|count)\b/i

/** Reports what only shows when all playbooks have been read. */
export function checkProgram(
  { program, unclear }: InferredTruth,
  variables: Iterable<Variables>,
  findings: Findings,
): void {
  const context = { findings } as Pick<StepContext, 'findings'> as StepContext
  const every = [...variables]
  let mentioned = false
  // Only for variables that nobody reads are descriptions looked at.
  const isMentioned = (variable: Variable): boolean => {
    if (!mentioned) markMentioned(program, every)
    mentioned = true
    return variable.isMentioned
  }
  let straight: ReadonlyMap<string, Procedure> | null = null
  const straightOf = (id: string): Procedure | undefined => (straight ??= withoutLoops(program)).get(id)
  for (const { used } of every) {
    for (const use of used) {
      const { name, write } = use
      if (write === null) continue
      if (!use.isRead && !findings.isFullOfWarnings && !turns.test(write.text) && !isMentioned(use)) {
        reportAt(write, 0, write.text.length, context).warn(
          'unused_variable',
          `nothing reads \`${name}\``,
          'remove the step if nobody needs it',
        )
      }
      if (unclear.size > 0 && unclear.has(name)) {
        reportAt(write, 0, write.text.length, context).error(
          'wrong_type',
          `\`${name}\` keeps the words of an answer, and a condition takes it for yes or no: the word "no" would count as yes`,
          `say \`$${name}:bool = Ask …\`, or compare the words: \`If $${name} is "yes"\``,
        )
      }
      warnEarly(use, straightOf, context)
    }
  }
}

/** The playbooks in which what stands above happens before, by their ids. */
function withoutLoops({ agents }: Program): ReadonlyMap<string, Procedure> {
  const straight = agents.flatMap(({ playbooks }) => playbooks.filter(({ steps }) => !hasLoop(steps)))
  return new Map(straight.map((each) => [each.id, each]))
}

/** A read above every write, in the one playbook that has them all, and in no loop. */
function warnEarly(
  { name, stepRead: read, readIn, write, writtenIn, highestWrite }: Variable,
  straightOf: (id: string) => Procedure | undefined,
  context: StepContext,
): void {
  if (read === null || readIn === null || write === null || writtenIn !== readIn) return
  if (highestWrite <= read.line) return
  const procedure = straightOf(readIn)
  if (procedure === undefined || procedure.parameters.some((each) => each.name === name)) return
  if (/\bhas\(|\bdefault\(|is (?:not )?(?:set|empty)/i.test(read.text)) return
  reportAt(read, 0, read.text.length, context).warn(
    'unset_variable',
    `\`${name}\` is read before any step sets it`,
    `it is set on line ${write.line}`,
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

/** Marks the variables that nobody reads and that stand in what a model is told: one that is mentioned there is used. */
function markMentioned(program: Program, every: readonly Variables[]): void {
  const starts = new Set<number>()
  for (const { used } of every)
    for (const { name, isRead } of used) if (!isRead) starts.add(name.charCodeAt(0))
  const take = (text: string): void => {
    let at = 0
    while (at < text.length) {
      const end = nameEnd(text, at)
      if (end > at && starts.has(text.charCodeAt(at))) mark(text.slice(at, end), every)
      at = Math.max(end, at + 1)
    }
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
}

function mark(name: string, every: readonly Variables[]): void {
  for (const variables of every) {
    const variable = variables.get(name)
    if (variable !== undefined && !variable.isRead) variable.isMentioned = true
  }
}
