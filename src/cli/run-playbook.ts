import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { AgentEvent } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Config } from '../source/config.ts'
import { PlaybookLoader } from '../source/playbook-loader.ts'
import { checkInputs } from '../tool/check-inputs.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import { quote } from './next-command.ts'
import { openConfig } from './open-config.ts'
import { prepareRunFolder } from './run-folder.ts'
import { missingInputs, readInputs } from './run-inputs.ts'
import type { RunRequest } from './run-request.ts'
import { assertScriptPath, writeScript } from './run-script.ts'
import { RunSession } from './run-session.ts'
import { writeStart } from './run-start.ts'

/** Runs a typed playbook: an agent works through it. */
export async function runPlaybook(request: RunRequest): Promise<ExitCode> {
  const { file, terminal, mode, model, record } = request
  const playbook = new PlaybookLoader().loadFile(file)
  const given = readInputs(playbook, request.inputs)
  const missing = missingInputs(playbook, given)
  if (missing.length > 0) {
    terminal.err(
      `lockstep: the playbook needs more inputs:\n${missing.map((line) => `  ${escapeControl(line)}\n`).join('')}`,
    )
    return exitCode.needsInput
  }
  const inputs = checkInputs(playbook, given)
  const config = await openConfig(request.config)
  assertTools(playbook, config)
  if (record !== null) assertScriptPath(record, [file, config?.file ?? null])
  const run = `${mode === 'execute' ? 'r' : 'dry'}_${randomUUID()}`
  const folder = prepareRunFolder()
  const answers: Extract<AgentEvent, { type: 'model.answered' }>[] = []
  const session = new RunSession({ ...request, playbook, inputs, config, answered: 0, folder, run })
  try {
    const result = await session.work({
      before: [],
      past: [],
      again: ['npx lockstep run', ...request.args.map(quote)].join(' '),
      start(agent, signal) {
        writeStart(folder, run, { playbook: resolve(file), config: config?.file ?? null, mode, model })
        return agent.start(request.prompt ?? taskOf(playbook, inputs), { inputs, run, signal })
      },
      onEvent(event) {
        if (event.type === 'model.answered') answers.push(event)
      },
    })
    return result.status === 'succeeded' ? exitCode.done : exitCode.failed
  } finally {
    if (record !== null && answers.length > 0) writeScript(record, answers, `${file}, run ${run}`)
  }
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

function taskOf(playbook: Playbook, inputs: JsonObject): string {
  const task = `Work through the playbook "${playbook.name}".`
  return Object.keys(inputs).length === 0 ? task : `${task}\nInputs: ${JSON.stringify(inputs)}`
}
