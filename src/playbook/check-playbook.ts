/**
 * Every check of a playbook, in one pass: a part that cannot be understood is reported and left out, and the rest is
 * judged all the same.
 */
import type { Diagnostic } from '../document/diagnostic.ts'
import { type Problem, reportInto } from '../document/problem.ts'
import { readValue } from '../document/read-value.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import type { Json } from '../shared/json.ts'
import { checkKeys } from './check-keys.ts'
import { checkShape } from './check-shape.ts'
import {
  type CheckedPlaybookFile,
  type CheckedStepFile,
  playbookSchema,
  stepSchema,
} from './playbook-schema.ts'
import { draftPlaybook } from './playbook-draft.ts'
import { writeOutPlaybook, writeOutStep } from './write-out.ts'
import { type Spelling, Wording } from './wording.ts'

/** What a check may know besides the playbook. */
export type CheckOptions = {
  /** The tools that exist; when given, a step may expect no others. */
  readonly tools?: readonly string[]
}

/** Judges a playbook in the spelling of files; the file is null when there are errors. */
export function checkPlaybook(
  value: Json,
  options: CheckOptions & { readonly spelling?: Spelling } = {},
): { file: CheckedPlaybookFile | null; problems: readonly Problem[] } {
  const { spelling = 'file' } = options
  const problems: Problem[] = []
  const report = reportInto(problems)
  const wording = new Wording(value, spelling)
  const known = checkKeys(value, playbookSchema, { spelling, report, wording })
  const broken = checkShape(known, playbookSchema, { report, wording })
  const draft = draftPlaybook(known, broken)
  const failed = draft === null || problems.some((problem) => problem.severity === 'error')
  return {
    file: failed ? null : draft,
    problems: problems.map((problem) => ({ ...problem, path: wording.path(problem.path) })),
  }
}

/** Judges a playbook built in code; `replace` stands plain values in for instances. */
export function checkPlaybookDefinition(
  definition: unknown,
  replace: (value: object) => unknown,
  options: CheckOptions = {},
): { file: CheckedPlaybookFile | null; diagnostics: readonly Diagnostic[] } {
  const problems: Problem[] = []
  const value = readValue(definition, reportInto(problems), replace)
  const checked = checkPlaybook(writeOutPlaybook(value ?? null), { ...options, spelling: 'code' })
  problems.push(...checked.problems)
  const failed = problems.some((problem) => problem.severity === 'error')
  return {
    file: failed ? null : checked.file,
    diagnostics: problems.map((problem) => diagnosticWithoutPlace(problem)),
  }
}

/** Judges a step built in code on its own: what depends on its playbook is judged with the playbook. */
export function checkStepDefinition(definition: unknown): {
  file: CheckedStepFile | null
  diagnostics: readonly Diagnostic[]
} {
  const problems: Problem[] = []
  const report = reportInto(problems)
  const value = writeOutStep(readValue(definition, report) ?? null)
  const wording = new Wording(value, 'code', 'step')
  const known = checkKeys(value, stepSchema, { spelling: 'code', report, wording })
  const broken = checkShape(known, stepSchema, { report, wording })
  const failed = broken.length > 0 || problems.length > 0
  return {
    file: failed ? null : stepSchema.parse(known),
    diagnostics: problems.map((problem) =>
      diagnosticWithoutPlace({ ...problem, path: wording.path(problem.path) }),
    ),
  }
}
