import type { Journal } from '../journal/journal.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { keepDocuments } from '../tool/keep-documents.ts'
import type { PolicySetup } from '../tool/policy-guard.ts'
import type { SecretResolver } from '../tool/secret-resolver.ts'
import { ToolRegistry } from '../tool/tool-registry.ts'
import type { Tool } from '../tool/tool.ts'
import type { AgentEvent } from './agent-event.ts'
import type { AgentOptions, ResumeOptions, RunOptions } from './agent-options.ts'
import { Agent, type AgentStream } from './agent.ts'
import { EventQueue } from './event-queue.ts'

/** What an agent is made of. */
export interface AgentSetup {
  readonly playbook: Playbook
  readonly tools: readonly Tool[]
  readonly model: AgentOptions['model']
  readonly journal: Journal
  /** Who is written down as having the run work. */
  readonly principal: string
  /** The policies it stands under; without it none is asked. */
  readonly policy?: PolicySetup
  readonly mode?: 'execute' | 'dry-run'
  /** Finds the secrets that the playbook declares. */
  readonly secrets?: SecretResolver
  readonly tenant?: string
  /** Prices for models that are not in the list, or differ from it. */
  readonly prices?: NonNullable<AgentOptions['prices']>
  readonly budget?: NonNullable<AgentOptions['budget']>
}

/** An agent that could begin at once. */
export interface ReadyAgent {
  start(prompt: string, options: RunOptions): AgentStream
  /** Takes a recorded run up; the stream tells what is added to its record. */
  resume(run: string, options: ResumeOptions): AgentStream
  /** Writes an order, or what a person says, into the record of a run that nobody is at work on. */
  readonly order: Agent['order']
  readonly vote: Agent['vote']
}

/** Makes an agent. Throws what stops a run from starting, such as a tool that is missing. */
export async function prepareAgent(setup: AgentSetup): Promise<ReadyAgent> {
  const { playbook, policy } = setup
  const tools = new ToolRegistry(setup.tools)
  await keepDocuments(setup.journal, { playbook, policies: policy?.policies ?? [], tools })
  const begun = new Agent(setup)
  return {
    start: (prompt, options) => begun.stream(prompt, options),
    order: (run, order) => begun.order(run, order),
    vote: (run, callId, vote) => begun.vote(run, callId, vote),
    resume(run, options) {
      const queue = new EventQueue<AgentEvent>()
      const agent = new Agent({ ...setup, journal: watch(setup.journal, (event) => queue.push(event)) })
      const result = agent.resume(run, options).finally(() => queue.end())
      // Who reads only the events hears of the failure at their end, from the promise.
      result.catch(() => undefined)
      return { result, [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator]() }
    },
  }
}

/** The journal, telling of every entry once it is written. */
function watch(journal: Journal, onEvent: (event: AgentEvent) => void): Journal {
  return {
    ledger: journal.ledger,
    async append(run, facts, options) {
      const entries = await journal.append(run, facts, options)
      for (const { type, at, data } of entries) onEvent({ ...data, type, at } as unknown as AgentEvent)
      return entries
    },
    read: (run, fromSeq) => journal.read(run, fromSeq),
    runs: () => journal.runs(),
    close: () => journal.close(),
  }
}
