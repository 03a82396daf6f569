/**
 * Begins runs and takes them up again.
 *
 * Owns: what people said to runs and was not heard yet.
 * Talks to: the engines, one for each tenant; the directory, the texts and the tools, each time anew.
 *
 * Invariants
 * R1  A run is what its record says: the playbook it is pinned to, its inputs, who began it and who was behind them. Policies and roles are those of the moment in which somebody sits down to it.
 * R2  Whoever is told that a run was begun finds it: its first entry is in the store.
 * R3  A run that this server did not begin is not taken up by it. People may say something to its calls all the same.
 */
import { randomUUID } from 'node:crypto'
import type { AgentSetup, ReadyAgent } from '../agent/prepare-agent.ts'
import type { AgentOptions } from '../agent/agent-options.ts'
import type { VoteSetup } from '../agent/write-vote.ts'
import type { RunOrder } from '../agent/run-control.ts'
import type { Directory } from '../directory/directory.ts'
import type { Engine, RunWork, Seat, VoteAnswer } from '../engine/engine.ts'
import type { ChainStore } from '../journal/chain-store.ts'
import type { Journal, JournalEntry } from '../journal/journal.ts'
import { readOrigin, type RunOrigin } from '../overview/run-origin.ts'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import type { ApprovalVote } from '../run/approval.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { PolicySetup } from '../tool/policy-guard.ts'
import { readKeptPlaybook } from '../playbook/read-kept-playbook.ts'
import { Mailbox } from './mailbox.ts'
import { runRequesters } from './run-requesters.ts'
import { findStarter, personsOf, type Starter } from './starter.ts'
import { assertSecretReach } from './secret-reach.ts'
import type { TextShelf } from './text-shelf.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** A run that somebody wants. */
export interface NewRun {
  readonly tenant: string
  readonly project: string
  readonly by: Starter
  readonly playbook: Playbook
  /** The published text it is of; null for one that nobody published. */
  readonly runbook: RunOrigin['runbook']
  readonly mode: 'dry-run' | 'execute'
  readonly inputs: JsonObject
  readonly context: JsonObject
  /** Null for the one that is set. */
  readonly model: string | null
  readonly prompt: string | null
  /** Its name, where whoever begins it wants the same to be begun once. Throws `run_exists` if there is such a run. */
  readonly name?: string
}

/** An engine with the journal that its runs are written to. */
export type TenantEngine = Engine & { readonly journal: Journal }

/** What a desk is made of. */
export interface RunDeskOptions {
  readonly store: ChainStore
  readonly directory: Directory
  readonly texts: TextShelf
  readonly tools: ToolCatalogue
  readonly engineOf: (tenant: string) => Promise<TenantEngine>
  readonly prepare: (setup: AgentSetup) => Promise<ReadyAgent>
  /** The model of a name; a scripted one goes on after the turns it has answered. */
  readonly openModel: (name: string, answered: number) => Promise<AgentOptions['model']>
  /** The model of runs that name none. */
  readonly model: string
  readonly prices: NonNullable<AgentOptions['prices']>
  readonly writeVote: (
    setup: VoteSetup,
    run: string,
    callId: string,
    vote: Omit<ApprovalVote, 'at'>,
  ) => Promise<VoteAnswer>
  readonly writeOrder: (
    setup: Omit<VoteSetup, 'requesters'>,
    run: string,
    order: RunOrder,
  ) => Promise<boolean>
}

/** What has to be known of a run to work on it. */
interface Job extends Omit<NewRun, 'by' | 'name'> {
  readonly run: string
  readonly actor: string
  /** Who was responsible for it when it began. */
  readonly requesters: readonly string[]
}

/** The models that a request may name besides the one that is set: services, at the addresses that this installation knows. */
const namedByRequests = /^(?:none|(?:openai|anthropic|openai-compatible):[\w.:/-]{1,100})$/

/** Where runs begin. */
export class RunDesk {
  readonly #options: RunDeskOptions
  readonly #mail = new Mailbox()
  readonly #troubles = new Map<string, unknown>()
  readonly #begun = new Map<string, () => void>()

  constructor(options: RunDeskOptions) {
    this.#options = options
  }

  /** Takes notice of what runs write down. */
  hear(run: string, entries: readonly JournalEntry[]): void {
    this.#begun.get(run)?.()
    this.#mail.heard(run, entries)
  }

  /** Takes notice of what kept a run from going on. */
  trouble(run: string, error: unknown): void {
    if (this.#begun.has(run)) this.#troubles.set(run, error)
  }

  /**
   * Begins a run and gives its name. Throws what keeps it from beginning: inputs that do not fit, a tool or a model that is not there, `run_exists`.
   */
  async begin(wanted: NewRun): Promise<string> {
    const { tenant, mode, by, model } = wanted
    if (model !== null && model !== this.#options.model && !namedByRequests.test(model))
      throw new LockstepError('unknown_model', `A run cannot ask for the model ${model}.`, {
        hint: 'openai:…, anthropic:…, openai-compatible:… at the address that is set, or none',
      })
    const run = `${mode === 'execute' ? 'r' : 'dry'}_${wanted.name ?? randomUUID()}`
    if (wanted.name !== undefined && (await this.#options.store.has(run)))
      throw new LockstepError('run_exists', `There is a run ${run} already.`)
    const engine = await this.#options.engineOf(tenant)
    const chosen = model ?? this.#options.model
    const job: Job = {
      ...wanted,
      run,
      actor: by.actor,
      requesters: this.#responsible(wanted),
      model: chosen === 'none' ? null : chosen,
    }
    const agent = await this.#agent(job, engine, by, [])
    const first = new Promise<'begun'>((resolve) => this.#begun.set(run, () => resolve('begun')))
    try {
      const resting = engine.start(run, this.#work(job, engine, agent))
      const how = await Promise.race([first, resting])
      if (how === 'begun' || (await this.#options.store.has(run))) return run
      throw (
        this.#troubles.get(run) ?? new LockstepError('internal', how.reason ?? `Run ${run} did not begin.`)
      )
    } finally {
      this.#begun.delete(run)
      this.#troubles.delete(run)
    }
  }

  /** How to work on a run of the store, for its engine (R3). Throws what keeps anybody from working on it. */
  async load(run: string): Promise<RunWork> {
    const entries = await this.#options.store.read(run)
    const [first] = entries
    if (first === undefined) throw new LockstepError('not_found', `There is no run ${run}.`)
    const { tenant } = first
    const playbook = await this.#pinned(run, first)
    const engine = await this.#options.engineOf(tenant)
    const prompted = entries.find(({ type }) => type === 'agent.prompted')
    if (prompted?.data['origin'] === undefined) return this.#foreign(run, playbook, engine, entries)
    const { project, runbook, model } = readOrigin(prompted.data)
    const { context, prompt } = prompted.data['origin'] as JsonObject
    const job: Job = {
      run,
      tenant,
      project: project ?? this.#options.directory.projects.default(tenant).id,
      actor: first.principal,
      requesters: runRequesters(this.#options, tenant, entries),
      playbook,
      runbook,
      mode: first.data['mode'] === 'dry-run' ? 'dry-run' : 'execute',
      inputs: (first.data['inputs'] ?? {}) as JsonObject,
      context: isJsonObject(context) ? context : {},
      model,
      prompt: typeof prompt === 'string' ? prompt : null,
    }
    return this.#work(job, engine, null)
  }

  /** Whether this server can take a run up by itself (R3). */
  async isOwn(run: string): Promise<boolean> {
    const entries = await this.#options.store.read(run)
    return entries.some(({ type, data }) => type === 'agent.prompted' && data['origin'] !== undefined)
  }

  /** Says something to a run that asks; resolves when the run has heard it, or rests. Throws `not_available` if it does not hear it. */
  async say(tenant: string, run: string, text: string): Promise<void> {
    const engine = await this.#options.engineOf(tenant)
    const heard = this.#mail.put(run, text)
    const rested = engine.resume(run)
    rested.catch(() => undefined)
    const how = await Promise.race([heard.then(() => 'heard' as const), rested])
    if (how === 'heard' || !this.#mail.take(run, text)) return
    throw new LockstepError(
      'not_available',
      `Run ${run} does not ask anybody: ${how.reason ?? 'it goes on'}.`,
    )
  }

  #work(job: Job, engine: TenantEngine, begun: Prepared | null): RunWork {
    const { run, inputs } = job
    const options = this.#options
    const person = { hear: async () => this.#mail.next(run) }
    let current = begun
    // R1: everything that may have changed is looked up again.
    const anew = async (): Promise<Prepared> => {
      const entries = await options.store.read(run)
      const starter = findStarter(options.directory, job.tenant, job.actor, job.project)
      await current?.close()
      current = await this.#agent(job, engine, starter, entries)
      return current
    }
    return {
      start: async (seat: Seat) => {
        const { agent } = current ?? (await anew())
        return await agent.start(job.prompt ?? taskOf(job.playbook, inputs), {
          run,
          inputs,
          person,
          origin: originOf(job),
          ...seat,
        }).result
      },
      resume: async (seat: Seat) => await (await anew()).agent.resume(run, { ...seat, person }).result,
      order: async (order) => await (await anew()).agent.order(run, order),
      vote: async (callId, vote) => await (await anew()).agent.vote(run, callId, vote),
      close: async () => await current?.close(),
    }
  }

  /** A run of somebody else: what people say is written down, and that is all. */
  #foreign(
    run: string,
    playbook: Playbook,
    { journal }: TenantEngine,
    entries: readonly JournalEntry[],
  ): RunWork {
    const requesters = runRequesters(this.#options, entries[0]!.tenant, entries)
    const principal = entries[0]!.principal
    const notOurs = () => {
      throw new LockstepError('not_available', `Run ${run} was not begun by this server.`, {
        hint: `Whoever began it takes it up: lockstep resume ${run}`,
      })
    }
    return {
      start: async () => notOurs(),
      resume: async () => notOurs(),
      order: async (order) => await this.#options.writeOrder({ playbook, journal, principal }, run, order),
      vote: async (callId, vote) =>
        await this.#options.writeVote({ playbook, journal, principal, requesters }, run, callId, vote),
    }
  }

  async #agent(
    job: Job,
    engine: TenantEngine,
    by: Omit<Starter, 'persons'>,
    entries: readonly JournalEntry[],
  ): Promise<Prepared> {
    const { playbook, tenant, project, mode, inputs, context, runbook } = job
    const { texts, tools, prices, prepare, openModel, directory } = this.#options
    const dry = mode === 'dry-run'
    // What is not from Git was published by somebody over HTTP.
    const isPublished =
      runbook === null || directory.runbooks.find(tenant, runbook.id, { deleted: true }) !== null
    if (isPublished) assertSecretReach(playbook.secrets, tenant)
    const bound = await tools.bind({ inputs, secrets: playbook.secrets, dry })
    try {
      const policies = await texts.policiesFor(tenant, project, runbook?.id ?? null)
      const joined = entries.length === 0 ? [] : runRequesters(this.#options, tenant, entries)
      const policy: PolicySetup = {
        policies: policies.length === 0 ? [defaultPolicy()] : policies,
        principal: { id: by.actor, kind: by.kind, roles: by.roles },
        requesters: [...new Set([...job.requesters, ...joined])],
        mode,
        context,
      }
      const agent = await prepare({
        playbook,
        tools: bound.tools,
        journal: engine.journal,
        model: await openModel(job.model ?? this.#options.model, answeredIn(entries)),
        principal: by.actor,
        tenant,
        mode,
        prices,
        secrets: bound.secrets,
        policy,
      })
      return { agent, close: () => bound.close() }
    } catch (error) {
      await bound.close()
      throw error
    }
  }

  /** Whoever begins a run, who is behind them now, and who wrote what it follows. */
  #responsible({ tenant, by, runbook }: NewRun): readonly string[] {
    const { texts, directory } = this.#options
    const editors = runbook === null ? [] : texts.editorsOf(tenant, runbook.id, runbook.version)
    const persons = editors.flatMap((each) => personsOf(directory, tenant, each))
    return [...new Set([by.actor, ...by.persons, ...persons])]
  }

  async #pinned(run: string, { data }: JournalEntry): Promise<Playbook> {
    const digest = String(data['playbook'])
    const text = await this.#options.store.kept(digest)
    const playbook = text === null ? null : readKeptPlaybook(text)
    if (playbook !== null && compilePlaybook(playbook).digest === digest) return playbook
    throw new LockstepError('playbook_mismatch', `The text that run ${run} was begun with was not kept.`)
  }
}

/** An agent with what was opened for it. */
interface Prepared {
  readonly agent: ReadyAgent
  close(): Promise<void>
}

function originOf({ project, runbook, model, context, prompt, requesters }: Job): JsonObject {
  const pinned = runbook === null ? null : { ...runbook }
  return { project, runbook: pinned, model, context, prompt, requesters: [...requesters] }
}

function taskOf(playbook: Playbook, inputs: JsonObject): string {
  if (playbook.program !== null) return ''
  const task = `Work through the playbook "${playbook.name}".`
  return Object.keys(inputs).length === 0 ? task : `${task}\nInputs: ${JSON.stringify(inputs)}`
}

function answeredIn(entries: readonly JournalEntry[]): number {
  return entries.filter(({ type }) => type === 'model.answered' || type === 'question.answered').length
}
