import { computationsOf } from '../explain/computations-of.ts'
import type { Procedure, Program, Step } from '../program.ts'
import type { ProgramTool } from './callables.ts'

/** Whether a program calls, or lets a model call, anything that is not known to only read. */
export function changesSomething(
  { agents }: Pick<Program, 'agents'>,
  tools: ReadonlyMap<string, ProgramTool>,
): boolean {
  const procedures = agents.flatMap((agent) => agent.playbooks)
  const hosts = new Set(procedures.filter(({ mode }) => mode === 'host').map(({ id }) => id))
  const changes = (name: string): boolean => tools.get(name)?.risk !== 'read'
  return procedures.some(
    (procedure) =>
      computationsOf(procedure)
        .flatMap(({ calls }) => calls)
        .some(({ target }) => (target.kind === 'tool' ? changes(target.name) : hosts.has(target.id))) ||
      offers(procedure).some(changes),
  )
}

/** The tools that a model may use in a playbook. */
function offers({ mode, tools, steps }: Procedure): readonly string[] {
  return mode === 'react'
    ? tools
    : actsIn(steps).flatMap((step) => (step.reach === 'named' ? step.tools : []))
}

function actsIn(steps: readonly Step[]): Extract<Step, { kind: 'act' }>[] {
  return steps.flatMap((step) => {
    if (step.kind === 'act') return [step]
    if (step.kind === 'if') return step.arms.flatMap((arm) => actsIn(arm.steps))
    return step.kind === 'loop' || step.kind === 'each' ? actsIn(step.steps) : []
  })
}
