import type { DocumentPath } from '../document/diagnostic.ts'
import type { ExpressionReference } from '../expression/compile-expression.ts'
import type { Json } from '../shared/json.ts'
import { type CheckContext, stepPath } from './check-context.ts'
import { checkNames, type Names } from './check-conditions.ts'
import { type CallScope, compileInput } from './compile-input.ts'
import { equalJson } from './freeze.ts'
import type { StepDraft } from './playbook-draft.ts'
import { stepDefaults } from './playbook-schema.ts'

/** What only a model works with: in a step that is a call it would say nothing. */
const forModels = ['expected_tools', 'hints', 'max_tool_calls', 'complete_when', 'disclosure'] as const
/** What only a call has. */
const forCalls = [
  'input',
  'requires_approval',
  'required_roles',
  'compensate',
  'retry',
  'verify',
  'foreach',
  'concurrency',
] as const

/** Reports what is wrong with the calls that steps are: keys that do not go together, and placeholders that cannot be filled in. */
export function checkCalls(context: CheckContext, names: Names): void {
  for (const step of context.draft.steps) {
    if (step.broken('tool')) continue
    checkKind(step, context)
    if (step.tool !== null) checkTemplates(step, context, names)
  }
}

/** A step is a call, or a model works on it. */
function checkKind(step: StepDraft, { report, wording }: CheckContext): void {
  const wrong = step.tool === null ? forCalls : forModels
  for (const key of wrong) {
    if (step.broken(key) || equalJson(step[key] as Json, stepDefaults[key])) continue
    const message =
      step.tool === null
        ? `${wording.step(step.index)} has ${wording.key(key)}, but no ${wording.key('tool')} that is called`
        : `${wording.step(step.index)} is a call of \`${step.tool}\`, so ${wording.key(key)} has no meaning in it`
    const suggestion =
      step.tool === null
        ? `name the tool with ${wording.key('tool')}, or remove it`
        : `remove ${wording.key(key)}, or ${wording.key('tool')} if a model is to work on the step`
    report('conflicting_keys', stepPath(step, key), message, { at: 'key', suggestion })
  }
  if (step.tool !== null && step.foreach === null && step.concurrency > 1) {
    const message = `${wording.key('concurrency')} of ${wording.step(step.index)} has no effect without ${wording.key('foreach')}`
    report('no_effect', stepPath(step, 'concurrency'), message, { severity: 'warning', at: 'key' })
  }
}

function checkTemplates(step: StepDraft, context: CheckContext, names: Names): void {
  const { foreach, verify, compensate } = step
  const inside = foreach !== null
  const check = (value: Json, scope: CallScope, path: DocumentPath) =>
    checkInput(value, scope, path, inside, context, names)
  if (!step.broken('input')) check(step.input, 'input', stepPath(step, 'input'))
  if (foreach !== null && !step.broken('foreach')) check(foreach, 'foreach', stepPath(step, 'foreach'))
  if (verify !== null && !step.broken('verify')) {
    check(verify.input, 'after', stepPath(step, 'verify', 'input'))
  }
  if (compensate !== null && !step.broken('compensate')) {
    check(compensate.input, 'after', stepPath(step, 'compensate', 'input'))
  }
}

function checkInput(
  value: Json,
  scope: CallScope,
  path: DocumentPath,
  inside: boolean,
  context: CheckContext,
  names: Names,
): void {
  const { report, wording } = context
  const { input, misspelt } = compileInput(value, scope)
  for (const { path: at, errors } of misspelt) {
    const place = [...path, ...at]
    for (const error of errors) {
      report('invalid_expression', place, `${wording.place(place)}: ${error.message}`, {
        range: { start: error.start, end: error.end },
        suggestion: 'a brace that is no placeholder is written twice: {{ or }}',
      })
    }
  }
  for (const { path: at, template } of input.templates) {
    const place = [...path, ...at]
    checkNames(template.references, place, names, context)
    for (const reference of template.references) checkReference(reference, place, inside, context)
  }
  if (scope === 'foreach' && misspelt.length === 0 && input.templates.length === 0) {
    report('invalid_expression', path, `${wording.place(path)} must be a placeholder whose value is a list`, {
      suggestion: 'write it in braces: "{inputs.nodes}"',
    })
  }
}

function checkReference(
  { name, path, start, end }: ExpressionReference,
  place: DocumentPath,
  inside: boolean,
  { report, wording }: CheckContext,
): void {
  const range = { start, end }
  const owner = wording.place(place)
  if ((name === 'item' || name === 'index') && !inside) {
    const message = `${owner} uses \`${name}\`, which there is only with ${wording.key('foreach')}`
    report('invalid_expression', place, message, { range })
  }
  if (name === 'steps' && path.length < 2) {
    const message = `${owner} uses all of \`${['steps', ...path].join('.')}\`; a step has \`output\`, \`status\`, \`result\` and \`calls\``
    report('invalid_expression', place, message, { range })
  }
}
