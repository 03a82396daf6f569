import { someComputation } from '../explain/computations-of.ts'
import type { Computation, Procedure, Program, Step } from '../program.ts'
import type { ProgramTool } from './callables.ts'

/** Whether a program calls, or lets a model call, anything that is not known to only read. */
export function changesSomething(
  { agents }: Pick<Program, 'agents'>,
  tools: ReadonlyMap<string, ProgramTool>,
): boolean {
  const hosts = new Set<string>()
  for (const { playbooks } of agents) for (const { mode, id } of playbooks) if (mode === 'host') hosts.add(id)
  const changes = (name: string): boolean => tools.get(name)?.risk !== 'read'
  const calls = ({ calls: made }: Computation): boolean =>
    made.some(({ target }) => (target.kind === 'tool' ? changes(target.name) : hosts.has(target.id)))
  return agents.some(({ playbooks }) =>
    playbooks.some(
      (procedure) =>
        calls(procedure.description) ||
        someComputation(procedure.steps, calls) ||
        offers(procedure).some(changes),
    ),
  )
}

/** The tools that a model may use in a playbook. */
function offers({ mode, tools, steps }: Procedure): readonly string[] {
  if (mode === 'react') return tools
  const named: string[] = []
  takeNamed(steps, named)
  return named
}

function takeNamed(steps: readonly Step[], named: string[]): void {
  for (const step of steps) {
    if (step.kind === 'act' && step.reach === 'named') named.push(...step.tools)
    else if (step.kind === 'if') for (const arm of step.arms) takeNamed(arm.steps, named)
    else if (step.kind === 'loop' || step.kind === 'each') takeNamed(step.steps, named)
  }
}
