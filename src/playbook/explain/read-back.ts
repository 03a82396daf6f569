import type { Json, JsonObject } from '../../shared/json.ts'
import { compileProgram } from '../compile-program.ts'
import type { Playbook, PlaybookInput } from '../playbook.ts'
import { explainPlaybook } from './explain-playbook.ts'
import { explainProgram } from './explain-program.ts'
import type { ExplainedPlaybook, ExplainedStep, Explanation, Mark } from './explanation.ts'
import type { ToolRisks } from './phrase-call.ts'
import { phraseModelCalls } from './phrase-model-calls.ts'

/** A step as a drawing shows it. */
export interface FlowStep {
  readonly id: string
  readonly name: string
  /** `call`, `act`, or the kind of a program's bullet. */
  readonly kind: string
  /** The steps that lead to it, by their ids; ways back in a loop are left out. */
  readonly after: string[]
  readonly depth: number
  readonly tools: string[]
  readonly mark: Mark
  readonly says: string
  readonly required: boolean
}

/** What a playbook is, for forms, drawings and readers. */
export interface ReadBack {
  readonly name: string
  readonly description: string
  /** A JSON Schema of the inputs. */
  readonly inputs: JsonObject
  readonly tools: string[]
  readonly needsModel: boolean
  /** Whether it asks a person something on the way; approvals are no conversation. */
  readonly conversation: boolean
  readonly flow: FlowStep[]
  /** In plain sentences. */
  readonly says: string[]
}

/** Reads a playbook back, in whichever form it was written. */
export function readBack(playbook: Playbook, risks: ToolRisks = new Map()): ReadBack {
  const { program } = playbook
  const explanation = program === null ? explainPlaybook(playbook, risks) : explainProgram(program, risks)
  const kinds = program === null ? null : compileProgram(program)
  const kindOf = (id: string): string => {
    if (kinds === null) return playbook.getStep(id)?.tool == null ? 'act' : 'call'
    const step = kinds.steps.get(id)
    return step === undefined || !('kind' in step) ? 'if' : step.kind
  }
  const flow = flowSteps(explanation, (step) => ({
    kind: kindOf(step.id),
    required: playbook.getStep(step.id)?.required ?? false,
    name: program === null ? step.id : step.text,
  }))
  const own = new Set<string>(kinds?.ownCalls)
  const named = playbook.steps.flatMap(({ expectedTools, tool }) =>
    tool === null ? expectedTools : [tool, ...expectedTools],
  )
  const { total, withoutModel } = explanation.steps
  return {
    name: playbook.name,
    description: playbook.description,
    inputs: inputSchema(playbook.inputs),
    tools: [...new Set(named.filter((tool) => tool !== '*' && !own.has(tool)))],
    needsModel: withoutModel < total,
    conversation: program !== null && explanation.playbooks.some(({ steps }) => steps.some(asks)),
    flow,
    says: sentencesOf(explanation),
  }
}

/** What a run may be given, as a JSON Schema. */
export function inputSchema(inputs: Playbook['inputs']): JsonObject {
  const entries = Object.entries(inputs)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, input]) => [name, schemaOf(input)])),
    required: entries.flatMap(([name, { required }]) => (required ? [name] : [])),
    additionalProperties: false,
  }
}

function schemaOf({ type, description, schema, default: value, enum: words }: PlaybookInput): JsonObject {
  return {
    ...(type === 'any' ? {} : { type }),
    ...(typeof schema === 'object' ? (schema as JsonObject) : {}),
    ...(description === undefined ? {} : { description }),
    ...(words === undefined ? {} : { enum: words as Json }),
    ...(value === undefined ? {} : { default: value }),
  }
}

function flowSteps(
  { playbooks, flow }: Explanation,
  about: (step: ExplainedStep) => Pick<FlowStep, 'kind' | 'required' | 'name'>,
): FlowStep[] {
  const steps = playbooks.flatMap((playbook) =>
    inOrder(playbook.steps, 0).map(({ step, depth }) => ({ step, depth, playbook: playbook.id })),
  )
  // A place in the drawing is labelled with the number of its bullet, of which each playbook has one.
  const places = new Map(
    flow.nodes.map(({ id, playbook, label }) => [`${playbook}\n${label.split(' ', 1)[0]}`, id]),
  )
  const placed = steps.flatMap(({ step, depth, playbook }) => {
    const node = places.get(`${playbook}\n${step.number}`)
    return node === undefined ? [] : [{ step, depth, node }]
  })
  const position = new Map(placed.map(({ node }, index) => [node, index]))
  // By where they lead, once: looking through all of them for each step would take the square of the playbook.
  const waysTo = Map.groupBy(
    flow.edges.filter(({ kind }) => kind === 'next'),
    ({ to }) => to,
  )
  return placed.map(({ step, depth, node }, index) => ({
    id: step.id,
    ...about(step),
    after: [
      ...new Set(
        (waysTo.get(node) ?? []).flatMap(({ from }) => {
          const before = position.get(from)
          return before !== undefined && before < index ? [placed[before]!.step.id] : []
        }),
      ),
    ],
    depth,
    tools: [...step.tools],
    mark: step.mark,
    says: step.sentence,
  }))
}

function inOrder(
  steps: readonly ExplainedStep[],
  depth: number,
): readonly { readonly step: ExplainedStep; readonly depth: number }[] {
  return steps.flatMap((step) => [{ step, depth }, ...inOrder(step.steps, depth + 1)])
}

function asks({ shape, steps }: ExplainedStep): boolean {
  return shape === 'ask' || steps.some(asks)
}

function sentencesOf({ playbooks, steps, modelCalls }: Explanation): string[] {
  const titled = playbooks.length > 1
  const { total, withoutModel } = steps
  const counted = total === 0 ? 'There are no steps.' : `${withoutModel} of ${total} steps need no model.`
  return [
    ...playbooks.flatMap((playbook) => [
      ...(titled ? [`${playbook.heading}:`] : []),
      ...inOrder(playbook.steps, 0).map(({ step }) => sentenceOf(step)),
    ]),
    counted,
    ...playbooks.flatMap(notesOf),
    ...phraseModelCalls(modelCalls).map((line) => line.trim()),
  ]
}

function sentenceOf({ number, sentence, mark, tools }: ExplainedStep): string {
  const given = mark === 'left to the model' && tools.length > 0 ? `, with ${tools.join(', ')}` : ''
  return `${number} ${sentence} (${mark}${given})`
}

function notesOf({ notes, triggers }: ExplainedPlaybook): string[] {
  return [
    ...notes.map(({ kind, text, rule }) =>
      rule === null ? `Advice: ${text}` : `${kind === 'enforced' ? 'Enforced' : 'Advice'}: ${text} (${rule})`,
    ),
    ...triggers.map(({ text, fires }) => `Begins by itself: "${text}": ${fires}`),
  ]
}
