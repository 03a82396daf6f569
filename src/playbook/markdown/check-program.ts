/** Checks over a whole program: variables that nobody reads, or that are read before they are set. */
import type { Procedure, Program } from '../program.ts'
import type { Findings } from './findings.ts'
import type { InferredTruth } from './infer-truth.ts'
import { nameEnd } from './sigil-names.ts'
import { type StepContext, reportAt } from './step-context.ts'
import type { VariableUse, VariableUses } from './variable-uses.ts'

/** What counts turns is there for its own sake. */
const turns = /^(?:for|repeat|do|loop|count)\b/i

/** Reports what only shows when all playbooks have been read. */
export function checkProgram(
  { program, unclear }: InferredTruth,
  uses: Iterable<VariableUses>,
  findings: Findings,
): void {
  const context = { findings } as Pick<StepContext, 'findings'> as StepContext
  const every = [...uses]
  let mentioned: ReadonlySet<string> | null = null
  // Only variables that nobody reads are looked for in descriptions.
  const isMentioned = (name: string): boolean =>
    (mentioned ??= mentionedNames(program, unreadNames(every))).has(name)
  let straight: ReadonlyMap<string, Procedure> | null = null
  const straightOf = (id: string): Procedure | undefined => (straight ??= withoutLoops(program)).get(id)
  for (const { all } of every) {
    for (const use of all) {
      const { name, write } = use
      if (!use.isRead && write !== null && !turns.test(write.text) && !isMentioned(name)) {
        reportAt(write, 0, write.text.length, context).warn(
          'unused_variable',
          `nothing reads \`${name}\``,
          'remove the step if nobody needs it',
        )
      }
      if (write !== null && unclear.has(name)) {
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
  { name, stepRead: read, readIn, write, writtenIn, highestWrite }: VariableUse,
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

function unreadNames(every: readonly VariableUses[]): Set<string> {
  const names = new Set<string>()
  for (const { all } of every) for (const use of all) if (!use.isRead) names.add(use.name)
  return names
}

/** Those of the names that stand in what a model is told: a variable that is mentioned there is used. */
function mentionedNames(program: Program, names: ReadonlySet<string>): Set<string> {
  const found = new Set<string>()
  const starts = new Set<number>()
  for (const name of names) starts.add(name.charCodeAt(0))
  const take = (text: string): void => {
    let at = 0
    while (at < text.length) {
      const end = nameEnd(text, at)
      if (end > at && starts.has(text.charCodeAt(at))) {
        const word = text.slice(at, end)
        if (names.has(word)) found.add(word)
      }
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
  return found
}
