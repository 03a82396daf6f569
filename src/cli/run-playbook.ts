import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { connectEngine, type AgentResult, type EngineClient } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Config } from '../source/config.ts'
import { compileProgram } from '../playbook/compile-program.ts'
import { checkInputs } from '../tool/check-inputs.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import { followRun } from './follow-run.ts'
import { heldCalls } from '../overview/held-call.ts'
import { homeOf } from './hosted-run.ts'
import { quote } from './next-command.ts'
import { findConfigFor, openConfig } from './open-config.ts'
import { openPlaybook } from './open-playbook.ts'
import { prepareRunFolder } from './run-folder.ts'
import { missingInputs, readInputs } from './run-inputs.ts'
import { defaultModel, type RunRequest } from './run-request.ts'
import { assertScriptPath, RunScript, writeTurns } from './run-script.ts'
import { RunSession } from './run-session.ts'
import { describeGlass, openStanding, underDefaults, withGlassBroken } from './run-standing.ts'
import { digestVariables, variablesOf } from './run-variables.ts'
import { type RunStart, writeStart } from './run-start.ts'

/** Runs a typed playbook: an agent works through it. */
export async function runPlaybook(request: RunRequest): Promise<ExitCode> {
  const { file, terminal, mode, record } = request
  const playbook = request.playbook ?? (await openPlaybook(file, request.config, terminal))
  if (playbook === null) return exitCode.failed
  const model = request.model ?? (isRunbook(playbook) ? 'none' : defaultModel('run'))
  const given = readInputs(playbook, request.inputs)
  const missing = missingInputs(playbook, given)
  if (missing.length > 0) {
    terminal.err(
      `lockstep: the playbook needs more inputs:\n${missing.map((line) => `  ${escapeControl(line)}\n`).join('')}`,
    )
    return exitCode.needsInput
  }
  const inputs = checkInputs(playbook, given)
  const config = await openConfig(request.config ?? findConfigFor(file) ?? undefined)
  assertTools(playbook, config)
  const opened = openStanding(config, request.policies, terminal)
  if (opened === null) return exitCode.failed
  const standing = withGlassBroken(underDefaults(opened, playbook), request.breakGlass)
  if (record !== null) assertScriptPath(record, [file, config?.file ?? null])
  const run = `${mode === 'execute' ? 'r' : 'dry'}_${randomUUID()}`
  const folder = prepareRunFolder()
  const paths = { playbook: resolve(file), config: config?.file ?? null, policies: [...standing.paths] }
  const start = { ...paths, mode, model }
  // Whoever breaks the glass does so here, and not in the name of another process.
  const shared = mode === 'execute' && isRunbook(playbook) && request.breakGlass === null
  const engine = shared ? await connectEngine(homeOf(folder)) : null
  const variables = variablesOf(config, playbook)
  const there = engine === null ? null : { ...request, playbook, inputs, folder, run, start, variables }
  const code = there === null ? null : await runThere(engine!, there)
  if (code !== null) return code
  const script = new RunScript()
  const session = new RunSession({
    ...request,
    model,
    playbook,
    inputs,
    config,
    standing,
    answered: 0,
    folder,
    run,
  })
  try {
    const result = await session.work({
      before: describeGlass(standing),
      past: [],
      again: ['npx lockstep run', ...request.args.map(quote)].join(' '),
      start(agent, seat, person) {
        if (engine === null) writeStart(folder, run, start)
        return agent.start(request.prompt ?? taskOf(playbook, inputs), { inputs, run, ...seat, person })
      },
      onEvent: (event) => script.note(event),
    })
    return codeOf(result, session.heldUp)
  } finally {
    if (record !== null && script.turns.length > 0) writeTurns(record, script.turns, `${file}, run ${run}`)
  }
}

/** Says whether every step is a call that the runtime makes, so that no model is needed. */
function isRunbook({ steps, program }: Playbook): boolean {
  return program === null && steps.length > 0 && steps.every(({ tool }) => tool !== null)
}

/** Has the engine of another process work on the run, and shows it; leaving does not stop it. Null where that one must not: what its tools would see differs. */
async function runThere(
  engine: EngineClient,
  {
    playbook,
    inputs,
    folder,
    run,
    start,
    variables,
    terminal,
    json,
  }: Pick<RunRequest, 'terminal' | 'json'> & {
    readonly playbook: Playbook
    readonly inputs: JsonObject
    readonly folder: string
    readonly run: string
    readonly start: RunStart
    readonly variables: readonly string[] | null
  },
): Promise<ExitCode | null> {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => controller.abort())
  try {
    writeStart(folder, run, start)
    const refused = await beginThere(engine, run, inputs, variables)
    if (refused !== null) {
      terminal.err(`lockstep: worked on here, not by process ${engine.pid}: ${escapeControl(refused)}\n`)
      return null
    }
    if (!json)
      terminal.out(
        `${escapeControl(playbook.name)} · ${playbook.steps.length} step${playbook.steps.length === 1 ? '' : 's'} · run ${run} · worked on by process ${engine.pid}\n`,
      )
    const { signal } = controller
    return await followRun(engine, {
      run,
      playbook,
      from: 1,
      json,
      terminal,
      signal,
      untilHeld: process.stdout.isTTY !== true,
      asRun: true,
    })
  } finally {
    engine.close()
  }
}

/** Begins the run there; why it must not be, or null. */
async function beginThere(
  engine: EngineClient,
  run: string,
  inputs: JsonObject,
  variables: readonly string[] | null,
): Promise<string | null> {
  if (variables === null) return 'its tools see the whole environment'
  try {
    await engine.begin(run, { inputs, variables: digestVariables(variables, run) })
    return null
  } catch (error) {
    if (LockstepError.isInstance(error) && error.code === 'not_available') return error.message
    throw error
  }
}

/** Without a configuration there is no tool at all, which deserves a better answer than a list of missing ones. */
function assertTools(playbook: Playbook, config: Config | null): void {
  const own = playbook.program === null ? [] : compileProgram(playbook.program).ownCalls
  const named = playbook.steps.flatMap((step) => step.expectedTools)
  const needed = new Set(named.filter((tool) => tool !== '*' && !own.includes(tool)))
  if (config !== null || needed.size === 0) return
  throw new LockstepError(
    'unknown_tool',
    `The playbook '${playbook.id}' needs tools, and there is no lockstep.config.yaml here, beside it or above: ${[...needed].join(', ')}.`,
    { hint: 'write one, or name it with --config' },
  )
}

/** A run that waits for people, or was halted, says so; a program that waits for a person to say something needs input; anything else failed. */
export function codeOf(result: AgentResult | null, heldUp: object | null = null): ExitCode {
  if (result === null || heldUp !== null) return exitCode.waitsForApproval
  const { status, reason, snapshot } = result
  if (status === 'succeeded') return exitCode.done
  if (heldCalls(snapshot.entries, Date.now()).some(({ state }) => state === 'waiting'))
    return exitCode.waitsForApproval
  return reason === 'the input ended before the run did' ? exitCode.needsInput : exitCode.failed
}

function taskOf(playbook: Playbook, inputs: JsonObject): string {
  if (playbook.program !== null) return ''
  const task = `Work through the playbook "${playbook.name}".`
  return Object.keys(inputs).length === 0 ? task : `${task}\nInputs: ${JSON.stringify(inputs)}`
}
