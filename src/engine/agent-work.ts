import type { Agent } from '../agent/agent.ts'
import type { RunOptions } from '../agent/agent-options.ts'
import type { RunWork } from './engine.ts'

/** How an agent works on one run. */
export function agentWork(
  agent: Agent,
  run: string,
  { prompt, inputs }: { readonly prompt: string; readonly inputs?: RunOptions['inputs'] },
): RunWork {
  return {
    start: (seat) => agent.run(prompt, { run, ...seat, ...(inputs === undefined ? {} : { inputs }) }),
    resume: (seat) => agent.resume(run, seat),
    order: (order) => agent.order(run, order),
    vote: (callId, vote) => agent.vote(run, callId, vote),
  }
}
