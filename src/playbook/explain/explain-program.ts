import type { Procedure, Program, ProgramAgent } from '../program.ts'
import { countModelCalls } from './count-model-calls.ts'
import { explainNote } from './explain-note.ts'
import { explainSteps } from './explain-steps.ts'
import { explainTrigger } from './explain-trigger.ts'
import { entriesOf } from './entries-of.ts'
import type { ExplainedPlaybook, ExplainedStep, Explanation, ModelNeed } from './explanation.ts'
import { flowOf } from './flow-of.ts'
import { namesOf, type ProgramNames, type ToolRisks } from './phrase-call.ts'

/**
 * Says what a program does, who sees to it, and what it may cost, without running any of it. With the risks of the tools it says
 * which of them a model is offered.
 */
export function explainProgram(program: Program, risks: ToolRisks = new Map()): Explanation {
  const names = namesOf(program, risks)
  const entries = new Set(entriesOf(program).map(({ id }) => id))
  const playbooks = program.agents.flatMap((agent) =>
    agent.playbooks.map((procedure) => explainProcedure(procedure, agent, program, names, entries)),
  )
  return {
    name: program.name,
    playbooks,
    steps: countSteps(playbooks.flatMap(({ steps }) => steps)),
    modelCalls: countModelCalls(program),
    flow: flowOf(playbooks),
  }
}

/** How many bullets there are, nested ones included, and how many need no model. What stands on one line is one. */
export function countSteps(steps: readonly ExplainedStep[]): Explanation['steps'] {
  let [total, withoutModel] = [0, 0]
  for (const step of steps) {
    total += 1
    if (needOfRow(step) !== 'always') withoutModel += 1
    if (step.inline) continue
    const inside = countSteps(step.steps)
    total += inside.total
    withoutModel += inside.withoutModel
  }
  return { total, withoutModel }
}

/** What a line needs: with what stands on it inline. */
export function needOfRow(step: ExplainedStep): ModelNeed {
  const needs = step.inline ? [step.needsModel, ...step.steps.map(needOfRow)] : [step.needsModel]
  return needs.includes('always') ? 'always' : needs.includes('sometimes') ? 'sometimes' : 'never'
}

function explainProcedure(
  procedure: Procedure,
  agent: ProgramAgent,
  program: Program,
  names: ProgramNames,
  entries: ReadonlySet<string>,
): ExplainedPlaybook {
  return {
    id: procedure.id,
    agent: program.agents.length > 1 ? agent.name : null,
    heading: headingOf(procedure),
    entry: entries.has(procedure.id),
    steps: explainSteps(procedure, names),
    notes: procedure.notes.map((note) => explainNote(note, names)),
    triggers: procedure.triggers.map((trigger) => explainTrigger(trigger, names)),
  }
}

function headingOf({ name, parameters, returns }: Procedure): string {
  const given = parameters.map(({ name: parameter, type, default: value }) => {
    const kind = type === 'any' ? '' : `:${type}`
    return `$${parameter}${kind}${value === undefined ? '' : `=${JSON.stringify(value)}`}`
  })
  const signature = given.length === 0 ? name : `${name}(${given.join(', ')})`
  return returns === null ? signature : `${signature} -> ${returns}`
}
