/**
 * Every check of a playbook, in one pass: a part that cannot be understood is reported and left out, and the rest is
 * judged all the same.
 */
import type { Diagnostic } from '../document/diagnostic.ts'
import { type Problem, reportInto } from '../document/problem.ts'
import { readValue } from '../document/read-value.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { isJsonObject, type Json } from '../shared/json.ts'
import { checkCalls } from './check-calls.ts'
import { checkConditions } from './check-conditions.ts'
import { checkCallTools } from './check-call-tools.ts'
import { type CheckContext, createSuggester, type ToolFacts } from './check-context.ts'
import { checkDispatchers } from './check-dispatchers.ts'
import { checkInputs } from './check-inputs.ts'
import { checkKeys } from './check-keys.ts'
import { checkOrder } from './check-order.ts'
import { knownNames } from './check-references.ts'
import { checkSchemas } from './check-schemas.ts'
import { checkShape } from './check-shape.ts'
import { checkSpelling } from './check-spelling.ts'
import { checkSteps } from './check-steps.ts'
import { checkTools } from './check-tools.ts'
import { draftPlaybook } from './playbook-draft.ts'
import { type CheckedPlaybookFile, type CheckedStepFile, playbookSchema } from './playbook-schema.ts'
import { spellRunbook } from './spell-runbook.ts'
import { type Spelling, Wording } from './wording.ts'
import { writeOutPlaybook, writeOutStep } from './write-out.ts'

/** What a check may know besides the playbook. */
export type CheckOptions = {
  /** The tools that exist; when given, a step may expect no others. */
  readonly tools?: readonly string[] | undefined
  /** What is known of tools, by their names; those not in it are not judged. */
  readonly facts?: ReadonlyMap<string, ToolFacts> | undefined
  /** Tools that do whatever their arguments say, besides those whose name says so. */
  readonly dispatchers?: readonly string[] | undefined
}

const checks: readonly ((context: CheckContext) => void)[] = [
  checkSteps,
  checkOrder,
  checkInputs,
  checkTools,
  checkDispatchers,
  checkSchemas,
]

/** Judges a playbook; the file is null when there are errors. Never throws. */
export function checkPlaybook(
  value: Json,
  options: CheckOptions & { readonly spelling?: Spelling; readonly alone?: boolean } = {},
): { file: CheckedPlaybookFile | null; problems: readonly Problem[] } {
  const { spelling = 'file', alone = false, tools, dispatchers = [], facts = new Map() } = options
  const misspelt: Problem[] = []
  checkSpelling(value, spelling, reportInto(misspelt))
  const problems: Problem[] = []
  const report = reportInto(problems)
  const spelt = spellRunbook(value, spelling)
  const wording = new Wording(spelt.value, spelling)
  const known = checkKeys(spelt.value, playbookSchema, { spelling, report, wording })
  const draft = draftPlaybook(known, checkShape(known, playbookSchema, { report, wording }))
  if (draft !== null) {
    const context: CheckContext = {
      draft,
      report,
      wording,
      alone,
      tools: tools === undefined ? null : new Set(tools),
      facts,
      nameOf: (index) => nameOf(spelt.placed[index]?.step),
      dispatchers: new Set(dispatchers),
      didYouMean: createSuggester(),
    }
    for (const check of checks) check(context)
    const names = knownNames(context)
    checkConditions(context, names)
    checkCalls(context, names)
    checkCallTools(context)
  }
  const located = problems.map((problem) => ({ ...problem, path: spelt.placeOf(wording.path(problem.path)) }))
  const all = [...misspelt, ...located]
  return { file: all.some((problem) => problem.severity === 'error') ? null : draft, problems: all }
}

/** The name that stands for an id. */
function nameOf(step: Json | undefined): string | null {
  if (step === undefined || !isJsonObject(step) || step['id'] !== undefined) return null
  return typeof step['name'] === 'string' ? step['name'] : null
}

/** Judges a playbook built in code; `replace` stands plain values in for instances. */
export function checkPlaybookDefinition(
  definition: unknown,
  replace: (value: object) => unknown,
): { file: CheckedPlaybookFile | null; diagnostics: readonly Diagnostic[] } {
  const unreadable: Problem[] = []
  const value = readValue(definition, reportInto(unreadable), replace)
  const { file, problems } = checkPlaybook(writeOutPlaybook(value ?? null), { spelling: 'code' })
  return {
    file: unreadable.length > 0 ? null : file,
    diagnostics: [...unreadable, ...problems].map((problem) => diagnosticWithoutPlace(problem)),
  }
}

/** Judges a step built in code on its own: what depends on its playbook is judged with the playbook. */
export function checkStepDefinition(definition: unknown): {
  file: CheckedStepFile | null
  diagnostics: readonly Diagnostic[]
} {
  const unreadable: Problem[] = []
  const step = writeOutStep(readValue(definition, reportInto(unreadable)) ?? null)
  const playbook = { id: 'alone', name: 'alone', steps: [step] }
  const { file, problems } = checkPlaybook(playbook, { spelling: 'code', alone: true })
  const inside = problems.map((problem) => ({ ...problem, path: problem.path.slice(2) }))
  return {
    file: unreadable.length > 0 ? null : (file?.steps[0] ?? null),
    diagnostics: [...unreadable, ...inside].map((problem) => diagnosticWithoutPlace(problem)),
  }
}
