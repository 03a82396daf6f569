import type { LanguageModel } from 'ai'
import type { Journal, JournalEntry } from '../journal/journal.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { RunEnd } from '../run/event.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { Outcome } from '../run/ticket.ts'
import type { EnforcementViolation } from '../tool/enforcement-result.ts'
import type { RecordedOutcome } from '../tool/enforcer-options.ts'
import type { PolicySetup } from '../tool/policy-guard.ts'
import type { SecretResolver } from '../tool/secret-resolver.ts'
import type { PlaybookPlan } from '../tool/playbook-plan.ts'
import type { Tool } from '../tool/tool.ts'
import type { ApprovalAnswer, ApprovalRequest } from './ask-approval.ts'
import type { AgentHook } from './hook.ts'
import type { Person } from './person.ts'
import type { PriceTable } from './price-table.ts'
import type { RunControl } from './run-control.ts'

/** How much a run may spend. */
export interface AgentBudget {
  /** Prompt and completion tokens together. */
  readonly tokens?: number
  readonly dollars?: number
}

/** What an agent is made of. */
export interface AgentOptions {
  /** A model of the AI SDK, or its name: `openai:…`, `anthropic:…`, `openai-compatible:…`, `scripted:file.yaml`, `me`. */
  readonly model: LanguageModel | string
  readonly tools?: Iterable<Tool>
  /** What the agent is held to. Without one it may use its tools freely, through the gate all the same. */
  readonly playbook?: Playbook
  readonly hooks?: readonly AgentHook[]
  readonly systemPrompt?: string
  /**
   * Asked before each call of an irreversible tool that the gate would let through, of this run and of those below it. Anything but a yes vetoes the call; after a yes
   * everything is judged again.
   */
  readonly onApproval?: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>
  /** The most turns of the model in a run; the playbook's own limit binds too. Default 50. */
  readonly maxIterations?: number
  /** The most tokens of one answer. */
  readonly maxTokens?: number
  readonly budget?: AgentBudget
  /** Prices for models that are not in the list, or differ from it. */
  readonly prices?: PriceTable
  /** Which tools the model is told of: those that are legal now, or all of them always. Default `legal`. */
  readonly offer?: 'legal' | 'all'
  readonly blockViolations?: boolean
  readonly recordViolations?: boolean
  /** How often a passing fault of the model's service is retried. Default 2. */
  readonly maxRetries?: number
  /** After how many turns in a row without anything done the run is given up. Default 5. */
  readonly maxIdleTurns?: number
  /** The most bytes of a result that the model is shown, where its tool says nothing else. Default 65,536. */
  readonly maxResultBytes?: number
  /** The policies that runs stand under, and who is behind them; without it no policy is asked. */
  readonly policy?: PolicySetup
  /** In a dry run, what only a made call could tell stays unknown, and no secret is found; it takes tools that make no calls. Default as the policy's mode says. */
  readonly mode?: 'execute' | 'dry-run'
  /** Finds the secrets that the playbook declares; a run of such a playbook does not begin without it. */
  readonly secrets?: SecretResolver
  /** Where runs are written down. Default: in memory. */
  readonly journal?: Journal
  readonly tenant?: string
  readonly principal?: string
}

/** What one run is given. */
export interface RunOptions {
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
  /** The run's name; made up if it is not given. */
  readonly run?: string
  /** Who talks with a program. Without one, a program that waits for a person is put down, and can be taken up. */
  readonly person?: Person
  /** Reaches the run while it is at work: to cancel it, to pause it, to approve its calls. */
  readonly control?: RunControl
  /** How the run came about, as whoever takes it up needs it; written down with its beginning. */
  readonly origin?: JsonObject
}

/** How an interrupted run is taken up. */
export interface ResumeOptions {
  readonly signal?: AbortSignal
  readonly person?: Person
  readonly control?: RunControl
  /** What became of calls that were in flight, by call id, where somebody knows. */
  readonly settle?: Readonly<
    Record<string, Omit<RecordedOutcome, 'callId' | 'outcome'> & { readonly outcome: Outcome }>
  >
  /** The steps that are begun anew: failed, escalated or undecided ones. */
  readonly retry?: readonly string[]
}

/** A run put down: its record, from which it can be taken up. */
export interface AgentSnapshot {
  readonly run: string
  readonly entries: readonly JournalEntry[]
}

/** What a run spent. */
export interface AgentMetrics {
  readonly promptTokens: number
  readonly completionTokens: number
  /** Tokens of answers whose service did not say how many it used, estimated from their length; in no other number here. */
  readonly estimatedTokens: number
  /** In US dollars; null where the model's price is not known, or its service did not say what it used. */
  readonly cost: number | null
  readonly iterations: number
  readonly modelSeconds: number
  readonly toolSeconds: number
}

/** How a run ended, and its record. */
export interface AgentResult {
  readonly run: string
  readonly status: RunEnd
  /** The final answer; of a run that did not succeed, the last thing the model said. */
  readonly message: string
  /** What a Markdown playbook returned, as it is; null where it returned nothing, did not succeed, or is of another kind. */
  readonly value: Json
  /** Why the run did not succeed; null if it did. */
  readonly reason: string | null
  readonly playbookPlan: PlaybookPlan
  readonly violations: readonly EnforcementViolation[]
  readonly metrics: AgentMetrics
  readonly snapshot: AgentSnapshot
}
