import { readBack } from '../../../src/playbook/explain/read-back.ts'
import type { KnownTool } from '../../../src/playbook/program-tool.ts'
import { readText } from '../../../src/playbook/read-text.ts'
import { parsePolicy } from '../../../src/policy/parse-policy.ts'
import type { Answer } from '../server/ask.ts'
import { findingOf, type Finding } from './finding.ts'

/** What a playbook is, read back. */
export type Reading = NonNullable<Answer<'POST /runbooks/check'>['reading']>
export type Format = 'yaml' | 'markdown' | 'json'
/** What was found in a text; the reading is null while it has errors. */
export type Checked = { readonly findings: readonly Finding[]; readonly reading: Reading | null }

/** Reads and judges a playbook in the browser, by the code that judges it when it is saved and when it runs. */
export function checkPlaybookText(text: string, format: Format, tools: readonly KnownTool[]): Checked {
  const { playbook, diagnostics } = readText(text, format, tools)
  const risks = new Map(tools.map(({ name, risk }) => [name, risk ?? 'irreversible']))
  return {
    findings: diagnostics.map(findingOf),
    reading: playbook === null ? null : (readBack(playbook, risks) as Reading),
  }
}

/** The same for a policy. */
export function checkPolicyText(text: string): readonly Finding[] {
  return parsePolicy(text, { format: 'yaml' }).diagnostics.map(findingOf)
}
