import type { JournalEntry } from '../journal/journal.ts'
import type { EventOf, RunEvent } from '../run/event.ts'
import type { AnswerUsage } from '../run/program/question.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ShownOutput } from '../tool/describe-outcome.ts'
import type { CallOutcome } from '../tool/run-call.ts'
import type { AgentFact } from './agent-event.ts'
import { addUsage, noUsage, type TokenUsage } from './token-usage.ts'
import type { RecordedMessage } from './recorded-message.ts'

/** A move of a step that was made on the model's word. */
export type RecordedMove = EventOf<'step.completed' | 'step.skipped' | 'step.failed' | 'step.refused'>

/** A turn of the model that has not been answered in full, and what its record says of it already. */
export interface OpenTurn {
  readonly fact: Extract<AgentFact, { type: 'model.answered' }>
  /** What the model is shown of each call that is over, by the model's id of the call. */
  readonly returned: Map<string, { readonly status: CallOutcome['status']; readonly output: ShownOutput }>
  /** Refusals by the call's id in the run, where nothing was shown yet. */
  readonly denied: Map<string, EventOf<'tool.denied'>>
  /** The move of a step that nobody was told of yet. */
  move: RecordedMove | null
  /** The final answer was sent back, and the model does not know yet. */
  sentBack: EventOf<'finish.refused'> | null
}

/** What the entries of a run say: its events, the conversation, and the turn that was cut off, if one was. */
export interface RecordedRun {
  /** The run above, if this one was made under a call of another. */
  readonly parent: { readonly run: string; readonly callId: string } | null
  readonly events: readonly RunEvent[]
  /** What the run was asked to do. */
  readonly task: string
  readonly messages: RecordedMessage[]
  readonly turn: OpenTurn | null
  /** What this run's model took, and what the runs below it took. */
  readonly usage: TokenUsage
  readonly below: readonly Extract<AgentFact, { type: 'agent.returned' }>[]
  readonly turns: number
  readonly lastText: string
}

const agentTypes: ReadonlySet<string> = new Set<AgentFact['type']>([
  'agent.prompted',
  'model.answered',
  'tool.returned',
  'agent.reminded',
  'agent.delegated',
  'agent.returned',
  'approval.decided',
  'model.consulted',
])

/** Reads a run back. Throws `invalid_snapshot` for entries that are no run of an agent. */
export function readRecord(entries: readonly JournalEntry[]): RecordedRun {
  if (entries[0]?.type !== 'run.started') {
    throw new LockstepError('invalid_snapshot', 'These entries do not begin a run.')
  }
  if (!entries.some(({ type }) => type === 'agent.prompted')) {
    throw new LockstepError(
      'invalid_snapshot',
      'The run was interrupted before its task was written down, so it did nothing.',
      { hint: 'Start it anew.' },
    )
  }
  const events: RunEvent[] = []
  const messages: RecordedMessage[] = []
  let turn: OpenTurn | null = null
  let lastText = ''
  let task: string | null = null
  let parent: RecordedRun['parent'] = null
  let turns = 0
  const below: Extract<AgentFact, { type: 'agent.returned' }>[] = []
  let usage = noUsage
  const countUsage = (used: AnswerUsage | null) => {
    turns = used?.number ?? turns
    if (used !== null) usage = addUsage(usage, used)
  }
  for (const { type, at, data } of entries) {
    const event = { ...data, type, at } as unknown as RunEvent | AgentFact
    if (!agentTypes.has(type)) {
      events.push(event as RunEvent)
      if (type === 'question.answered') countUsage((event as EventOf<'question.answered'>).usage)
      // Each errand of a program is a conversation of its own.
      if (type === 'act.begun') {
        messages.length = 0
        turn = null
      }
      if (turn !== null) note(turn, event as RunEvent)
      continue
    }
    const fact = event as AgentFact
    switch (fact.type) {
      case 'agent.prompted':
      case 'agent.reminded':
        if (fact.type === 'agent.prompted') {
          parent = fact.parent ?? null
          task ??= fact.text
        }
        messages.push({ role: 'user', content: fact.text })
        turn = null
        break
      case 'agent.returned':
        below.push(fact)
        break
      case 'agent.delegated':
      case 'approval.decided':
        break
      case 'model.consulted':
        countUsage(fact)
        break
      case 'model.answered':
        countUsage(fact)
        lastText = fact.text
        if (!isEmpty(fact)) messages.push(fact.message as unknown as RecordedMessage)
        turn = openTurn(fact)
        break
      case 'tool.returned':
        if (turn === null) break
        turn.returned.set(fact.id, fact)
        turn.move = null
        if (turn.returned.size === turn.fact.calls.length) {
          messages.push(toolMessage(turn))
          turn = null
        }
        break
    }
  }
  return { events, task: task ?? '', messages, turn, turns, lastText, usage, below, parent }
}

/** A turn of which nothing is answered. */
export function openTurn(fact: OpenTurn['fact']): OpenTurn {
  return { fact, returned: new Map(), denied: new Map(), move: null, sentBack: null }
}

/** Says whether the model said nothing at all; services do not take such an answer back as history. */
export function isEmpty(fact: Pick<OpenTurn['fact'], 'text' | 'calls'>): boolean {
  return fact.text.trim() === '' && fact.calls.length === 0
}

/** Remembers what a resumed turn must not do twice. */
function note(turn: OpenTurn, event: RunEvent): void {
  switch (event.type) {
    case 'tool.denied':
      // A call that waited for approval is no refused one: it may be made when the run goes on.
      if (event.callId !== null && event.blocked && event.code !== 'awaiting_approval')
        turn.denied.set(event.callId, event)
      break
    case 'finish.refused':
      turn.sentBack = event
      break
    case 'step.completed':
    case 'step.skipped':
    case 'step.failed':
    case 'step.refused':
      if (event.by === 'model') turn.move = event
      break
    default:
  }
}

/** The results of a turn's calls as the next question repeats them. */
export function toolMessage(turn: OpenTurn): RecordedMessage {
  return {
    role: 'tool',
    content: turn.fact.calls.map((call) => ({
      type: 'tool-result' as const,
      toolCallId: call.id,
      toolName: call.tool,
      output: turn.returned.get(call.id)!.output,
    })),
  }
}
