import type { ModelMessage } from 'ai'
import type { JournalEntry } from '../journal/journal.ts'
import type { RunEvent } from '../run/event.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ShownOutput } from '../tool/describe-outcome.ts'
import type { AgentFact } from './agent-event.ts'

/** A turn of the model that has not been answered in full. */
export interface OpenTurn {
  readonly fact: Extract<AgentFact, { type: 'model.answered' }>
  readonly returned: Map<string, ShownOutput>
}

/** What the entries of a run say: its events, the conversation, and the turn that was cut off, if one was. */
export interface RecordedRun {
  readonly events: readonly RunEvent[]
  readonly messages: ModelMessage[]
  readonly turn: OpenTurn | null
  readonly promptTokens: number
  readonly completionTokens: number
  readonly turns: number
}

const agentTypes: ReadonlySet<string> = new Set<AgentFact['type']>([
  'agent.prompted',
  'model.answered',
  'tool.returned',
  'agent.reminded',
])

/** Reads a run back. Throws `invalid_snapshot` for entries that are no run of an agent. */
export function readRecord(entries: readonly JournalEntry[]): RecordedRun {
  if (entries[0]?.type !== 'run.started') {
    throw new LockstepError('invalid_snapshot', 'These entries do not begin a run.')
  }
  const events: RunEvent[] = []
  const messages: ModelMessage[] = []
  let turn: OpenTurn | null = null
  let turns = 0
  const usage = { promptTokens: 0, completionTokens: 0 }
  for (const { type, at, data } of entries) {
    const event = { ...data, type, at } as unknown as RunEvent | AgentFact
    if (!agentTypes.has(type)) {
      events.push(event as RunEvent)
      continue
    }
    const fact = event as AgentFact
    switch (fact.type) {
      case 'agent.prompted':
      case 'agent.reminded':
        messages.push({ role: 'user', content: fact.text })
        turn = null
        break
      case 'model.answered':
        turns++
        usage.promptTokens += fact.promptTokens
        usage.completionTokens += fact.completionTokens
        messages.push(fact.message as unknown as ModelMessage)
        turn = { fact, returned: new Map() }
        break
      case 'tool.returned':
        turn?.returned.set(fact.id, fact.output)
        if (turn !== null && turn.returned.size === turn.fact.calls.length) {
          messages.push(toolMessage(turn))
          turn = null
        }
        break
    }
  }
  return { events, messages, turn, turns, ...usage }
}

/** The results of a turn's calls as the next question repeats them. */
export function toolMessage(turn: OpenTurn): ModelMessage {
  return {
    role: 'tool',
    content: turn.fact.calls.map((call) => ({
      type: 'tool-result' as const,
      toolCallId: call.id,
      toolName: call.tool,
      output: turn.returned.get(call.id)! as never,
    })),
  }
}
