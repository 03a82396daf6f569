import { invariant } from '../../shared/lockstep-error.ts'
import { ExpressionError } from '../../expression/expression-error.ts'
import type { Json } from '../../shared/json.ts'
import type { RunState } from '../state.ts'
import { textOf } from './begin-playbook.ts'
import { contextOf, lookupIn, procedureOf, visibleVariables, type ProgramContext } from './context.ts'
import type { Frame } from './program-state.ts'
import type { QuestionBatch } from './question.ts'

/** How much of what was said goes with a question: what matters for longer belongs into a variable. */
const longestConversation = 80

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
    notes: procedure?.notes.map(({ text }) => text) ?? [],
    variables: frame === null ? {} : readVariables(context, frame, pending.reads),
    conversation: conversation.slice(-longestConversation),
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
  const visible = visibleVariables(context, frame)
  if (reads === null) return visible
  return Object.fromEntries(Object.entries(visible).filter(([name]) => reads.includes(name)))
}
