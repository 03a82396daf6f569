import type { RunEnd, RunEvent } from '../run/event.ts'
import type { JsonObject } from '../shared/json.ts'
import type { ShownOutput } from '../tool/describe-outcome.ts'
import type { CallOutcome } from '../tool/run-call.ts'
import type { ProposedToolCall } from './model-turn.ts'
import type { Spent } from './spending.ts'
import type { TokenCount } from './token-usage.ts'

/** What an agent adds to the record of its run: enough to ask the next question again, word for word. */
export type AgentFact = { readonly at: number } & (
  | {
      readonly type: 'agent.prompted'
      readonly text: string
      /** The run above, and the call of it under which this run is made (G18). */
      readonly parent?: { readonly run: string; readonly callId: string }
      /** How the run came about, where somebody said. */
      readonly origin?: JsonObject
    }
  | {
      readonly type: 'agent.delegated'
      /** The call of this run under which the other run is made. */
      readonly callId: string
      readonly child: string
    }
  | {
      readonly type: 'agent.returned'
      readonly callId: string
      readonly child: string
      readonly status: RunEnd
      readonly promptTokens: number
      readonly completionTokens: number
      readonly cost: number | null
      readonly estimated?: NonNullable<Spent['estimated']>
    }
  | {
      readonly type: 'model.answered'
      readonly number: number
      readonly text: string
      readonly calls: readonly ProposedToolCall[]
      readonly cut: boolean
      readonly message: JsonObject
      readonly promptTokens: number
      readonly completionTokens: number
      readonly estimated?: TokenCount
      /** What it took in dollars, at the price of that moment; absent where no price is known. */
      readonly cost?: number
      readonly dropped?: number
    }
  | {
      readonly type: 'tool.returned'
      /** The model's own id of the call, and its turn: together they are the id of the call in the run. */
      readonly number: number
      readonly id: string
      readonly tool: string
      readonly status: CallOutcome['status']
      readonly output: ShownOutput
    }
  | {
      readonly type: 'approval.decided'
      readonly callId: string
      readonly tool: string
      readonly approved: boolean
      readonly reason: string | null
    }
  | { readonly type: 'agent.reminded'; readonly text: string }
  /** A model was asked the questions of a program, and its answers could not be used. */
  | {
      readonly type: 'model.consulted'
      readonly number: number
      readonly promptTokens: number
      readonly completionTokens: number
      readonly estimated?: TokenCount
      readonly cost?: number
    }
)

/** What a stream of a run tells: its record as it grows, and the model's text as it comes. */
export type AgentEvent =
  | RunEvent
  | AgentFact
  | {
      readonly type: 'model.asked'
      readonly at: number
      readonly number: number
      readonly tools: readonly string[]
    }
  /** `question`: which question of a program it answers. `anew`: what was told of the text before is void. */
  | {
      readonly type: 'text.delta'
      readonly at: number
      readonly text: string
      readonly question?: string
      readonly anew?: boolean
    }
