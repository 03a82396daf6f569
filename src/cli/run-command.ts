import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { type AgentEvent, type AgentResult, openFileJournal, openTools, startAgentRun } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Config } from '../source/config.ts'
import { loadPlaybook } from '../source/load-playbook.ts'
import { checkInputs } from '../tool/check-inputs.ts'
import { dryRunTool } from '../tool/dry-run-tool.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { openConfig } from './open-config.ts'
import { type Flags, readFlags } from './read-flags.ts'
import { prepareRunFolder } from './run-folder.ts'
import { missingInputs, readInputs } from './run-inputs.ts'
import { RunPresenter } from './run-presenter.ts'
import { writeScript } from './run-script.ts'
import { RunView } from './run-view.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep run FILE [OPTIONS]

Lets an agent work through a playbook, with the tools of lockstep.config.yaml. Without --mode execute nothing is
changed: every call is judged and shown with its final arguments, and counts as made so that the run can go on.

Options:
  --input NAME=VALUE   an input of the playbook, read as its type; may stand often
  --model MODEL        openai:…, anthropic:…, openai-compatible:…, scripted:FILE, or me: you are the model
                       (the default on a terminal)
  --mode dry-run       show the calls and make none (the default)
  --mode execute       make them
  --prompt TEXT        the task; otherwise the playbook itself
  --config FILE        the configuration, instead of the nearest lockstep.config.yaml
  --record FILE        write what the model said as a script that --model scripted:FILE replays
  --json               every event as a line of JSON, and the result as the last

Exit codes: 0 succeeded, 1 failed or incomplete, 2 wrong usage, 3 needs input.

Examples:
  lockstep run refund.yaml --input order_id=ORD-42 --model me
  lockstep run refund.yaml --input order_id=ORD-42 --model anthropic:claude-sonnet-4-5 --mode execute
`

const rules = {
  input: { value: 'NAME=VALUE', often: true },
  model: { value: 'openai:…, anthropic:…, openai-compatible:…, scripted:FILE or me' },
  mode: { values: ['dry-run', 'execute'] },
  prompt: { value: 'TEXT' },
  config: { value: 'FILE' },
  record: { value: 'FILE' },
  json: 'switch',
} as const

/** `lockstep run`: an agent works through a playbook. */
export const runCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags, lists } = readFlags(args, rules)
    const [file, ...more] = names
    if (file === undefined || more.length > 0) throw new LockstepError('usage', 'run takes one playbook')
    const model = flags.get('model') ?? defaultModel()
    const playbook = loadPlaybook(file)
    const given = readInputs(playbook, lists.get('input') ?? [])
    const missing = missingInputs(playbook, given)
    if (missing.length > 0) {
      terminal.err(
        `lockstep: the playbook needs more inputs:\n${missing.map((line) => `  ${escapeControl(line)}\n`).join('')}`,
      )
      return exitCode.needsInput
    }
    const inputs = checkInputs(playbook, given)
    const config = await openConfig(flags.get('config'))
    assertTools(playbook, config)
    const session = new Session({ file, playbook, inputs, config, model, flags, terminal })
    const result = await session.run(names, args)
    return result.status === 'succeeded' ? exitCode.done : exitCode.failed
  },
}

function defaultModel(): string {
  if (process.stdin.isTTY && process.stdout.isTTY) return 'me'
  throw new LockstepError('usage', 'run needs --model, because this is no terminal', {
    hint: 'pass openai:…, anthropic:…, openai-compatible:…, scripted:FILE, or me to answer on standard input',
  })
}

/** Without a configuration there is no tool at all, which deserves a better answer than a list of missing ones. */
function assertTools(playbook: Playbook, config: Config | null): void {
  const needed = new Set(playbook.steps.flatMap((step) => step.expectedTools.filter((tool) => tool !== '*')))
  if (config !== null || needed.size === 0) return
  throw new LockstepError(
    'unknown_tool',
    `The playbook '${playbook.id}' needs tools, and there is no lockstep.config.yaml here or above: ${[...needed].join(', ')}.`,
    { hint: 'write one, or name it with --config' },
  )
}

interface SessionSetup {
  readonly file: string
  readonly playbook: Playbook
  readonly inputs: JsonObject
  readonly config: Config | null
  readonly model: string
  readonly flags: Flags['flags']
  readonly terminal: Terminal
}

/** One run, from its first line to its last. */
class Session {
  readonly #setup: SessionSetup
  readonly #json: boolean
  readonly #dry: boolean
  /** Whether a question stands on the last line, and nobody's Enter has ended it. */
  #asking = false

  constructor(setup: SessionSetup) {
    this.#setup = setup
    this.#json = setup.flags.has('json')
    this.#dry = setup.flags.get('mode') !== 'execute'
  }

  async run(names: readonly string[], args: readonly string[]): Promise<AgentResult> {
    const { config, inputs, terminal, playbook, flags } = this.#setup
    const folder = prepareRunFolder()
    const run = `${this.#dry ? 'dry' : 'r'}_${randomUUID()}`
    const bound = await openTools(config, {
      inputs,
      onNotice: (text) => terminal.err(`${escapeControl(text)}\n`),
    })
    const journal = await openFileJournal(folder)
    const interruption = listenForInterrupt(terminal)
    const answers: Extract<AgentEvent, { type: 'model.answered' }>[] = []
    try {
      this.#begin(run, bound.tools.length)
      const callReads = config?.callReadsInDryRun ?? false
      const tools = bound.tools.map(({ tool }) => (this.#dry ? dryRunTool(tool, { callReads }) : tool))
      const { model } = this.#setup
      const presenter = new RunPresenter(playbook, this.#view(model, bound.maskText))
      const stream = await startAgentRun({
        playbook,
        tools,
        model,
        inputs,
        run,
        journal,
        prompt: flags.get('prompt') ?? taskOf(playbook, inputs),
        signal: interruption.signal,
        person: { input: process.stdin, output: this.#personOutput(bound.maskText) },
      })
      for await (const event of stream) {
        if (event.type === 'model.answered') answers.push(event)
        if (!this.#json) presenter.show(event)
        else if (event.type !== 'text.delta') terminal.out(`${bound.maskText(JSON.stringify(event))}\n`)
      }
      const result = await stream.result
      this.#end(result, presenter, join(folder, `${run}.jsonl`), args, bound.maskText)
      return result
    } finally {
      interruption.stop()
      const script = flags.get('record')
      if (script !== undefined && answers.length > 0) writeScript(script, answers, `${names[0]}, run ${run}`)
      await journal.close()
      await bound.close()
      // A person who was asked leaves the input open, and an open input keeps the process waiting.
      process.stdin.destroy()
    }
  }

  /** The first line says whether anything will be changed. */
  #begin(run: string, tools: number): void {
    const { terminal, playbook, model } = this.#setup
    const mode = this.#dry ? 'dry-run' : 'execute'
    const note = 'DRY RUN: nothing is changed. Add --mode execute.'
    if (this.#json) {
      terminal.out(`${JSON.stringify({ type: 'run.mode', mode, run, ...(this.#dry ? { note } : {}) })}\n`)
      return
    }
    if (this.#dry && tools > 0)
      terminal.out(`${note}\nA call that is only shown counts as made, so that the run can go on.\n`)
    const steps = playbook.steps.length
    terminal.out(
      escapeControl(`${playbook.name} · ${steps} step${steps === 1 ? '' : 's'} · model ${model}`) + '\n',
    )
  }

  #end(
    result: AgentResult,
    presenter: RunPresenter,
    record: string,
    args: readonly string[],
    maskText: (text: string) => string,
  ): void {
    const { terminal } = this.#setup
    const { status, reason, message, run, metrics } = result
    const next = this.#next(result, args, record)
    if (this.#json) {
      const end = { type: 'run.result', status, reason, message, run, record, next, metrics }
      terminal.out(`${maskText(JSON.stringify(end))}\n`)
      return
    }
    const { made, shown, stopped } = presenter.counts
    const calls = this.#dry ? `${made} made, ${shown} shown` : `${made} done`
    const lines = [
      ...(message === '' ? [] : [`   ${message}`]),
      `${status} · ${calls}, ${stopped} stopped · run ${run}`,
      ...(reason === null ? [] : [`Why: ${reason}`]),
      `Record: ${record}`,
      `Next: ${next}`,
    ]
    this.#tell(lines.map((line) => `${escapeControl(maskText(line))}\n`).join(''))
  }

  /**
   * What to do now: the real run after a dry one, a look at the record after a real one or one with an outcome nobody knows, else
   * the same again.
   */
  #next({ status, playbookPlan }: AgentResult, args: readonly string[], record: string): string {
    const again = ['npx lockstep run', ...args.map(quote)].join(' ')
    const calls = playbookPlan.executions.flatMap((execution) => execution.calls)
    const open = calls.filter(({ outcome }) => outcome === 'unknown' || outcome === 'admitted')
    if (open.length > 0) {
      // Running it again would know nothing of a call that may have worked.
      const what = open.map(({ tool, id }) => `${tool} (${id})`).join(', ')
      return `find out what became of ${what} before anything is run again: less ${quote(record)}`
    }
    if (status !== 'succeeded') return again
    return this.#dry ? `${again.replace(/ --mode[= ]dry-run/, '')} --mode execute` : `less ${quote(record)}`
  }

  /** Writes what happened, below a question that was not answered with Enter. */
  #tell(text: string): void {
    this.#setup.terminal.out(this.#asking ? `\n${text}` : text)
    this.#asking = false
  }

  #view(model: string, maskText: (text: string) => string): RunView {
    const { terminal } = this.#setup
    // Somebody who types into the terminal needs it to stand still.
    const live = process.stdout.isTTY === true && model !== 'me' && !this.#json
    return new RunView({ write: (text) => this.#tell(maskText(text)), live, colour: terminal.colour })
  }

  /** What a tool said reaches the person's terminal without its control characters. */
  #personOutput(maskText: (text: string) => string): Writable {
    const { terminal } = this.#setup
    const write = this.#json ? terminal.err : terminal.out
    const ask = (asking: boolean) => (this.#asking = asking && !this.#json)
    return new Writable({
      decodeStrings: false,
      write(chunk: unknown, _encoding, done) {
        const text = String(chunk)
        ask(!text.endsWith('\n') && !process.stdin.isTTY)
        write(
          text
            .split('\n')
            .map((line) => escapeControl(maskText(line)))
            .join('\n'),
        )
        done()
      },
    })
  }
}

function taskOf(playbook: Playbook, inputs: JsonObject): string {
  const task = `Work through the playbook "${playbook.name}".`
  return Object.keys(inputs).length === 0 ? task : `${task}\nInputs: ${JSON.stringify(inputs)}`
}

/** The first Ctrl-C cancels the run, the second one ends the program. */
function listenForInterrupt(terminal: Terminal): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController()
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(exitCode.failed)
    terminal.err('\nCancelling; press Ctrl-C again to leave at once.\n')
    controller.abort()
  }
  process.on('SIGINT', interrupt)
  return {
    signal: controller.signal,
    stop() {
      process.off('SIGINT', interrupt)
    },
  }
}

function quote(argument: string): string {
  return /^[\w./:=@,+-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
}
