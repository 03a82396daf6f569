import type { Arm, Computation, Condition, Step, Target, Words } from '../program.ts'
import { converses } from './converses.ts'
import { type ProgramNames, phraseCalls, phraseDoing } from './phrase-call.ts'
import { phraseCondition, phraseCounting, phraseExpression } from './phrase-expression.ts'
import {
  phraseCount,
  phraseList,
  phraseName,
  phraseSeconds,
  phraseSentence,
  phraseVariable,
} from './phrase-name.ts'

/** What a bullet was understood to mean, as a sentence; what is left to a model stays in the author's words. */
export function phraseStep(step: Exclude<Step, { kind: 'if' }>, names: ProgramNames): string {
  return phraseSentence(wordsOf(step, names))
}

/** The line that opens a branch. */
export function phraseArm(arm: Arm, first: boolean, names: ProgramNames): string {
  if (arm.condition === null) return 'Otherwise:'
  const condition = phraseWhen(arm.condition, names)
  return `${first ? 'If' : 'Otherwise, if'} ${condition}:`
}

/** A condition in words; one that a model judges is in the author's. */
export function phraseWhen(condition: Condition, names: ProgramNames): string {
  if (condition.kind === 'computed') return phraseKnown(condition.value, names)
  const text = condition.text.trim().replace(/[:,]$/, '')
  const { known } = condition
  return known === undefined ? text : `${phraseKnown(known.value, names)} ${known.operator} ${text}`
}

function phraseKnown(value: Computation, names: ProgramNames): string {
  return phraseCondition(value.source, phraseCalls(value, names))
}

/** A value in words. */
export function phraseValue(value: Computation, names: ProgramNames): string {
  const calls = phraseCalls(value, names)
  if (value.form === 'expression') return phraseExpression(value.source, calls)
  return `"${value.source.replace(/\bcall_([1-9]\d*)\b/g, (name, number) => calls[Number(number) - 1] ?? name)}"`
}

function wordsOf(step: Exclude<Step, { kind: 'if' }>, names: ProgramNames): string {
  switch (step.kind) {
    case 'set':
    case 'call':
      return phraseKeeping(step.value, step.target, names)
    case 'extract':
    case 'act':
      return step.instruction
    case 'say':
      return step.words.kind === 'literal'
        ? `say ${phraseValue(step.words.value, names)}`
        : step.words.instruction
    case 'ask':
      return phraseAsking(step, names)
    case 'loop':
      return `${step.form} ${phraseWhen(step.condition, names)}, ${rounds(step, names)}:`
    case 'each':
      return `${phraseEach(step, names)}${step.maxTurns < unbounded ? `, ${atMost(step.maxTurns)}` : ''}:`
    case 'break':
      return 'leave the loop'
    case 'continue':
      return 'go on with the next round'
    case 'end':
      return 'end the program'
    case 'require':
      return `go on only if ${phraseWhen(step.condition, names)}, and fail otherwise`
    case 'return':
      return step.value === null ? 'return' : `return ${phraseValue(step.value, names)}`
    case 'answer':
      return /^return\b/i.test(step.instruction) ? step.instruction : `return ${step.instruction}`
    case 'wait':
      return step.for.kind === 'message' ? 'wait for a message' : `wait ${phraseSeconds(step.for.seconds)}`
  }
}

/** "Set the total to 5", or, where the value is just what a call answers, "call lookup_order and keep the answer as the order". */
function phraseKeeping(value: Computation, target: Target | null, names: ProgramNames): string {
  const earlier = phraseCalls(value, names)
  const last = value.calls.at(-1)
  const isAnswer = last !== undefined && value.source.trim() === `call_${value.calls.length}`
  if (isAnswer) {
    const doing = phraseDoing(last, earlier, names)
    return target === null ? doing : `${doing}, and keep the answer as ${phraseVariable(target.name)}`
  }
  const result = phraseValue(value, names)
  return target === null ? `work out ${result}` : `set ${phraseVariable(target.name)} to ${result}`
}

function phraseAsking(step: Extract<Step, { kind: 'ask' }>, names: ProgramNames): string {
  const wanted = phraseList(step.targets.map(({ name }) => phraseVariable(name)))
  // The author's own words may say it already.
  const said = step.words?.kind === 'written' ? step.words.instruction : ''
  const until =
    step.until === null || /\buntil\b/i.test(said) ? '' : `, until ${phraseWhen(step.until, names)}`
  const turns = step.until === null || /\bup to\b|\bat most\b/i.test(said) ? '' : `, ${atMost(step.maxTurns)}`
  return `${question(step.words, wanted, names)}${until}${turns}`
}

function question(words: Words | null, wanted: string, names: ProgramNames): string {
  if (words === null) return wanted === '' ? 'ask' : `ask for ${wanted}`
  if (words.kind === 'literal') {
    const kept = wanted === '' ? '' : `, and keep the answer as ${wanted}`
    return `ask ${phraseValue(words.value, names)}${kept}`
  }
  return words.instruction.trim().replace(/\.$/, '')
}

/** What a loop over a list may take where nothing else bounds it; nobody wrote that, so nobody need read it. */
const unbounded = 10_000

/** "For each item in the list", "for each i from 1 to 5", "repeat 3 times". */
function phraseEach({ item, over }: Extract<Step, { kind: 'each' }>, names: ProgramNames): string {
  const counted = phraseCounting(over.source, phraseCalls(over, names))
  if (counted === null) return `for each ${phraseName(item.name)} in ${phraseValue(over, names)}`
  const { from, to } = counted
  if (item.name === 'turn' && from === '1') return `repeat ${to} ${to === '1' ? 'time' : 'times'}`
  return `for each ${phraseName(item.name)} from ${from} to ${to}`
}

/** Rounds in which a person speaks do not count. */
function rounds(step: Extract<Step, { kind: 'loop' }>, { speaking }: ProgramNames): string {
  return converses(step.steps, speaking)
    ? `${atMost(step.maxTurns)} without a word from a person`
    : atMost(step.maxTurns)
}

function atMost(turns: number): string {
  return turns === 1 ? 'once at most' : `at most ${phraseCount(turns, 'time')}`
}
