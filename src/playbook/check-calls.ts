import type { DocumentPath } from '../document/diagnostic.ts'
import type { ExpressionReference } from '../expression/compile-expression.ts'
import type { Json } from '../shared/json.ts'
import { type CheckContext, stepPath } from './check-context.ts'
import { checkReferences, type Names, reportErrors } from './check-references.ts'
import { checkPlacedSecrets, checkSecrets } from './check-secrets.ts'
import { type CallScope, compileInput, type PlacedTemplate } from './compile-input.ts'
import { equalJson } from './freeze.ts'
import type { StepDraft } from './playbook-draft.ts'
import { type InputFile, stepDefaults } from './playbook-schema.ts'

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
  const { draft } = context
  const secrets = new Set<string>()
  for (const step of draft.steps) {
    if (step.broken('tool')) continue
    checkKind(step, context)
    if (step.tool === null) continue
    checkRoles(step, context)
    checkTemplates(step, context, names, secrets)
  }
  checkSecrets(context, secrets)
  if (!context.alone && !draft.broken('steps')) checkUndoing(context)
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

/** A role that nobody can have would hold the call for ever. */
function checkRoles(step: StepDraft, { report, wording }: CheckContext): void {
  if (step.broken('required_roles')) return
  const seen = new Set<string>()
  step.required_roles.forEach((role, index) => {
    const path = stepPath(step, 'required_roles', index)
    const place = wording.place(path)
    if (role.trim() !== role || role === '') {
      const what = role === '' ? 'an empty text' : `"${role}", with space around it`
      report('invalid_name', path, `${place} names ${what}: nobody has such a role`)
    } else if (seen.has(role)) report('duplicate_item', path, `${place} names \`${role}\` twice`)
    seen.add(role)
  })
}

/** Undoing needs somebody to say how. */
function checkUndoing({ draft, report, wording }: CheckContext): void {
  if (draft.steps.some((step) => step.compensate !== null || step.broken('compensate'))) return
  for (const key of ['on_failure', 'on_cancel'] as const) {
    if (draft[key] !== 'compensate') continue
    const message = `${wording.key(key)} is compensate, but no step has ${wording.key('compensate')}: only calls whose tools say what undoes them are undone`
    report('no_effect', [key], message, {
      severity: 'warning',
      at: 'key',
      suggestion: `give the steps ${wording.key('compensate')}, or remove it`,
    })
  }
}

function checkTemplates(step: StepDraft, context: CheckContext, names: Names, secrets: Set<string>): void {
  const { foreach, verify, compensate } = step
  const check = (value: Json, scope: CallScope, ...keys: readonly string[]) =>
    checkInput(value, scope, step, stepPath(step, ...keys), context, names, secrets)
  if (!step.broken('input')) check(step.input, 'input', 'input')
  if (verify !== null && !step.broken('verify')) check(verify.input, 'after', 'verify', 'input')
  if (compensate !== null && !step.broken('compensate')) {
    check(compensate.input, 'after', 'compensate', 'input')
  }
  if (foreach === null || step.broken('foreach')) return
  const templates = check(foreach, 'foreach', 'foreach')
  if (templates !== null) checkList(step, foreach, templates, context)
}

/** Reports what is wrong with the texts of an input; the templates in it, or null if one could not be read. */
function checkInput(
  value: Json,
  scope: CallScope,
  step: StepDraft,
  path: DocumentPath,
  context: CheckContext,
  names: Names,
  secrets: Set<string>,
): readonly PlacedTemplate[] | null {
  const reader = (at: DocumentPath, source: string) =>
    ({ path: [...path, ...at], source, step, needs: 'all' }) as const
  const { input, misspelt } = compileInput(value, scope)
  for (const { path: at, source, errors } of misspelt) {
    const suggestion = 'a brace that is no placeholder is written twice: {{ or }}'
    reportErrors(errors, reader(at, source), names, context, suggestion)
  }
  for (const { path: at, template } of input.templates) {
    checkReferences(template.references, reader(at, template.source), names, context)
    for (const reference of template.references) checkWhole(reference, [...path, ...at], context)
  }
  checkPlacedSecrets(input.secrets, path, context, names, secrets)
  return misspelt.length > 0 ? null : input.templates
}

/** What a call goes through is a list: one placeholder, and not an input of another type. */
function checkList(
  step: StepDraft,
  source: string,
  templates: readonly PlacedTemplate[],
  { draft, report, wording }: CheckContext,
): void {
  const path = stepPath(step, 'foreach')
  if (templates.length !== 1 || templates[0]!.template.parts.length !== 1) {
    report(
      'invalid_expression',
      path,
      `${wording.place(path)} must be one placeholder whose value is a list`,
      {
        suggestion: 'write it in braces, with nothing around it: "{inputs.nodes}"',
      },
    )
    return
  }
  const name = /^\{\s*inputs\.([A-Za-z_]\w*)\s*\}$/.exec(source)?.[1]
  if (name === undefined || draft.broken('inputs') || !Object.hasOwn(draft.inputs, name)) return
  const declared: InputFile = draft.inputs[name]!
  const type = typeof declared === 'string' ? declared : declared.type
  if (type === 'array' || type === 'any') return
  const message = `${wording.place(path)} goes through \`inputs.${name}\`, which is declared as ${type}, not as a list`
  report('wrong_type', path, message, { suggestion: `declare \`${name}\` as array` })
}

/** A template needs a value, and a step as a whole is none. */
function checkWhole(
  { name, path, start, end }: ExpressionReference,
  place: DocumentPath,
  { report, wording }: CheckContext,
): void {
  if (name !== 'steps' || path.length >= 2) return
  const message = `${wording.place(place)} uses all of \`${['steps', ...path].join('.')}\`; a step has \`output\`, \`status\`, \`result\` and \`calls\``
  report('invalid_expression', place, message, { range: { start, end } })
}
