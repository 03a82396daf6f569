import type { Procedure, Step } from '../program.ts'
import type { ExplainedStep } from './explanation.ts'
import { markArm, markStep, offered, touched } from './mark-step.ts'
import { phraseCalls, type ProgramNames } from './phrase-call.ts'
import { phraseList } from './phrase-name.ts'
import { phraseArm, phraseStep } from './phrase-step.ts'

/**
 * The bullets of a playbook, read back; a playbook without bullets is read back as the one thing it is. Calls in its description
 * come first: they are made before the first bullet.
 */
export function explainSteps(procedure: Procedure, names: ProgramNames): readonly ExplainedStep[] {
  const body =
    procedure.mode === 'steps' ? explainList(procedure.steps, names) : [explainWhole(procedure, names)]
  return procedure.description.calls.length === 0 ? body : [explainDescription(procedure, names), ...body]
}

function explainDescription({ id, line, description }: Procedure, names: ProgramNames): ExplainedStep {
  const calls = phraseList(phraseCalls(description, names))
  return {
    ...headOf({ id: `${id}/0`, text: description.source, line }),
    sentence: `Fill in the description with ${calls}.`,
    mark: 'guaranteed',
    needsModel: 'never',
    ...touched([description]),
    reach: 'named',
    shape: 'do',
    inline: false,
    steps: [],
  }
}

function explainList(steps: readonly Step[], names: ProgramNames): readonly ExplainedStep[] {
  return steps.flatMap((step): readonly ExplainedStep[] => {
    if (step.kind !== 'if') {
      const inside = step.kind === 'loop' || step.kind === 'each' ? step.steps : []
      return [
        {
          ...headOf(step),
          sentence: phraseStep(step, names),
          ...markStep(step, names.risks),
          ...bodyOf(step, inside, names),
        },
      ]
    }
    return step.arms.map((arm, index) => ({
      ...headOf(arm),
      sentence: phraseArm(arm, index === 0, names),
      ...markArm(arm),
      // The second condition of a chain is a decision of its own, reached when the one before it does not hold.
      ...bodyOf(arm, arm.steps, names),
      chained: index > 0,
    }))
  })
}

function headOf({ id, text, line }: Pick<Step, 'id' | 'text' | 'line'>) {
  return { id, number: id.slice(id.indexOf('/') + 1), text, line, chained: false }
}

function bodyOf({ line }: { readonly line: number }, inside: readonly Step[], names: ProgramNames) {
  return {
    inline: inside.length > 0 && inside.every((step) => step.line === line),
    steps: explainList(inside, names),
  }
}

/** A playbook whose body is no list of bullets. */
function explainWhole(procedure: Procedure, { risks }: ProgramNames): ExplainedStep {
  const sentences = {
    steps: '',
    react: 'Work towards what the description says, turn by turn.',
    raw: 'Answer what the description asks, in one go.',
    host: 'A function that the program around it supplies.',
  } as const
  const byModel = procedure.mode !== 'host'
  return {
    id: procedure.id,
    number: '1',
    sentence: sentences[procedure.mode],
    text: '',
    line: procedure.line,
    chained: false,
    mark: byModel ? 'left to the model' : 'guaranteed',
    needsModel: byModel ? 'always' : 'never',
    ...offered({ tools: procedure.mode === 'react' ? procedure.tools : [], reach: 'named' }, risks),
    runs: [],
    shape: byModel ? 'model' : 'do',
    inline: false,
    steps: [],
  }
}
