import { invariant } from '../../shared/lockstep-error.ts'
import type { RunEvent } from '../event.ts'
import type { ProgramContext } from './context.ts'
import type { ProgramState } from './program-state.ts'

type OfType<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>

/** Keeps a model's answers for the bullets that asked, and the judgements for as long as what they read is the same. */
export function answer(program: ProgramState, event: OfType<'question.answered'>): void {
  const { pending } = program
  invariant(pending?.kind === 'questions' && pending.id === event.id, `no question ${event.id} is open`)
  for (const [id, given] of Object.entries(event.answers)) {
    program.answers[id] = given
    const key = pending.memory[id]
    if (key !== undefined && given.kind === 'judge') program.judgements[key] = given.value
  }
  program.pending = null
}

/** Takes what a person said: the bullet that waits for it is to look at it, else whatever listens. */
export function receive({ program }: ProgramContext, text: string): void {
  program.conversation.push({ by: 'person', text })
  program.counters.spoken++
  program.pending = null
  const frame = program.frames.at(-1)
  if (frame === undefined) {
    program.message = text
    return
  }
  // What a model said of the answer before is not about this one.
  const { at } = frame
  if (at !== null) dropAnswers(program, (id) => belongsTo(id, at))
  frame.reply = text
  frame.last = text
  frame.heard = false
  frame.asked++
  for (const each of program.frames) for (const cursor of each.cursors) cursor.spoken = true
}

/** What a person said has been looked at. */
export function handleMessage(program: ProgramState, step: string | null): void {
  delete program.answers['match']
  if (step === null) program.message = null
  const frame = program.frames.at(-1)
  if (frame === undefined) return
  frame.reply = null
  delete program.answers[step ?? '']
}

/** Forgets the answers to some questions. */
export function dropAnswers(program: ProgramState, test: (id: string) => boolean): void {
  for (const id of Object.keys(program.answers)) if (test(id)) delete program.answers[id]
}

/** Whether a question was asked for a bullet: under its id, or one that begins with it. */
export function belongsTo(question: string, step: string): boolean {
  return question === step || question.startsWith(`${step}:`)
}

/** Forgets what was answered ahead, for bullets that have not begun. */
export function dropAhead(program: ProgramState): void {
  dropAnswers(program, (id) => !program.frames.some(({ at }) => at !== null && belongsTo(id, at)))
}
