import type { Playbook } from '../playbook/playbook.ts'
import { Agent } from './agent.ts'
import type { AgentOptions, AgentResult, RunOptions } from './agent-options.ts'

/** What one run of a playbook is given: what an agent is made of, and what the run needs. */
export interface RunPlaybookOptions extends Omit<AgentOptions, 'playbook'>, RunOptions {
  /** The task for the model; to a Markdown playbook, the first thing the person says. */
  readonly prompt?: string
}

/** Runs a playbook once, in whatever form it is written, until it has ended or waits for a person. Throws what stops it from starting. */
export async function runPlaybook(playbook: Playbook, options: RunPlaybookOptions): Promise<AgentResult> {
  const { prompt, inputs, signal, run, person, control, ...agent } = options
  const asksNobody = playbook.steps.length > 0 && playbook.steps.every((step) => step.tool !== null)
  const task = playbook.program === null && !asksNobody ? `Work through the playbook "${playbook.name}".` : ''
  return await new Agent({ ...agent, playbook }).run(prompt ?? task, {
    ...(inputs === undefined ? {} : { inputs }),
    ...(signal === undefined ? {} : { signal }),
    ...(run === undefined ? {} : { run }),
    ...(person === undefined ? {} : { person }),
    ...(control === undefined ? {} : { control }),
  })
}
