import type { Diagnostic } from '../document/diagnostic.ts'
import { type DocumentFormat, parseDocument } from '../document/parse-document.ts'
import { type Problem, reportInto } from '../document/problem.ts'
import type { SourceDocument } from '../document/source-document.ts'
import { checkShape } from '../playbook/check-shape.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { isJsonObject, type Json } from '../shared/json.ts'
import { checkPolicyKeys } from './check-policy-keys.ts'
import type { CompiledPolicy } from './compile-policy.ts'
import type { PolicyDecision } from './decision.ts'
import { explain, type Explanation } from './explain.ts'
import { policyCasesSchema, type PolicyCasesFile } from './policy-case-schema.ts'
import type { PolicyRequest } from './policy-request.ts'
import { PolicyWording } from './policy-wording.ts'
import { readFacts } from './read-facts.ts'

/** What came of reading a file of cases. */
export interface ParsedCases {
  readonly cases: PolicyCasesFile | null
  readonly diagnostics: readonly Diagnostic[]
  readonly document: SourceDocument
}

/** How one case came out: what differs from what was expected, in words, and why it came out so. */
export interface CaseResult {
  readonly name: string
  readonly differences: readonly string[]
  readonly explanation: Explanation
}

/** Reads the text of a file of cases; problems are values with places, nothing is thrown. */
export function parsePolicyCases(
  text: string,
  options: { readonly format: DocumentFormat; readonly file?: string | null },
): ParsedCases {
  const { document, diagnostics } = parseDocument(text, options)
  const value = document.value()
  if (value === undefined) return { cases: null, diagnostics, document }
  const problems: Problem[] = []
  const context = { report: reportInto(problems), wording: new PolicyWording(value, 'the file of cases') }
  const known = checkPolicyKeys(value, policyCasesSchema, context)
  checkShape(known, policyCasesSchema, context)
  const all = [...diagnostics, ...problems.map((problem) => document.locate(problem))]
  return { cases: all.length === 0 ? policyCasesSchema.parse(known) : null, diagnostics: all, document }
}

/** Decides one case and compares. Never throws. */
export function runPolicyCase(
  file: Pick<PolicyCasesFile, 'defaults'>,
  given: PolicyCasesFile['cases'][number],
  policies: readonly CompiledPolicy[],
): CaseResult {
  const asked = { ...file.defaults.request, ...given.request }
  const request: PolicyRequest = {
    tool: asked.tool ?? '',
    args: asked.args === undefined ? {} : asked.args,
    step: asked.step ?? null,
    risk: asked.risk,
    target: asked.target ?? null,
  }
  const facts = readFacts({ ...file.defaults.facts, ...given.facts }, request, policies)
  const explanation = explain(policies, request, facts)
  return { name: given.name, differences: compare(given.expect, explanation.decision), explanation }
}

function compare(
  expected: PolicyCasesFile['cases'][number]['expect'],
  decision: PolicyDecision,
): readonly string[] {
  const differences: string[] = []
  const expectSame = (what: string, wanted: string | null | undefined, got: string | null) => {
    if (wanted !== undefined && wanted !== got)
      differences.push(`${what}: expected ${wanted ?? 'none'}, got ${got ?? 'none'}`)
  }
  expectSame('verdict', expected.verdict, decision.verdict)
  expectSame('code', expected.code, decision.code)
  expectSame('rule', expected.rule, decision.rule)
  expectSame('policy', expected.policy, decision.policy?.id ?? null)
  if (expected.reason !== undefined && !decision.reason.includes(expected.reason)) {
    differences.push(`reason: expected "…${expected.reason}…", got "${decision.reason}"`)
  }
  if (expected.lifted !== undefined) {
    const lifted = decision.breakGlass?.lifted.map(({ rule }) => rule) ?? []
    expectSame('lifted', expected.lifted.join(', '), lifted.join(', '))
  }
  if (expected.approval !== undefined) {
    const got = decision.approval as readonly Json[]
    const fits =
      got.length === expected.approval.length &&
      expected.approval.every((each, index) => isPart(each, got[index]!))
    if (!fits)
      differences.push(`approval: expected ${canonicalJson(expected.approval)}, got ${canonicalJson(got)}`)
  }
  return differences
}

/** Says whether everything that is expected of a mapping is there. */
function isPart(expected: Json, got: Json): boolean {
  if (!isJsonObject(expected) || !isJsonObject(got)) return canonicalJson(expected) === canonicalJson(got)
  return Object.entries(expected).every(([key, value]) => Object.hasOwn(got, key) && isPart(value, got[key]!))
}
