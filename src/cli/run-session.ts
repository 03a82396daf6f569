import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import {
  type AgentEvent,
  type AgentResult,
  type AgentStream,
  type Journal,
  type Model,
  type OpenTools,
  type Person,
  type ReadyAgent,
  openJournalOf,
  openModel,
  openPerson,
  openTools,
  prepareAgent,
  recordPath,
} from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { Config } from '../source/config.ts'
import { dryRunTool } from '../tool/dry-run-tool.ts'
import { listenForInterrupt } from './interrupt.ts'
import { approvalOutlook } from './approval-outlook.ts'
import { describeWaiting } from './describe-held-call.ts'
import { heldCalls } from './held-call.ts'
import { nextCommand } from './next-command.ts'
import { describeFailure, type RunFailure } from './run-failure.ts'
import { policySetup, type RunStanding } from './run-standing.ts'
import { ConversationPresenter } from './conversation-presenter.ts'
import { RunPresenter } from './run-presenter.ts'
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
  start(agent: ReadyAgent, signal: AbortSignal, person: Person): AgentStream
  onEvent?(event: AgentEvent): void
}

/** One agent at work in this process, from the first line to the last: begun anew or taken up, shown as it goes on. */
export class RunSession {
  readonly #setup: SessionSetup
  readonly #dry: boolean
  /** Whether a question stands on the last line, and nobody's Enter has ended it. */
  #asking = false
  #maskText: (text: string) => string = (text) => text
  #maskJson: (value: Json) => Json = (value) => value

  constructor(setup: SessionSetup) {
    this.#setup = setup
    this.#dry = setup.mode !== 'execute'
  }

  /** Works until the run has ended or is put down. Throws what stops it from starting, before anything is told of it. */
  async work(work: SessionWork): Promise<AgentResult> {
    const interrupt = listenForInterrupt(this.#setup.terminal)
    let bound: OpenTools | null = null
    let journal: Journal | null = null
    try {
      // First what costs nothing to find out: a wrong model starts no server.
      const { model: name, answered, folder, run } = this.#setup
      if (name === 'me' || this.#talks) this.#watchInput()
      const person = await openPerson({ input: process.stdin, output: this.#personOutput() })
      const model = await openModel(name, person, answered)
      bound = await this.#bind()
      journal = await openJournalOf(folder, run)
      const agent = await this.#prepare(bound, journal, model)
      this.#begin(bound, work.before)
      interrupt.begin()
      return await this.#follow(work, agent, interrupt.signal, { hear: (signal) => person.readLine(signal) })
    } finally {
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
      dry: this.#dry ? { callReads, needed } : null,
      onNotice: (text) => terminal.err(`${escapeControl(text)}\n`),
    })
    this.#maskText = bound.maskText
    this.#maskJson = bound.maskJson
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
      ...(policy === undefined ? {} : { policy }),
    })
  }

  async #follow(
    work: SessionWork,
    agent: ReadyAgent,
    signal: AbortSignal,
    person: Person,
  ): Promise<AgentResult> {
    const { json, terminal } = this.#setup
    const presenter = this.#presenter()
    if (!json) for (const event of work.past) presenter.recall(event)
    const stream = work.start(agent, signal, person)
    let ended = work.past.some(({ type }) => type === 'run.finished')
    for await (const event of stream) {
      work.onEvent?.(event)
      if (event.type === 'run.finished') ended = true
      if (!json) presenter.show(this.#cleaned(event))
      else if (event.type !== 'text.delta') terminal.out(this.#line(event))
    }
    const result = await stream.result
    this.#end(result, { presenter, ended, again: work.again, interrupted: signal.aborted })
    return result
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
    if (json) {
      const about = { ...(this.#dry ? { note } : {}), ...(policies.length === 0 ? {} : { policies }) }
      terminal.out(this.#line({ type: 'run.mode', mode, run, ...about }))
      return
    }
    if (this.#dry && tools.length > 0)
      terminal.out(`${note}\nA call that is only shown counts as made, so that the run can go on.\n`)
    const steps = playbook.steps.length
    const shown = [playbook.name, `${steps} step${steps === 1 ? '' : 's'}`, `model ${model}`]
    // Who ends the process from outside needs the name to take the run up.
    if (!this.#dry) shown.push(`run ${run}`)
    if (policies.length > 0) shown.push(`under ${policies.join(', ')}`)
    for (const line of [shown.join(' · '), ...before]) terminal.out(`${escapeControl(line)}\n`)
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
    const waiting = heldCalls(result.snapshot.entries, now).filter(({ state }) => state === 'waiting')
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

  #presenter(): RunPresenter | ConversationPresenter {
    const { playbook, verbose } = this.#setup
    const view = this.#view()
    if (!this.#talks) return new RunPresenter(playbook, view)
    const write = (text: string) => this.#setup.terminal.out(this.#maskText(text))
    const placeOf = (error: string) => this.#failure(error).place
    return new ConversationPresenter(playbook, {
      view,
      write,
      verbose,
      prompts: process.stdin.isTTY,
      placeOf,
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
