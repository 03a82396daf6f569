import { compileProgram, type CompiledNoteRule, targetName } from './compile-program.ts'
import { CheckedPlaybook, Playbook, type PlaybookInput } from './playbook.ts'
import { playbookSchema } from './playbook-schema.ts'
import type {
  Arm,
  Call,
  Computation,
  Condition,
  Parameter,
  Program,
  Step,
  ValueType,
  Words,
} from './program.ts'

const inputTypes: Readonly<Record<ValueType, PlaybookInput['type']>> = {
  any: 'any',
  str: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  list: 'array',
  dict: 'object',
}

/**
 * The playbook of a program: each bullet is a step of it, in the order of the text, so that the gate, the limits, the plan and the
 * record are those of every playbook. Which step is due, the program decides and nobody else. The parameters of the playbook that
 * begins are the inputs.
 */
export function programPlaybook(program: Program, id: string): Playbook {
  const compiled = compileProgram(program)
  const file = playbookSchema.parse({
    id,
    name: program.name,
    strict_sequence: false,
    max_iterations: program.maxModelCalls,
    steps: [...compiled.steps.values()].map((step) => ({
      id: step.id,
      description: step.text,
      expected_tools: toolsOf(step),
      required: false,
      complete_when: 'declared',
      max_tool_calls: 'kind' in step ? capOf(step) : null,
    })),
    rules: rulesOf(compiled.noteRules),
  })
  const parameters = compiled.entries[0]?.parameters ?? []
  return new Playbook(new CheckedPlaybook(file, program, inputsOf(parameters)))
}

/** The rules about other calls. Those of an agent's own notes stand in each of its playbooks, and once is enough. */
function rulesOf(rules: readonly CompiledNoteRule[]) {
  const all = rules.flatMap(({ rule: { before, require }, text }) => {
    if (require.kind === 'holds') return []
    const other = targetName(require.call)
    // What may have had an effect counts; a playbook that is still at work is not over.
    const not = require.call.kind === 'tool' ? `count("${other}") == 0` : `not succeeded("${other}")`
    const condition = require.kind === 'succeeded' ? `succeeded("${other}")` : not
    return [{ tool: targetName(before), require: condition, message: text.replace(/\.+$/, '') }]
  })
  return [...new Map(all.map((rule) => [JSON.stringify(rule), rule])).values()]
}

function inputsOf(parameters: readonly Parameter[]): { readonly [name: string]: PlaybookInput } {
  return Object.fromEntries(
    parameters.map((parameter) => [
      parameter.name,
      {
        type: inputTypes[parameter.type],
        required: parameter.default === undefined,
        ...(parameter.default === undefined ? {} : { default: parameter.default }),
      },
    ]),
  )
}

/** The tools and playbooks that a bullet may call. */
export function toolsOf(step: Step | Arm): readonly string[] {
  if (!('kind' in step)) return namesIn(conditionCalls(step.condition))
  if (step.kind === 'act') return step.tools
  return namesIn(callsOf(step))
}

function callsOf(step: Step): readonly Call[] {
  switch (step.kind) {
    case 'set':
    case 'call':
      return step.value.calls
    case 'say':
      return wordsCalls(step.words)
    case 'ask':
      return [...wordsCalls(step.words), ...conditionCalls(step.until)]
    case 'loop':
    case 'require':
      return conditionCalls(step.condition)
    case 'each':
      return step.over.calls
    case 'return':
      return computationCalls(step.value)
    default:
      return []
  }
}

/** A loop computes its condition again and again; every other bullet makes each of its calls once a visit. */
function capOf(step: Step): number | null {
  if (step.kind === 'act') return step.maxCalls
  return step.kind === 'loop' || step.kind === 'ask' ? null : callsOf(step).length
}

function computationCalls(value: Computation | null): readonly Call[] {
  return value?.calls ?? []
}

function conditionCalls(condition: Condition | null): readonly Call[] {
  if (condition === null) return []
  return computationCalls(condition.kind === 'computed' ? condition.value : (condition.known?.value ?? null))
}

function wordsCalls(words: Words | null): readonly Call[] {
  return words?.kind === 'literal' ? words.value.calls : []
}

function namesIn(calls: readonly Call[]): readonly string[] {
  return [...new Set(calls.map(({ target }) => targetName(target)))]
}
