import { parsePlaybook } from '../../../src/playbook/parse-playbook.ts'
import { parseProgram } from '../../../src/playbook/markdown/parse-program.ts'
import { readBack } from '../../../src/playbook/explain/read-back.ts'
import { programPlaybook } from '../../../src/playbook/program-playbook.ts'
import { programTool, type KnownTool } from '../../../src/playbook/program-tool.ts'
import type { Playbook } from '../../../src/playbook/playbook.ts'
import { parsePolicy } from '../../../src/policy/parse-policy.ts'
import type { Diagnostic } from '../../../src/document/diagnostic.ts'
import type { Answer } from '../server/ask.ts'
import { findingOf, type Finding } from './finding.ts'

/** What a playbook is, read back. */
export type Reading = NonNullable<Answer<'POST /runbooks/check'>['reading']>
export type Format = 'yaml' | 'markdown' | 'json'
/** What was found in a text; the reading is null while it has errors. */
export type Checked = { readonly findings: readonly Finding[]; readonly reading: Reading | null }

/** Reads and judges a playbook in the browser, by the code that judges it when it is saved and when it runs. */
export function checkPlaybookText(text: string, format: Format, tools: readonly KnownTool[]): Checked {
  const { playbook, diagnostics } = read(text, format, tools)
  const risks = new Map(tools.map(({ name, risk }) => [name, risk ?? 'irreversible']))
  return {
    findings: diagnostics.map(findingOf),
    reading: playbook === null ? null : (readBack(playbook, risks) as Reading),
  }
}

function read(
  text: string,
  format: Format,
  tools: readonly KnownTool[],
): { readonly playbook: Playbook | null; readonly diagnostics: readonly Diagnostic[] } {
  if (format !== 'markdown') {
    const facts = new Map(tools.map((tool) => [tool.name, tool]))
    return parsePlaybook(text, { format, facts, ...(tools.length === 0 ? {} : { tools: [...facts.keys()] }) })
  }
  const { program, diagnostics } = parseProgram([{ file: 'playbook.md', text }], {
    tools: tools.map(programTool),
    resolveImport: () => ({ problem: 'a playbook in the library imports no files' }),
  })
  return { playbook: program === null ? null : programPlaybook(program, 'playbook'), diagnostics }
}

/** The same for a policy. */
export function checkPolicyText(text: string): readonly Finding[] {
  return parsePolicy(text, { format: 'yaml' }).diagnostics.map(findingOf)
}
