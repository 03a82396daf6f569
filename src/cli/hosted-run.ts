import { dirname, resolve } from 'node:path'
import {
  openModel,
  openTools,
  prepareAgent,
  openEngine,
  type JournalEntry,
  type OpenEngine,
  type ReadyAgent,
  type RunWork,
} from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { loadConfig } from '../source/load-config.ts'
import { openPinnedPlaybook } from './pinned-playbook.ts'
import { policySetup, openStanding, underDefaults } from './run-standing.ts'
import { differingVariables } from './run-variables.ts'
import { readStart } from './run-start.ts'
import type { Terminal } from './terminal.ts'

/** What one terminal tells the engine of another of a run that it wants begun; everything else lies beside the record. */
export interface HostedRequest {
  readonly inputs: JsonObject
  /** What the variables hold that its tools read (run-variables.ts). */
  readonly variables: JsonObject
}

/** What an engine of the command line is given. */
export interface HostOptions {
  /** The folder with the records. */
  readonly folder: string
  readonly terminal: Terminal
  /** Hears what kept a run from going on. */
  readonly onTrouble: (run: string, error: unknown) => void
}

/** Makes this process the engine of the data folder, for its own runs and those that other terminals begin; null if another process is. */
export async function hostEngine({ folder, terminal, onTrouble }: HostOptions): Promise<OpenEngine | null> {
  const opened: OpenEngine | null = await openEngine(dirname(folder), {
    onTrouble,
    onHalt: (halt) =>
      terminal.err(
        halt === null
          ? 'lockstep: all runs may go on\n'
          : `lockstep: HALTED by ${escapeControl(`${halt.by}: ${halt.reason}`)}; runs wait until npx lockstep unhalt\n`,
      ),
    load: async (run) => {
      const entries = await opened!.store.read(run)
      return await openRun(opened!, folder, run, terminal, entries)
    },
    begin: async (run, request) => {
      const differing = differingVariables(request['variables'], run)
      if (differing.length > 0)
        throw new LockstepError('not_available', `${differing.join(', ')} differs in process ${process.pid}.`)
      terminal.err(`lockstep: run ${escapeControl(run)} of another terminal is worked on here\n`)
      return await openRun(opened!, folder, run, terminal, [], request['inputs'] as JsonObject)
    },
  })
  return opened
}

/** How to work on a run whose beginning was written down, with nobody to ask. Throws what keeps it from being worked on. */
async function openRun(
  { engine, store }: OpenEngine,
  folder: string,
  run: string,
  terminal: Terminal,
  entries: readonly JournalEntry[],
  inputs: JsonObject = (entries[0]?.data['inputs'] ?? {}) as JsonObject,
): Promise<RunWork> {
  const start = readStart(folder, run)
  if (start === null) throw new LockstepError('invalid_input', `Run ${run} was not begun by lockstep run.`)
  const digest = entries[0]?.data['playbook'] ?? null
  const playbook = await openPinnedPlaybook(
    start,
    digest as string | null,
    (name) => store.kept(name),
    terminal,
  )
  const config = start.config === null ? null : await loadConfig(start.config)
  const standing = openStanding(config, start.policies, terminal, entries)
  if (playbook === null || standing === null)
    throw new LockstepError(
      'invalid_input',
      `Run ${run} cannot be worked on: its playbook or its policies have problems.`,
    )
  const bound = await openTools(config, { inputs, secrets: playbook.secrets, dry: null })
  try {
    const policy = policySetup(underDefaults(standing, playbook), start.mode)
    const agent = await prepareAgent({
      playbook,
      tools: bound.tools.map(({ tool }) => tool),
      journal: engine.journal,
      model: await openModel(start.model, { input: process.stdin, output: process.stderr }),
      principal: standing.principal.id,
      secrets: bound.secrets,
      ...(policy === undefined ? {} : { policy }),
    })
    return { ...workOf(agent, run, inputs), close: () => bound.close() }
  } catch (error) {
    await bound.close()
    throw error
  }
}

function workOf(agent: ReadyAgent, run: string, inputs: JsonObject): RunWork {
  return {
    start: (seat) => agent.start('', { run, inputs, ...seat }).result,
    resume: (seat) => agent.resume(run, seat).result,
    order: (order) => agent.order(run, order),
    vote: (callId, vote) => agent.vote(run, callId, vote),
  }
}

/** The data folder of a folder with records. */
export function homeOf(folder: string): string {
  return resolve(dirname(folder))
}
