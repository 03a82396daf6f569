import type { Playbook } from '../playbook/playbook.ts'
import { Agent } from './agent.ts'
import type { AgentOptions, AgentResult, RunOptions } from './agent-options.ts'

/** What one run of a playbook is given: what an agent is made of, and what the run needs. */
export interface RunPlaybookOptions extends Omit<AgentOptions, 'playbook' | 'model'>, RunOptions {
  /** May be left out for a Markdown playbook or a runbook: then the run is put down at a step that needs one (`missing_model`). */
  readonly model?: AgentOptions['model']
  /** The task for the model; to a Markdown playbook, the first thing the person says. */
  readonly prompt?: string
}

/** Runs a playbook once, in whatever form it is written, until it has ended or waits for a person. Throws what stops it from starting. */
export async function runPlaybook(
  playbook: Playbook,
  options: RunPlaybookOptions = {},
): Promise<AgentResult> {
  const { prompt, inputs, signal, run, person, control, ...agent } = options
  const asksNobody = playbook.steps.length > 0 && playbook.steps.every((step) => step.tool !== null)
  const task = playbook.program === null && !asksNobody ? `Work through the playbook "${playbook.name}".` : ''
  // A program and a runbook say themselves what is done next; where a model is missed after all, that step says so.
  const model = agent.model ?? (playbook.program !== null || asksNobody ? 'none' : agent.model)
  return await new Agent({ ...agent, playbook, model: model! }).run(prompt ?? task, {
    ...(inputs === undefined ? {} : { inputs }),
    ...(signal === undefined ? {} : { signal }),
    ...(run === undefined ? {} : { run }),
    ...(person === undefined ? {} : { person }),
    ...(control === undefined ? {} : { control }),
  })
}
