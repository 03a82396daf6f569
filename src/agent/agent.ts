import { randomUUID } from 'node:crypto'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Journal, JournalEntry } from '../journal/journal.ts'
import { Playbook } from '../playbook/playbook.ts'
import type { ApprovalVote } from '../run/approval.ts'
import type { RunEvent } from '../run/event.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { controlToolNames } from '../tool/control-tool.ts'
import { matchTools } from '../tool/match-tools.ts'
import type { EnforcerOptions } from '../tool/enforcer-options.ts'
import { keepDocuments } from '../tool/keep-documents.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { RunRecord } from '../tool/run-record.ts'
import { policiesOf } from '../tool/runbook-policy.ts'
import { ToolRegistry } from '../tool/tool-registry.ts'
import type { AgentEvent } from './agent-event.ts'
import type { AgentOptions, AgentResult, AgentSnapshot, ResumeOptions, RunOptions } from './agent-options.ts'
import { AgentRun } from './agent-run.ts'
import { EventQueue } from './event-queue.ts'
import { atWorkOn, refuseSecond } from './at-work.ts'
import { carryOutOrder } from './carry-out-order.ts'
import { checkOptions } from './check-options.ts'
import { checkResume, checkRun } from './check-run-options.ts'
import { checkSnapshot, fromEntries } from './check-snapshot.ts'
import { runOnStep, type AgentHook, type StepEvent } from './hook.ts'
import { PlaybookEnforcerHook } from './playbook-enforcer-hook.ts'
import { interruptedBelow } from './interrupted-below.ts'
import { priceOf } from './price-table.ts'
import { currentLineage } from './lineage.ts'
import { noModel } from './no-model.ts'
import { resolveModel } from './resolve-model.ts'
import { ProcedureRun } from './procedure-run.ts'
import { ProgramRun } from './program-run.ts'
import type { RunControl, RunOrder } from './run-control.ts'
import { readRecord, type RecordedRun } from './read-record.ts'
import { claimName, markUsed, refuseName, refuseUsed } from './run-names.ts'
import { writeFact, type RunSetup } from './run-setup.ts'
import { Spending } from './spending.ts'
import { takeUp } from './take-up.ts'
import { toldPolicy } from './told-policy.ts'

/** Without a playbook every tool may be used, and nothing is asked for: the gate, the limits and the record stay. */
const free = new Playbook({ id: 'free', name: 'No playbook', allowExtraTools: true })

/** Who works through a run. */
interface Worker {
  readonly lastText: string
  readonly turns: number
  prompt(text: string): Promise<void> | undefined
  work(notice?: string | null): Promise<string | null>
  /** Has it look again at what there is to do, because somebody else changed the run. */
  wake?(): void
}

/** A stream of a run: what happens as it happens, and how it ends. */
export interface AgentStream extends AsyncIterable<AgentEvent> {
  readonly result: Promise<AgentResult>
}

/** An agent that is held to a playbook. It can run many times, also at once: each run has a plan of its own (G11). */
export class Agent {
  readonly playbook: Playbook | null
  readonly hooks: readonly AgentHook[]
  readonly #options: AgentOptions
  readonly #enforcement: PlaybookEnforcerHook
  readonly #tools: ToolRegistry
  readonly #journal: Journal | null

  /** Throws `usage` for two playbooks or a tool with a reserved name, `unknown_tool` if the playbook names a tool it is not given. */
  constructor(options: AgentOptions) {
    checkOptions(options)
    this.#options = options
    this.#enforcement = enforcementOf(options)
    this.playbook = this.#enforcement.playbook === free ? null : this.#enforcement.playbook
    const given = (options.hooks ?? []).filter((hook) => !(hook instanceof PlaybookEnforcerHook))
    this.hooks = this.playbook === null ? given : [...given, this.#enforcement]
    this.#tools = new ToolRegistry(options.tools)
    this.#journal = options.journal ?? null
    const reserved = this.#tools.names.find((name) => controlToolNames.includes(name))
    if (reserved !== undefined) {
      throw new LockstepError(
        'usage',
        `A tool cannot be called '${reserved}': the procedure's own tools are.`,
      )
    }
    // Found out now, not when the first run has begun.
    matchTools(this.#enforcement.playbook, this.#tools)
  }

  /** The tools it was given, by name. */
  get tools(): ToolRegistry {
    return this.#tools
  }

  /** Works on a task until the run has ended. Never throws for what the model does; throws for what stops a run from starting. */
  async run(prompt: string, options: RunOptions = {}): Promise<AgentResult> {
    return await this.#start(prompt, options, null)
  }

  /** The same, telling what happens as it happens. */
  stream(prompt: string, options: RunOptions = {}): AgentStream {
    return streamOf((onEvent) => this.#start(prompt, options, onEvent))
  }

  /**
   * Takes an interrupted run up where its record ends: the model's last turn is continued, not asked again. A run that has
   * ended stays as it ended. Throws `invalid_snapshot` for what is no run, `playbook_mismatch` for one of another playbook,
   * `run_in_progress` for one that this process is at work on.
   */
  async resume(snapshot: AgentSnapshot | string, options: ResumeOptions = {}): Promise<AgentResult> {
    return await this.#resume(snapshot, options, null)
  }

  /** The same, telling what happens from then on as it happens. */
  resumeStream(snapshot: AgentSnapshot | string, options: ResumeOptions = {}): AgentStream {
    return streamOf((onEvent) => this.#resume(snapshot, options, onEvent))
  }

  async #resume(
    snapshot: AgentSnapshot | string,
    options: ResumeOptions,
    onEvent: ((event: AgentEvent) => void) | null,
  ): Promise<AgentResult> {
    checkResume(options)
    if (typeof snapshot !== 'string') checkSnapshot(snapshot)
    const run = typeof snapshot === 'string' ? snapshot : snapshot.run
    refuseSecond(run)
    return await atWorkOn(run, () => this.#takeUp(run, snapshot, options, onEvent))
  }

  async #takeUp(
    run: string,
    snapshot: AgentSnapshot | string,
    options: ResumeOptions,
    onEvent: ((event: AgentEvent) => void) | null,
  ): Promise<AgentResult> {
    const entries = await this.#read(run, typeof snapshot === 'string' ? [] : snapshot.entries)
    refuseUsed(run, entries, this.#journal)
    const recorded = fromEntries(entries, readRecord)
    refuseOrphan(run, recorded.parent)
    const { model, spending } = await this.#prepare()
    spending.recall(recorded.usage)
    for (const each of recorded.below) spending.count(each)
    const record = new RunRecord(run, this.#journal, this.#author(), entries)
    const trouble: RunSetup['trouble'] = { reason: null }
    const enforcer = fromEntries(entries, () =>
      PlaybookEnforcer.fromEvents(this.#enforcement.playbook, recorded.events, {
        tools: this.#tools,
        recordViolations: this.#enforcement.recordViolations,
        ...this.#policy(spending),
        ...this.#secrets(),
        onEvents: (events) => this.#note(events, record, trouble, onEvent),
      }),
    )
    const setup = this.#setup(model, enforcer, record, spending, trouble, options.signal, onEvent)
    return await namingRun(run, async () => {
      const notice = enforcer.status === null ? await takeUp(enforcer, recorded, options) : null
      return await this.#finish(this.#worker(setup, options, recorded), setup, notice, options.control)
    }).finally(() => markUsed(run, entries.length, record.entries.length, this.#journal))
  }

  /** What is known of a run: the journal's word where it has one, else the snapshot's, which is then written down. */
  async #read(run: string, given: readonly JournalEntry[]): Promise<readonly JournalEntry[]> {
    const known = (await this.#journal?.read(run)) ?? []
    if (known.length === 0) {
      if (given.length > 0) await this.#journal?.append(run, given, { ...this.#author(), expectedSeq: 0 })
      return given
    }
    if (given.length <= known.length) return known
    throw new LockstepError(
      'journal_conflict',
      `The snapshot of run ${run} has ${given.length} entries, and the journal only ${known.length}.`,
      { consequence: 'pause', hint: 'Find out which of the two is true before the run goes on.' },
    )
  }

  async #start(
    prompt: string,
    options: RunOptions,
    onEvent: ((event: AgentEvent) => void) | null,
  ): Promise<AgentResult> {
    checkRun(prompt, options)
    if (options.run !== undefined) await refuseName(options.run, this.#journal)
    const { model, spending } = await this.#prepare()
    const record = new RunRecord(options.run ?? `r_${randomUUID()}`, this.#journal, this.#author())
    const trouble: RunSetup['trouble'] = { reason: null }
    const enforcer = PlaybookEnforcer.fromPlaybook(this.#enforcement.playbook, {
      run: record.run,
      tools: this.#tools,
      blockViolations: this.#enforcement.blockViolations,
      recordViolations: this.#enforcement.recordViolations,
      ...(options.inputs === undefined ? {} : { inputs: options.inputs }),
      ...(this.#options.mode === undefined ? {} : { mode: this.#options.mode }),
      ...this.#policy(spending),
      ...this.#secrets(),
      onEvents: (events) => this.#note(events, record, trouble, onEvent),
    })
    if (options.run !== undefined) claimName(options.run, this.#journal)
    const begun = this.#setup(model, enforcer, record, spending, trouble, options.signal, onEvent)
    const setup = options.origin === undefined ? begun : { ...begun, origin: options.origin }
    return await atWorkOn(record.run, () =>
      namingRun(record.run, () =>
        tellAbove(setup, async () => {
          const work = this.#worker(setup, options, null)
          const prompted = work.prompt(prompt)
          // A runbook begins in the same moment, so that its first call is written down with its beginning.
          if (prompted !== undefined) await prompted
          return await this.#finish(work, setup, null, options.control)
        }),
      ),
    )
  }

  #policy(spending: Spending): Pick<EnforcerOptions, 'policy'> {
    return toldPolicy(this.#policies(), spending, this.#journal, this.#author().tenant)
  }

  #secrets(): Pick<EnforcerOptions, 'secrets'> {
    const { secrets } = this.#options
    return secrets === undefined ? {} : { secrets }
  }

  /**
   * Takes what a person says to a call that waits for approval, and writes it down: what it comes to, or why it does not count. The
   * run goes on when it is resumed. Throws `usage` without a journal or a policy, and what `resume` throws.
   */
  async vote(
    run: string,
    callId: string,
    vote: Omit<ApprovalVote, 'at'>,
  ): Promise<{ readonly comesTo: string } | { readonly refused: string }> {
    const policy = this.#policies()
    if (policy === undefined) {
      throw new LockstepError('usage', 'To approve a call takes the journal of its run and its policies.')
    }
    return await this.#write(run, policy, (enforcer) => enforcer.gate.vote(callId, vote))
  }

  /**
   * Writes down that a run is to be cancelled, paused, or to go on, or what became of a call of it, where nobody is at work on it; what follows, follows when
   * the run is resumed. False if that changes nothing. Throws `usage` without a journal, and what `resume` throws.
   */
  async order(run: string, order: RunOrder): Promise<boolean> {
    return await this.#write(run, this.#policies(), ({ gate }) => carryOutOrder(gate, order))
  }

  /** Has something written into the record of a run that nobody is at work on. */
  async #write<Said>(
    run: string,
    policy: EnforcerOptions['policy'],
    say: (enforcer: PlaybookEnforcer) => Said,
  ): Promise<Said> {
    if (this.#journal === null) {
      throw new LockstepError(
        'usage',
        'What is said to a run is written into its journal, and there is none.',
      )
    }
    refuseSecond(run)
    return await atWorkOn(run, async () => {
      const entries = await this.#read(run, [])
      const record = new RunRecord(run, this.#journal, this.#author(), entries)
      const enforcer = PlaybookEnforcer.fromEvents(this.#enforcement.playbook, readRecord(entries).events, {
        tools: this.#tools,
        ...(policy === undefined ? {} : { policy }),
        onEvents: (events) => record.write(events, this.#tools),
      })
      const said = say(enforcer)
      await enforcer.written()
      return said
    })
  }

  /** The policies that are asked: those given, and the runbook's own. */
  #policies(): EnforcerOptions['policy'] {
    const { policy, principal, mode } = this.#options
    const asked = policiesOf(this.#enforcement.playbook, policy, principal)
    return asked === undefined || mode === undefined ? asked : { mode, ...asked }
  }

  /** Who works through a run: a program goes its own way, and asks a model where it has to; a runbook makes its calls; anything else is the model's to do. */
  #worker(setup: RunSetup, { person }: Pick<RunOptions, 'person'>, recorded: RecordedRun | null): Worker {
    if (this.#enforcement.playbook.program !== null) return new ProgramRun(setup, person ?? null, recorded)
    const { hasCalls, compensates } = setup.enforcer.gate.state.shape
    return hasCalls || compensates ? new ProcedureRun(setup, recorded) : new AgentRun(setup, recorded)
  }

  /** Tells everybody of what happened, and writes it down. */
  #note(
    events: readonly RunEvent[],
    record: RunRecord,
    trouble: RunSetup['trouble'],
    onEvent: ((event: AgentEvent) => void) | null,
  ): Promise<void> {
    const writing = record.write(events, this.#tools)
    for (const event of events) {
      onEvent?.(event)
      if (isStepEvent(event)) runOnStep(this.hooks, event, (reason) => (trouble.reason ??= reason))
    }
    return writing
  }

  /** Keeps what its verdicts rest on with the record. */
  async #keep(): Promise<void> {
    if (this.#journal === null) return
    const { playbook } = this.#enforcement
    const policies = this.#policies()?.policies ?? []
    await keepDocuments(this.#journal, { playbook, policies, tools: this.#tools })
  }

  async #prepare(): Promise<{ model: LanguageModelV4; spending: Spending }> {
    // Where no model works, none is needed, nor its key.
    const { steps } = this.#enforcement.playbook
    const asksNobody = steps.length > 0 && steps.every((step) => step.tool !== null)
    const model = asksNobody ? noModel : await resolveModel(this.#options.model)
    await this.#keep()
    const price = priceOf(model.modelId, this.#options.prices ?? {})
    const budget = this.#options.budget ?? {}
    const above = currentLineage().at(-1)?.setup.spending ?? null
    return { model, spending: new Spending(budget, price, model.modelId, above) }
  }

  #setup(
    model: LanguageModelV4,
    enforcer: PlaybookEnforcer,
    record: RunRecord,
    spending: Spending,
    trouble: RunSetup['trouble'],
    signal: AbortSignal | undefined,
    onEvent: ((event: AgentEvent) => void) | null,
  ): RunSetup {
    const options = this.#options
    const ancestors = currentLineage()
    return {
      ancestors,
      model,
      enforcer,
      record,
      spending,
      trouble,
      onEvent,
      origin: null,
      // Whoever watches over a run watches over those below it.
      hooks: [...(ancestors.at(-1)?.setup.hooks ?? []), ...this.hooks],
      systemPrompt: options.systemPrompt ?? '',
      onApproval: options.onApproval ?? null,
      // A program asks what it must; how often, its own bounds say.
      maxIterations: options.maxIterations ?? (this.playbook?.program == null ? 50 : 1_000),
      maxTokens: options.maxTokens ?? null,
      maxRetries: options.maxRetries ?? 2,
      maxIdleTurns: options.maxIdleTurns ?? 5,
      maxResultBytes: options.maxResultBytes ?? 65_536,
      offer: options.offer ?? 'legal',
      signal: signal ?? new AbortController().signal,
    }
  }

  async #finish(
    work: Worker,
    setup: RunSetup,
    notice: string | null,
    control: RunControl | undefined,
  ): Promise<AgentResult> {
    const { enforcer, record, spending } = setup
    const letGo = control?.attach({ gate: enforcer.gate, wake: () => work.wake?.() })
    const why = await work.work(notice).finally(() => letGo?.())
    await enforcer.written()
    // A run that waits for a person says what the person has to look at.
    const below =
      enforcer.status === null ? interruptedBelow(record.entries, enforcer.gate.state.openTickets) : ''
    const reason = why === null ? null : `${why}${below}`
    return {
      run: record.run,
      status: enforcer.status ?? 'incomplete',
      message: work.lastText,
      value: enforcer.status === 'succeeded' ? (enforcer.gate.state.program?.result ?? null) : null,
      reason,
      // Worked out for whoever asks: of many runs, few are looked at so closely.
      get playbookPlan() {
        return enforcer.plan
      },
      get violations() {
        return enforcer.violations
      },
      metrics: {
        promptTokens: spending.promptTokens,
        completionTokens: spending.completionTokens,
        estimatedTokens: spending.estimatedTokens,
        cost: spending.cost,
        iterations: work.turns,
        modelSeconds: spending.modelMs / 1000,
        toolSeconds: spending.toolMs / 1000,
      },
      get snapshot() {
        return { run: record.run, entries: record.entries }
      },
    }
  }

  #author(): { tenant: string; principal: string } {
    return { tenant: this.#options.tenant ?? 'local', principal: this.#options.principal ?? 'local' }
  }
}

function streamOf(start: (onEvent: (event: AgentEvent) => void) => Promise<AgentResult>): AgentStream {
  const queue = new EventQueue<AgentEvent>()
  const result = start((event) => queue.push(event)).finally(() => queue.end())
  // Whoever reads only the events must not be told of an unhandled rejection; the promise itself still fails.
  result.catch(() => undefined)
  return { result, [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator]() }
}

function enforcementOf(options: AgentOptions): PlaybookEnforcerHook {
  const hooks = (options.hooks ?? []).filter((hook) => hook instanceof PlaybookEnforcerHook)
  const own =
    options.playbook === undefined
      ? []
      : [new PlaybookEnforcerHook({ ...options, playbook: options.playbook })]
  const [first, second] = [...hooks, ...own]
  if (second !== undefined) {
    throw new LockstepError('usage', 'An agent is held to one playbook.', {
      hint: 'Pass `playbook`, or one PlaybookEnforcerHook, not both.',
    })
  }
  return first ?? new PlaybookEnforcerHook({ playbook: free })
}

function isStepEvent(event: RunEvent): event is StepEvent {
  return event.type.startsWith('step.')
}

/** Writes down in the record of the run above, if there is one, that this run is made, and how it ended (G18). */
async function tellAbove(setup: RunSetup, work: () => Promise<AgentResult>): Promise<AgentResult> {
  const above = setup.ancestors.at(-1)
  if (above === undefined) return await work()
  const { callId } = above
  const child = setup.record.run
  await writeFact(above.setup, { type: 'agent.delegated', at: Date.now(), callId, child })
  const result = await work()
  const { status } = result
  const { spent } = setup.spending
  await writeFact(above.setup, { type: 'agent.returned', at: Date.now(), callId, child, status, ...spent })
  return result
}

/** Names the run in the error if its record breaks, so that it can be found and taken up. */
async function namingRun<Value>(run: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!LockstepError.isInstance(error) || error.code !== 'record_failed') throw error
    const { cause } = error
    throw new LockstepError(
      'record_failed',
      `Run ${run} could not be written down, so nothing more is let through: ${messageOf(cause)}`,
      { cause, consequence: 'pause', hint: `Mend the journal (see the cause), then resume('${run}').` },
    )
  }
}

/** A child run passes the gates of the runs above it (G18): alone, it would leave them. */
function refuseOrphan(run: string, parent: { readonly run: string } | null): void {
  if (parent === null || currentLineage().some(({ setup }) => setup.record.run === parent.run)) return
  throw new LockstepError(
    'usage',
    `Run ${run} is part of run ${parent.run}, and cannot be resumed without it.`,
    {
      hint: `Resume ${parent.run}, and settle there what became of the call.`,
    },
  )
}
