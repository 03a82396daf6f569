import type { Diagnostic } from '../document/diagnostic.ts'
import { type DocumentFormat, parseDocument } from '../document/parse-document.ts'
import { type Problem, reportInto } from '../document/problem.ts'
import type { SourceDocument } from '../document/source-document.ts'
import { checkShape } from '../playbook/check-shape.ts'
import { checkPolicyKeys } from './check-policy-keys.ts'
import { factsSchema, type FactsFile } from './policy-case-schema.ts'
import { PolicyWording } from './policy-wording.ts'

/** Reads facts as people write them; problems are values with places, nothing is thrown. */
export function parseFacts(
  text: string,
  options: { readonly format: DocumentFormat; readonly file?: string | null },
): { facts: FactsFile | null; diagnostics: readonly Diagnostic[]; document: SourceDocument } {
  const { document, diagnostics } = parseDocument(text, options)
  const value = document.value()
  if (value === undefined) return { facts: null, diagnostics, document }
  const problems: Problem[] = []
  const context = { report: reportInto(problems), wording: new PolicyWording(value, 'the facts') }
  const known = checkPolicyKeys(value, factsSchema, context)
  checkShape(known, factsSchema, context)
  const all = [...diagnostics, ...problems.map((problem) => document.locate(problem))]
  return { facts: all.length === 0 ? factsSchema.parse(known) : null, diagnostics: all, document }
}
