import { isPlainQuestion } from '../../playbook/plain-question.ts'
import type { Step, Target, Words } from '../../playbook/program.ts'
import type { Json } from '../../shared/json.ts'
import type { RunEvent } from '../event.ts'
import { textOf } from './begin-playbook.ts'
import { judgeCondition } from './advance-branch.ts'
import {
  askQuestions,
  extractQuestion,
  followingQuestions,
  judgeQuestion,
  writeQuestion,
  type Asking,
} from './ask-questions.ts'
import { compute } from './compute.ts'
import { lookupIn, ownValue, setVariable, typeProblem, type ProgramContext } from './context.ts'
import { completeStep, failStep } from './end-step.ts'
import { judgementsAhead } from './note-rule.ts'
import { plainAnswer } from './plain-answer.ts'
import type { Frame } from './program-state.ts'
import { fireTriggers, messageTriggers } from './trigger.ts'

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

/** What is asked of a model about what a person said, under this id. */
const matchId = 'match'

/** Says something to the person. */
export function advanceSay(context: ProgramContext, frame: Frame, step: StepOf<'say'>): readonly RunEvent[] {
  const words = findWords(context, frame, step.id, step.words)
  if ('events' in words) return words.events
  if ('error' in words) return [failStep(context, step.id, words.error)]
  return [send(context, step.id, words), completeStep(context, step.id)]
}

interface Found {
  readonly text: string
  readonly by: 'playbook' | 'model'
}

function findWords(
  context: ProgramContext,
  frame: Frame,
  step: string,
  words: Words,
): Found | { readonly events: readonly RunEvent[] } | { readonly error: string } {
  if (words.kind === 'literal') {
    const computed = compute(context, frame, context.compiled.computation(words.value), step)
    return 'value' in computed ? { text: textOf(computed.value), by: 'playbook' } : computed
  }
  const answer = context.program.answers[step]
  if (answer?.kind === 'write') return { text: answer.text, by: 'model' }
  const following = followingQuestions(context, frame)
  const own = following.length > 0 ? following : [writeQuestion(step, words.instruction, words.reads)]
  return { events: [askQuestions(context, own)] }
}

function send({ at }: ProgramContext, step: string | null, { text, by }: Found): RunEvent {
  return { type: 'message.sent', at, step, text, by }
}

/** Waits for a person to say something, or for time to pass. */
export function advanceWait(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'wait'>,
): readonly RunEvent[] {
  const { at } = context
  if (step.for.kind === 'time') {
    const until = frame.until ?? at + step.for.seconds * 1000
    return [{ type: 'wait.begun', at, step: step.id, until }]
  }
  if (frame.asked === 0) return [{ type: 'person.awaited', at, step: step.id }]
  if (frame.reply !== null) {
    const fired = matchMessage(context, [])
    if (fired !== null) return fired
  }
  return [completeStep(context, step.id)]
}

/** Asks the person until what is asked for is known. */
export function advanceAsk(context: ProgramContext, frame: Frame, step: StepOf<'ask'>): readonly RunEvent[] {
  const { reply } = frame
  if (reply !== null) return considerReply(context, frame, step, reply)
  if (frame.asked > 0) {
    const done = isAnswered(context, frame, step)
    if (done !== null) return done
    if (frame.asked >= step.maxTurns) {
      return [failStep(context, step.id, `it was not answered in ${step.maxTurns} turns`)]
    }
  }
  const ahead = judgementsAhead(context, frame, step.targets)
  if (ahead.length > 0) {
    const words = context.program.answers[step.id] === undefined ? followingQuestions(context, frame) : []
    return [askQuestions(context, [...words, ...ahead])]
  }
  const words = findQuestion(context, frame, step)
  if ('events' in words) return words.events
  if ('error' in words) return [failStep(context, step.id, words.error)]
  return [send(context, step.id, words), { type: 'person.awaited', at: context.at, step: step.id }]
}

function findQuestion(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'ask'>,
): ReturnType<typeof findWords> {
  const again = context.program.answers[`${step.id}:again`]
  if (frame.asked > 0 && again?.kind === 'write' && again.text.trim() !== '') {
    return { text: again.text, by: 'model' }
  }
  if (step.words === null) return { text: defaultQuestion(step.targets, frame.asked > 0), by: 'playbook' }
  return findWords(context, frame, step.id, step.words)
}

function defaultQuestion(targets: readonly Target[], again: boolean): string {
  const names = targets.map(({ name }) => name.replaceAll('_', ' '))
  const list =
    names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? 'your answer')
  return again ? `I still need ${list}.` : `Please tell me: ${list}.`
}

/** What a person said is read: triggers it sets off run first, then what it answers is put down. */
function considerReply(
  context: ProgramContext,
  frame: Frame,
  step: StepOf<'ask'>,
  reply: string,
): readonly RunEvent[] {
  const { program, at } = context
  const handled: RunEvent = { type: 'message.handled', at, step: step.id }
  const plain = readPlainly(context, frame, step, reply)
  if (plain !== null) return [...putKnown(context, frame, step.targets, plain), handled]
  const answer = program.answers[step.id]
  const open = openQuestions(context, frame, step)
  if (open.length > 0 && answer === undefined) {
    const fired = matchMessage(context, open)
    if (fired !== null) return fired
  }
  const fired = matchMessage(context, [])
  if (fired !== null) return fired
  const values = answer?.kind === 'extract' ? answer.values : {}
  return [...putKnown(context, frame, step.targets, values), handled]
}

/** A reply that plainly is the value. Yes and no are only that where the question as it is put says what they mean. */
function readPlainly(
  context: ProgramContext,
  frame: Frame,
  { targets, words }: StepOf<'ask'>,
  reply: string,
): ReturnType<typeof plainAnswer> {
  if (targets.some(({ type }) => type === 'bool') && !saysWhatYesMeans(context, frame, words)) return null
  return plainAnswer(targets, reply, messageTriggers(context).length > 0 ? 'open' : 'value')
}

function saysWhatYesMeans(context: ProgramContext, frame: Frame, words: Words | null): boolean {
  if (words === null) return true
  if (words.kind === 'written' || words.value.calls.length > 0) return false
  const text = context.compiled.computation(words.value).value.evaluate(lookupIn(context, frame))
  // A value that is filled in may turn the question round too.
  return typeof text === 'string' && isPlainQuestion(words.value.source) && isPlainQuestion(text)
}

/** What a model is asked about a reply, in one request: the values, whether it will do, and what to say if it will not. */
function openQuestions(context: ProgramContext, frame: Frame, step: StepOf<'ask'>): readonly Asking[] {
  if (step.targets.length === 0) return []
  const instruction = `The person was asked this: ${step.text}`
  const asking = [extractQuestion(step.id, step.targets, instruction, null)]
  const given = new Set(step.targets.map(({ name }) => name))
  if (step.until?.kind === 'judged' && step.until.known === undefined)
    asking.push(judgeQuestion(context, frame, `${step.id}:until`, step.until, given))
  if (step.words?.kind === 'written') {
    const again = `If the person's last message does not answer it, what you say to them now; otherwise an empty text. ${step.words.instruction}`
    asking.push(writeQuestion(`${step.id}:again`, again, step.words.reads))
  }
  return asking
}

/** Finds out which triggers a message means, along with other questions about it, and sets them off; null if there is nothing more to do. */
function matchMessage(context: ProgramContext, others: readonly Asking[]): readonly RunEvent[] | null {
  const triggers = messageTriggers(context)
  const match = context.program.answers[matchId]
  if (context.program.frames.at(-1)?.heard === true) {
    return others.length === 0 ? null : [askQuestions(context, others)]
  }
  if (match === undefined) {
    if (triggers.length === 0) return others.length === 0 ? null : [askQuestions(context, others)]
    const texts = triggers.map(({ trigger }) => trigger.text)
    const question: Asking = { question: { id: matchId, kind: 'match', triggers: texts }, reads: [] }
    return [askQuestions(context, [...others, question])]
  }
  const matched = match.kind === 'match' ? triggers.filter((_, index) => match.matched.includes(index)) : []
  if (matched.length === 0) return null
  const events = fireTriggers(context, matched)
  if (typeof events === 'string')
    return [{ type: 'run.finished', at: context.at, status: 'failed', message: events }]
  return events.length === 0
    ? null
    : [{ type: 'trigger.fired', at: context.at, key: matched[0]!.key }, ...events]
}

/** Puts down what is known; a value of the wrong type counts as not given. */
function putKnown(
  context: ProgramContext,
  frame: Frame,
  targets: readonly Target[],
  values: { readonly [name: string]: Json },
): readonly RunEvent[] {
  return targets.flatMap((target) => {
    const value = ownValue(values, target.name)
    if (value === null || typeProblem(target.type, value) !== null) return []
    return [setVariable(context, frame, target, value)]
  })
}

/** Ends the bullet if everything that was asked for is known and will do; null if it has to be asked again. */
function isAnswered(context: ProgramContext, frame: Frame, step: StepOf<'ask'>): readonly RunEvent[] | null {
  const lookup = lookupIn(context, frame)
  if (step.targets.some(({ name }) => !frame.given.includes(name) || lookup(name) === undefined)) return null
  if (step.until === null) return [completeStep(context, step.id)]
  const judged = judgeCondition(context, frame, `${step.id}:until`, step.until, step.id)
  if ('events' in judged) return judged.events
  if ('error' in judged) return [failStep(context, step.id, judged.error)]
  return judged.holds ? [completeStep(context, step.id)] : null
}

/** A message that came while no playbook ran sets off what it means, or is answered that nothing does. */
export function handleIdleMessage(context: ProgramContext): readonly RunEvent[] {
  const fired = matchMessage(context, [])
  const handled: RunEvent = { type: 'message.handled', at: context.at, step: null }
  if (fired !== null) {
    return fired.some(({ type }) => type === 'playbook.begun') ? [handled, ...fired] : fired
  }
  const text = 'None of my playbooks is about that.'
  return [send(context, null, { text, by: 'playbook' }), handled]
}
