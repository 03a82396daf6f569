import { invariant } from '../../shared/lockstep-error.ts'
import { ExpressionError } from '../../expression/expression-error.ts'
import type { Json } from '../../shared/json.ts'
import type { RunState } from '../state.ts'
import { textOf } from './begin-playbook.ts'
import { contextOf, lookupIn, procedureOf, visibleVariables, type ProgramContext } from './context.ts'
import { cutText } from './cut-text.ts'
import type { Frame } from './program-state.ts'
import type { QuestionBatch, Utterance } from './question.ts'

/** How much of what was said goes with a question, in utterances and in characters: what matters for longer belongs into a variable. */
const longestConversation = 80
const longestTalk = 200_000
/** How much of one value goes with a question, in characters. */
const longestValue = 100_000

/** The questions that are open, with what someone needs to know to answer them. */
export function questionBatch(state: RunState): QuestionBatch {
  const context = contextOf(state, state.clock)
  const { pending, frames, conversation } = context.program
  invariant(pending?.kind === 'questions', 'no question is open')
  const frame = frames.at(-1) ?? null
  const procedure = frame === null ? null : procedureOf(context, frame)
  return {
    id: pending.id,
    questions: pending.questions,
    agent: describeAgent(context, frame),
    playbook: frame?.description ?? '',
    // A note that is several rules is said once.
    notes: [...new Set(procedure?.notes.map(({ text }) => text))],
    variables: frame === null ? {} : readVariables(context, frame, pending.reads),
    conversation: lastSaid(conversation),
  }
}

function describeAgent(context: ProgramContext, frame: Frame | null): string {
  const { compiled } = context
  const agent = frame === null ? compiled.program.agents[0] : compiled.agentOf(procedureOf(context, frame))
  if (agent === undefined) return ''
  const { value, calls } = compiled.computation(agent.description)
  const text = frame === null || calls.length > 0 ? '' : value.evaluate(lookupIn(context, frame))
  // A description that cannot be filled in is said as it stands.
  const described = text instanceof ExpressionError ? agent.description.source : textOf(text)
  return [agent.name, described].filter((part) => part !== '').join('\n')
}

function readVariables(
  context: ProgramContext,
  frame: Frame,
  reads: readonly string[] | null,
): { readonly [name: string]: Json } {
  const visible = Object.entries(visibleVariables(context, frame))
  const read = reads === null ? visible : visible.filter(([name]) => reads.includes(name))
  return Object.fromEntries(read.map(([name, value]) => [name, cutValue(value)]))
}

/** The last things that were said, as many as go with a question; the first of them may be cut. */
function lastSaid(conversation: readonly Utterance[]): readonly Utterance[] {
  const said: Utterance[] = []
  let left = longestTalk
  for (const { by, text } of conversation.slice(-longestConversation).toReversed()) {
    if (left <= 0) break
    said.push({ by, text: cutText(text, left) })
    left -= text.length
  }
  return said.toReversed()
}

/** A value that is too long goes along as the beginning of its text, and says so. */
function cutValue(value: Json): Json {
  if (typeof value === 'string') return cutText(value, longestValue)
  if (typeof value !== 'object' || value === null) return value
  const text = JSON.stringify(value)
  return text.length <= longestValue ? value : cutText(text, longestValue)
}
