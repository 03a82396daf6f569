import { type After, afterToFile, stepsNamed } from '../after.ts'
import type { Playbook, PlaybookRule } from '../playbook.ts'
import type { PlaybookStep } from '../playbook-step.ts'
import type {
  ExplainedNote,
  ExplainedPlaybook,
  ExplainedStep,
  Explanation,
  FlowEdge,
  FlowNode,
} from './explanation.ts'
import { phraseCount, phraseList, phraseSeconds, phraseSentence } from './phrase-name.ts'

/** The turns an agent takes at most where neither the playbook nor its host says otherwise. */
const usualTurns = 50

/**
 * Says what a typed playbook leaves to the model and what is kept: each step is a model's work inside a boundary; the order, the
 * tools and the rules are the gate's.
 */
export function explainPlaybook(playbook: Playbook): Explanation {
  const steps = playbook.steps.map((step, index) => explainStep(step, index))
  const explained: ExplainedPlaybook = {
    id: playbook.id,
    agent: null,
    heading: playbook.name,
    entry: true,
    steps,
    notes: notesOf(playbook),
    triggers: [],
  }
  return {
    name: playbook.name,
    playbooks: [explained],
    steps: { total: steps.length, withoutModel: 0 },
    modelCalls: { most: playbook.maxIterations ?? usualTurns, because: [], besides: [], limit: null },
    flow: flowOf(playbook, steps),
  }
}

function explainStep(step: PlaybookStep, index: number): ExplainedStep {
  const any = step.expectedTools.includes('*')
  return {
    id: step.id,
    number: String(index + 1),
    sentence: phraseSentence(step.description === '' ? step.id : step.description),
    text: step.description,
    line: null,
    mark: 'left to the model',
    needsModel: 'always',
    tools: any ? ['any tool that no step names'] : step.expectedTools,
    reach: 'named',
    runs: [],
    shape: 'model',
    chained: false,
    inline: false,
    steps: [],
  }
}

/** What the gate keeps: the order, rules, what completes a step, limits; and the hints, which are advice. */
function notesOf(playbook: Playbook): readonly ExplainedNote[] {
  const order = playbook.strictSequence
    ? [
        enforced(
          'The steps come in this order',
          'a tool of a later step is refused until the steps before it are complete',
        ),
      ]
    : []
  return [...order, ...playbook.rules.map(ruleNote), ...playbook.steps.flatMap(stepNotes)]
}

function ruleNote({ tool, require, message }: PlaybookRule): ExplainedNote {
  return enforced(message ?? `A rule of ${tool}`, `${tool} is refused unless ${require}`)
}

function stepNotes(step: PlaybookStep): readonly ExplainedNote[] {
  const notes: ExplainedNote[] = []
  const keep = (text: string, rule: string) => void notes.push(enforced(`Step ${step.id}: ${text}`, rule))
  if (step.after !== null) keep('its place', `it opens after ${phraseAfter(step.after)}`)
  if (step.when !== null) keep('its condition', `it is skipped unless ${step.when}`)
  if (step.validation.expression !== undefined)
    keep('its proof', `it is not complete unless ${step.validation.expression}`)
  if (step.maxToolCalls !== null) keep('its calls', `at most ${phraseCount(step.maxToolCalls, 'call')}`)
  if (step.timeoutSeconds !== null) keep('its time', `at most ${phraseSeconds(step.timeoutSeconds)}`)
  for (const tool of Object.keys(step.arguments))
    keep(`the arguments of ${tool}`, 'what they must be is checked')
  for (const hint of step.hints)
    notes.push({ text: `Step ${step.id}: ${hint}`, line: null, kind: 'advice', rule: null })
  return notes
}

function phraseAfter(after: After): string {
  if (after.kind === 'step') return after.id
  const members = after.of.map((each) => (each.kind === 'step' ? each.id : `(${phraseAfter(each)})`))
  return phraseList(members, after.kind === 'all' ? 'and' : 'or')
}

function enforced(text: string, rule: string): ExplainedNote {
  return { text, line: null, kind: 'enforced', rule }
}

/** The order as the gate keeps it: a chain, the edges that `after` gives, or none. */
function flowOf(playbook: Playbook, explained: readonly ExplainedStep[]): Explanation['flow'] {
  const start: FlowNode = { id: 'p1', playbook: playbook.id, label: playbook.name, shape: 'start' }
  const nodes = explained.map(({ number, sentence }): FlowNode => {
    return { id: `p1s${number}`, playbook: playbook.id, label: `${number} ${sentence}`, shape: 'model' }
  })
  const edges = playbook.steps.flatMap((step, index): readonly FlowEdge[] => {
    const to = nodes[index]!.id
    const named =
      step.after === null
        ? []
        : stepsNamed(afterToFile(step.after), []).map(({ id }) => playbook.getStepIndex(id)!)
    const before = step.after === null && playbook.strictSequence && index > 0 ? [index - 1] : named
    const from = before.length === 0 ? [start] : before.map((position) => nodes[position]!)
    return from.map(({ id }) => ({ from: id, to, label: null, kind: 'next' }))
  })
  return { nodes: [start, ...nodes], edges }
}
