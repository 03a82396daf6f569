import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import type { JsonObject } from '../shared/json.ts'
import { recordFailure } from '../tool/record-failure.ts'
import type { RunRecord } from '../tool/run-record.ts'
import type { AgentEvent, AgentFact } from './agent-event.ts'
import type { AgentOptions } from './agent-options.ts'
import type { AgentHook } from './hook.ts'
import type { Ancestor } from './lineage.ts'
import type { Spending } from './spending.ts'

/** What one run of an agent works with. */
export interface RunSetup {
  readonly model: LanguageModelV4
  readonly enforcer: PlaybookEnforcer
  readonly record: RunRecord
  readonly hooks: readonly AgentHook[]
  readonly systemPrompt: string
  readonly onApproval: NonNullable<AgentOptions['onApproval']> | null
  readonly maxIterations: number
  readonly maxTokens: number | null
  readonly maxRetries: number
  readonly maxIdleTurns: number
  readonly maxResultBytes: number
  readonly offer: 'legal' | 'all'
  readonly signal: AbortSignal
  readonly spending: Spending
  /** The runs above this one, the outermost first (G18). */
  readonly ancestors: readonly Ancestor[]
  /** Why a hook that listens to steps lets nothing more through; null while none of them failed. */
  readonly trouble: { reason: string | null }
  /** How the run came about; null where nobody said. */
  readonly origin: JsonObject | null
  /** Hears of everything; null where nobody listens, and then the model need not stream. */
  readonly onEvent: ((event: AgentEvent) => void) | null
}

/** Writes a fact down after everything that led to it. Throws `record_failed` if it cannot be. */
export async function writeFact(setup: RunSetup, fact: AgentFact): Promise<void> {
  setup.onEvent?.(fact)
  await setup.enforcer.written()
  await setup.record.write([fact]).catch((cause: unknown) => {
    throw recordFailure(cause)
  })
}

/**
 * Writes down what a run is asked to do, and under which call of which run it is made (G18). It is written together with the beginning of the run, so that
 * whatever has begun can be taken up. Throws `record_failed`.
 */
export async function writePrompt(setup: RunSetup, text: string): Promise<void> {
  const fact = promptFact(setup, text)
  setup.onEvent?.(fact)
  await setup.record.write([fact]).catch((cause: unknown) => {
    throw recordFailure(cause)
  })
  await setup.enforcer.written()
}

/** What a run is asked to do, as a fact. */
export function promptFact(setup: RunSetup, text: string): AgentFact {
  const above = setup.ancestors.at(-1)
  const parent = above === undefined ? {} : { parent: { run: above.setup.record.run, callId: above.callId } }
  const origin = setup.origin === null ? {} : { origin: setup.origin }
  return { type: 'agent.prompted', at: Date.now(), text, ...parent, ...origin }
}
