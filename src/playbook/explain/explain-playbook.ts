import { type After, afterToFile, stepsNamed } from '../after.ts'
import type { Playbook, PlaybookRule } from '../playbook.ts'
import { type PlaybookSecret, secretsOfPlaybook } from '../playbook-secrets.ts'
import type { PlaybookStep } from '../playbook-step.ts'
import { secretHandle } from '../secret-reference.ts'
import type {
  ExplainedNote,
  ExplainedPlaybook,
  ExplainedStep,
  Explanation,
  FlowEdge,
  FlowNode,
} from './explanation.ts'
import { markCall, phraseCallStep, risksOf, rulesOfCall, toolsOfCall } from './explain-call.ts'
import type { ToolRisks } from './phrase-call.ts'
import { phraseCount, phraseList, phraseSeconds, phraseSentence } from './phrase-name.ts'

/** The turns an agent takes at most where neither the playbook nor its host says otherwise. */
const usualTurns = 50

/**
 * Says what a typed playbook or a runbook leaves to the model and what is kept: a call is made as written; any other step is a model's work
 * inside a boundary; the order, the tools and the rules are the gate's. With the risks of the tools it says what they can do.
 */
export function explainPlaybook(playbook: Playbook, risks: ToolRisks = new Map()): Explanation {
  const steps = playbook.steps.map((step, index) => explainStep(step, index, playbook, risks))
  const explained: ExplainedPlaybook = {
    id: playbook.id,
    agent: null,
    heading: playbook.name,
    entry: true,
    steps,
    notes: notesOf(playbook),
    triggers: [],
  }
  const withoutModel = playbook.steps.filter((step) => step.tool !== null).length
  const most = steps.length > 0 && withoutModel === steps.length ? 0 : (playbook.maxIterations ?? usualTurns)
  return {
    name: playbook.name,
    playbooks: [explained],
    steps: { total: steps.length, withoutModel },
    modelCalls: { most, because: [], besides: [], limit: null },
    flow: flowOf(playbook, steps),
  }
}

function explainStep(step: PlaybookStep, index: number, playbook: Playbook, risks: ToolRisks): ExplainedStep {
  const any = step.expectedTools.includes('*')
  const named = step.tool === null ? step.expectedTools.filter((tool) => tool !== '*') : toolsOfCall(step)
  const known = risksOf(named, risks)
  return {
    id: step.id,
    number: String(index + 1),
    sentence:
      step.tool === null
        ? phraseSentence(step.description === '' ? step.id : step.description)
        : phraseCallStep(step),
    text: step.description,
    line: null,
    ...(step.tool === null
      ? { mark: 'left to the model', needsModel: 'always', shape: 'model' }
      : markCall(step)),
    tools: any ? ['any tool that no step names'] : named,
    reach: 'named',
    ...(Object.keys(known).length === 0 ? {} : { risks: known }),
    ...(playbook.strictSequence ? {} : { after: numbersAfter(step.after, playbook) }),
    runs: [],
    chained: false,
    inline: false,
    steps: [],
  }
}

/** What a step comes after, by numbers: "1 and 2". */
function numbersAfter(after: After | null, playbook: Playbook): string {
  if (after === null) return 'nothing'
  if (after.kind === 'step') return String(playbook.getStepIndex(after.id)! + 1)
  const members = after.of.map((each) =>
    each.kind === 'step' ? numbersAfter(each, playbook) : `(${numbersAfter(each, playbook)})`,
  )
  return phraseList(members, after.kind === 'all' ? 'and' : 'or')
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
  return [
    ...order,
    ...playbook.rules.map(ruleNote),
    ...secretsOfPlaybook(playbook).map(secretNote),
    ...playbook.steps.flatMap(stepNotes),
    ...undoNotes(playbook),
  ]
}

/** What becomes of what was done when the run does not come to its end. */
function undoNotes({ onFailure, onCancel, steps }: Playbook): readonly ExplainedNote[] {
  if (steps.every((step) => step.tool === null) && onFailure === null && onCancel === 'stop') return []
  const undone = 'what was done is undone, the latest first, as far as it can be'
  const left = 'what was done stays as it is'
  return [
    enforced('When a required step fails', onFailure === 'compensate' ? undone : left),
    enforced('When the run is cancelled', onCancel === 'compensate' ? undone : left),
  ]
}

/** Who is given a secret, and who is not. */
function secretNote({ name, reference, givenTo }: PlaybookSecret): ExplainedNote {
  const calls = givenTo.map(({ step, tool }) => `${tool} in step ${step}`)
  return enforced(
    `The secret ${name}`,
    `${reference} is given to ${calls.length === 0 ? 'no call' : phraseList(calls, 'and')}; everybody else sees ${secretHandle(name)}`,
  )
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
  for (const [text, rule] of step.tool === null ? [] : rulesOfCall(step)) keep(text, rule)
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
  const nodes = explained.map(({ number, sentence, shape }): FlowNode => {
    const drawn = shape === 'do' || shape === 'ask' ? shape : 'model'
    return { id: `p1s${number}`, playbook: playbook.id, label: `${number} ${sentence}`, shape: drawn }
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
