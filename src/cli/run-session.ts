import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import {
  type AgentEvent,
  type AgentResult,
  type AgentStream,
  type HeldUp,
  type Journal,
  type Model,
  type OpenEngine,
  type OpenTools,
  type Person,
  type ReadyAgent,
  type RunOptions,
  type RunRest,
  openJournalOf,
  openModel,
  openPerson,
  openTools,
  prepareAgent,
} from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { phraseSecret, secretsOfPlaybook } from '../playbook/playbook-secrets.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { Config } from '../source/config.ts'
import { recordPath } from '../source/store-place.ts'
import { dryRunTool } from '../tool/dry-run-tool.ts'
import { listenForInterrupt } from './interrupt.ts'
import { approvalOutlook } from './approval-outlook.ts'
import { describeWaiting } from './describe-held-call.ts'
import { heldCalls, type HeldCall } from '../overview/held-call.ts'
import { describeHeldUp, heldUpBy, untilHeldUp } from './held-up.ts'
import { hostEngine } from './hosted-run.ts'
import { nextCommand } from './next-command.ts'
import { describeFailure, type RunFailure } from './run-failure.ts'
import { policySetup, type RunStanding } from './run-standing.ts'
import { ConversationPresenter } from './conversation-presenter.ts'
import { RunPresenter } from './run-presenter.ts'
import { RunbookPresenter } from './runbook-presenter.ts'
import type { RunMode } from './run-request.ts'
import { RunView } from './run-view.ts'
import type { Terminal } from './terminal.ts'

/** What a session works with. */
export interface SessionSetup {
  readonly playbook: Playbook
  /** The file that the playbook was read from, as people find it. */
  readonly file: string
  readonly inputs: JsonObject
  readonly config: Config | null
  readonly standing: RunStanding
  readonly model: string
  /** How many turns a scripted model has answered before. */
  readonly answered: number
  readonly mode: RunMode
  readonly json: boolean
  readonly verbose: boolean
  /** The folder with the records. */
  readonly folder: string
  readonly run: string
  readonly terminal: Terminal
}

/** How the work of a session is begun, and what is heard of it. */
export interface SessionWork {
  /** What is told before anything happens, besides the first lines. */
  readonly before: readonly string[]
  /** What happened in the run already. */
  readonly past: readonly AgentEvent[]
  /** What begins the same run anew; null where nobody knows. */
  readonly again: string | null
  start(agent: ReadyAgent, seat: Pick<RunOptions, 'signal' | 'control'>, person: Person): AgentStream
  onEvent?(event: AgentEvent): void
}

/** What a session does under an engine. */
interface EngineSitting {
  readonly work: SessionWork
  readonly agent: ReadyAgent
  readonly signal: AbortSignal
  readonly hearing: Person
  /** What kept runs from going on. */
  readonly trouble: ReadonlyMap<string, unknown>
}

/** One agent at work in this process, from the first line to the last: begun anew or taken up, shown as it goes on. */
export class RunSession {
  readonly #setup: SessionSetup
  readonly #dry: boolean
  #heldUp: HeldUp | null = null
  /** Whether a question stands on the last line, and nobody's Enter has ended it. */
  #asking = false
  #maskText: (text: string) => string = (text) => text
  #openEnd: (text: string) => number = () => 0
  #maskJson: (value: Json) => Json = (value) => value

  constructor(setup: SessionSetup) {
    this.#setup = setup
    this.#dry = setup.mode !== 'execute'
  }

  /** What kept the run from its next effect when it was put down; null where nothing did. */
  get heldUp(): HeldUp | null {
    return this.#heldUp
  }

  /** Works until the run has ended or is put down; null for one that could not even be looked at. Throws what stops it from starting, before anything is told of it. */
  async work(work: SessionWork): Promise<AgentResult | null> {
    const interrupt = listenForInterrupt(this.#setup.terminal)
    let bound: OpenTools | null = null
    let journal: Journal | null = null
    let engine: OpenEngine | null = null
    const trouble = new Map<string, unknown>()
    try {
      // First what costs nothing to find out: a wrong model starts no server.
      const { model: name, answered, folder, run } = this.#setup
      if (name === 'me' || this.#talks) this.#watchInput()
      const person = await openPerson({ input: process.stdin, output: this.#personOutput() })
      const model = await openModel(name, person, answered)
      bound = await this.#bind()
      const { terminal } = this.#setup
      const onTrouble = (of: string, error: unknown) => void trouble.set(of, error)
      engine = this.#shares ? await hostEngine({ folder, terminal, onTrouble }) : null
      const tools = bound.tools.map(({ tool }) => tool)
      journal = engine?.engine.journal ?? (await openJournalOf(folder, run, { dry: this.#dry, tools }))
      const agent = await this.#prepare(bound, journal, model)
      this.#begin(bound, work.before)
      interrupt.begin()
      const { signal } = interrupt
      const hearing: Person = { hear: (until) => person.readLine(until) }
      if (engine === null) return await this.#follow(work, agent, signal, hearing)
      return await this.#underEngine(engine, { work, agent, signal, hearing, trouble })
    } catch (error) {
      this.#heldUp = heldUpBy(error)
      if (this.#heldUp === null) throw error
      this.#tellHeldUp(this.#heldUp)
      return null
    } finally {
      await engine?.close()
      await journal?.close()
      await bound?.close()
      // A person who was asked leaves the input open, and an open input keeps the process waiting.
      process.stdin.destroy()
    }
  }

  /** Ctrl-D ends the input without a line break, and what follows begins a line of its own. */
  #watchInput(): void {
    if (!process.stdin.isTTY || this.#setup.json) return
    process.stdin.once('end', () => this.#setup.terminal.out('\n'))
  }

  async #bind(): Promise<OpenTools> {
    const { config, inputs, terminal, playbook } = this.#setup
    const callReads = config?.callReadsInDryRun ?? false
    const needed = [...new Set(playbook.steps.flatMap((step) => step.expectedTools))]
    const bound = await openTools(config, {
      inputs,
      secrets: playbook.secrets,
      dry: this.#dry ? { callReads, needed } : null,
      onNotice: (text) => terminal.err(`${escapeControl(text)}\n`),
    })
    this.#maskText = bound.maskText
    this.#maskJson = bound.maskJson
    this.#openEnd = bound.openEnd
    return bound
  }

  async #prepare(bound: OpenTools, journal: Journal, model: Model): Promise<ReadyAgent> {
    const { playbook, config, standing, mode } = this.#setup
    const callReads = config?.callReadsInDryRun ?? false
    const tools = bound.tools.map(({ tool }) => (this.#dry ? dryRunTool(tool, { callReads }) : tool))
    const policy = policySetup(standing, mode)
    const principal = standing.principal.id
    return await prepareAgent({
      playbook,
      tools,
      journal,
      model,
      principal,
      mode,
      secrets: bound.secrets,
      ...(policy === undefined ? {} : { policy }),
    })
  }

  async #follow(
    work: SessionWork,
    agent: ReadyAgent,
    signal: AbortSignal,
    person: Person,
  ): Promise<AgentResult> {
    const presenter = this.#recall(work)
    const { result, ended } = await this.#watch(work.start(agent, { signal }, person), work, presenter)
    this.#end(result, { presenter, ended, again: work.again, interrupted: signal.aborted })
    return result
  }

  /** The same, under the engine of this process: others reach the run, and it goes on when somebody has approved. */
  async #underEngine(
    { engine }: OpenEngine,
    { work, agent, signal, hearing, trouble }: EngineSitting,
  ): Promise<AgentResult | null> {
    const { run, terminal, json } = this.#setup
    const presenter = this.#recall(work)
    let seen: { readonly result: AgentResult; readonly ended: boolean } | null = null
    const sit = async (stream: AgentStream) => {
      seen = await this.#watch(stream, work, presenter)
      return seen.result
    }
    signal.addEventListener('abort', () => void engine.close(), { once: true })
    // Somebody at the terminal sees the run go on; a script is told at once that it waits.
    const stays = process.stdout.isTTY === true && !json
    const resting = engine.start(run, {
      start: (seat) => sit(work.start(agent, seat, hearing)),
      resume: (seat) => sit(agent.resume(run, seat)),
      order: (order) => agent.order(run, order),
      vote: (callId, vote) => agent.vote(run, callId, vote),
    })
    this.#heldUp = await untilHeldUp(engine, run, resting, {
      stays,
      tell: (why) => terminal.err(`lockstep: ${escapeControl(why)}\n`),
    })
    if (this.#heldUp !== null) await engine.close()
    let rest: RunRest | null = await resting
    if (this.#heldUp !== null && rest.ended === null) {
      this.#tellHeldUp(this.#heldUp)
      return (seen as { result: AgentResult } | null)?.result ?? null
    }
    this.#heldUp = null
    while (rest?.ended === null && !signal.aborted && !trouble.has(run)) {
      if (!stays) break
      const waiting = this.#waiting((seen as { result: AgentResult } | null)?.result ?? null)
      if (waiting.length === 0) break
      for (const call of waiting)
        this.#tell(`   approve it in another terminal: npx lockstep approve ${call.id}\n`)
      rest = await engine.nextRest(run)
    }
    if (trouble.has(run)) throw trouble.get(run)
    const others = (await engine.runs()).filter((other) => other !== run)
    if (others.length > 0 && !signal.aborted) {
      terminal.err(
        `lockstep: ${others.length} run${others.length === 1 ? '' : 's'} of other terminals go on here; Ctrl-C puts them down\n`,
      )
      await engine.idle()
    }
    const { result, ended } = seen!
    this.#end(result, { presenter, ended, again: work.again, interrupted: signal.aborted })
    return result
  }

  /** The end of a session whose run waits for something that others have to do. */
  #tellHeldUp(held: HeldUp): void {
    const { json, run, folder } = this.#setup
    const { why, next } = describeHeldUp(held, run)
    const record = recordPath(folder, run)
    const status = held.kind === 'halt' ? 'halted' : 'waiting'
    if (json) {
      const told = { status, ended: false, reason: why, run, record, next }
      this.#setup.terminal.out(this.#line({ type: 'run.result', ...told }))
      return
    }
    const lines = [`${status} · run ${run}`, `Why: ${why}`, `Record: ${record}`, `Next: ${next}`]
    this.#tell(lines.map((line) => `${escapeControl(redactText(this.#maskText(line)))}\n`).join(''))
  }

  #recall({ past }: SessionWork): RunPresenter | ConversationPresenter | RunbookPresenter {
    const presenter = this.#presenter()
    if (!this.#setup.json) for (const event of past) presenter.recall(event)
    return presenter
  }

  /** Shows what happens until the run rests. */
  async #watch(
    stream: AgentStream,
    work: SessionWork,
    presenter: Pick<RunPresenter, 'show'>,
  ): Promise<{ readonly result: AgentResult; readonly ended: boolean }> {
    const { json, terminal } = this.#setup
    let ended = work.past.some(({ type }) => type === 'run.finished')
    for await (const event of stream) {
      work.onEvent?.(event)
      if (event.type === 'run.finished') ended = true
      // Of a text that is still coming, whoever shows it holds back what may be half of a secret.
      if (!json) presenter.show(event.type === 'text.delta' ? event : this.#cleaned(event))
      else if (event.type !== 'text.delta') terminal.out(this.#line(event))
    }
    return { result: await stream.result, ended }
  }

  #waiting(result: AgentResult | null): readonly HeldCall[] {
    if (result === null) return []
    return heldCalls(result.snapshot.entries, Date.now()).filter(({ state }) => state === 'waiting')
  }

  /** The first line says whether anything will be changed. */
  #begin({ tools }: OpenTools, before: readonly string[]): void {
    const { terminal, playbook, model, mode, run, json, standing } = this.#setup
    const note = 'DRY RUN: nothing is changed. Add --mode execute.'
    const outlook = approvalOutlook(
      standing,
      playbook,
      tools.map(({ tool }) => tool),
    )
    for (const line of outlook) terminal.err(`${escapeControl(line)}\n`)
    const policies = standing.policies.map(({ ref }) => `${ref.id}@${ref.version}`)
    // Whoever runs what somebody else wrote sees what it takes.
    const secrets = secretsOfPlaybook(playbook)
    if (json) {
      const about = {
        ...(this.#dry ? { note } : {}),
        ...(policies.length === 0 ? {} : { policies }),
        ...(secrets.length === 0 ? {} : { secrets }),
      }
      terminal.out(this.#line({ type: 'run.mode', mode, run, ...about }))
      return
    }
    if (this.#dry && tools.length > 0)
      terminal.out(`${note}\nA call that is only shown counts as made, so that the run can go on.\n`)
    const steps = playbook.steps.length
    const shown = [playbook.name, `${steps} step${steps === 1 ? '' : 's'}`]
    if (model !== 'none' || this.#talks) shown.push(`model ${model}`)
    // Who ends the process from outside needs the name to take the run up.
    if (!this.#dry) shown.push(`run ${run}`)
    if (policies.length > 0) shown.push(`under ${policies.join(', ')}`)
    else if (!this.#dry) shown.push('no policy applies')
    const taken = secrets.map((each) => `Secret ${phraseSecret(each)}`)
    for (const line of [shown.join(' · '), ...taken, ...before]) terminal.out(`${escapeControl(line)}\n`)
  }

  #end(
    result: AgentResult,
    end: {
      readonly presenter: Pick<RunPresenter, 'counts'>
      readonly ended: boolean
      readonly again: string | null
      readonly interrupted: boolean
    },
  ): void {
    const { json, terminal, folder } = this.#setup
    const { status, reason, message, run, metrics } = result
    const { ended, again, interrupted } = end
    const record = recordPath(folder, run)
    const now = Date.now()
    const waiting = this.#waiting(result)
    const { place, help } = this.#failure(status === 'failed' ? (reason ?? '') : '')
    const next = nextCommand({ result, ended, dry: this.#dry, again, waiting })
    if (json) {
      const approvals = waiting.length === 0 ? {} : { approvals: waiting as unknown as Json }
      const where = { ...(place === null ? {} : { place }), ...(help === null ? {} : { help }) }
      const told = { status, ended, reason, message, ...where, run, record, next, metrics, ...approvals }
      terminal.out(this.#line({ type: 'run.result', ...told }))
      return
    }
    const { made, shown, stopped } = end.presenter.counts
    const calls = this.#dry ? `${made} made, ${shown} shown` : `${made} done`
    const how = ended ? status : interrupted ? 'interrupted' : 'paused'
    const lines = [
      // A program that failed says why below.
      ...(message === '' || message === reason ? [] : [`   ${message}`]),
      `${how} · ${calls}, ${stopped} stopped · run ${run}`,
      ...(reason === null ? [] : [`Why: ${place === null ? '' : `${place}: `}${reason}`]),
      ...(help === null ? [] : [`Help: ${help}`]),
      ...waiting.flatMap((call) => describeWaiting(call, this.#setup.standing, now)),
      `Record: ${record}`,
      `Next: ${next}`,
    ]
    this.#tell(lines.map((line) => `${escapeControl(redactText(this.#maskText(line)))}\n`).join(''))
  }

  /** Where in the file a program failed, and what helps. */
  #failure(error: string): RunFailure {
    const { playbook, file } = this.#setup
    if (!this.#talks || error === '') return { place: null, help: null }
    let text = ''
    try {
      text = readFileSync(file, 'utf8')
    } catch {
      // The file is gone: then no line of it helps.
    }
    return describeFailure(playbook, error, { file, text })
  }

  /** A value as a line of JSON; secrets are masked in the values, so that it stays JSON. */
  #line(value: object): string {
    return `${JSON.stringify(this.#cleaned(value))}\n`
  }

  /** Without the secrets that tools were given, and without what has the shape or the name of one: before anything of it is cut short. */
  #cleaned<Value extends object>(value: Value): Value {
    return redactObject(this.#maskJson(value as JsonObject) as JsonObject) as Value
  }

  /** Writes what happened, below a question that was not answered with Enter. */
  #tell(text: string): void {
    this.#setup.terminal.out(this.#asking ? `\n${text}` : text)
    this.#asking = false
  }

  #view(): RunView {
    const { terminal, model, json } = this.#setup
    // Somebody who types into the terminal needs it to stand still.
    const live = process.stdout.isTTY === true && model !== 'me' && !json && !this.#talks
    return new RunView({ write: (text) => this.#tell(this.#maskText(text)), live, colour: terminal.colour })
  }

  /** Whether the playbook is a program, which talks with the person itself. */
  get #talks(): boolean {
    return this.#setup.playbook.program !== null
  }

  /** Whether other processes reach the run: a runbook that is carried out, with nobody at the terminal to be asked. */
  get #shares(): boolean {
    const { playbook, model } = this.#setup
    return !this.#dry && model !== 'me' && playbook.steps.some(({ tool }) => tool !== null)
  }

  #presenter(): RunPresenter | ConversationPresenter | RunbookPresenter {
    const { playbook, verbose } = this.#setup
    const view = this.#view()
    if (playbook.steps.every(({ tool }) => tool !== null) && !this.#talks)
      return new RunbookPresenter(playbook, view)
    if (!this.#talks) return new RunPresenter(playbook, view)
    const write = (text: string) => this.#setup.terminal.out(this.#maskText(text))
    const placeOf = (error: string) => this.#failure(error).place
    return new ConversationPresenter(playbook, {
      view,
      write,
      verbose,
      prompts: process.stdin.isTTY,
      placeOf,
      cleaner: {
        clean: (text) => redactText(this.#maskText(text)),
        openEnd: (text) => this.#openEnd(text),
      },
    })
  }

  /** Where the person is asked who is the model. */
  #personOutput(): Writable {
    const { terminal, json } = this.#setup
    const write = json ? terminal.err : terminal.out
    const note = (text: string) => {
      this.#asking = !json && !text.endsWith('\n') && !process.stdin.isTTY
      write(this.#maskText(text))
    }
    return new Writable({
      decodeStrings: false,
      write(chunk: unknown, _encoding, done) {
        note(String(chunk))
        done()
      },
    })
  }
}
