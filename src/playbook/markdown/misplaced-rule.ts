import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Json } from '../../shared/json.ts'
import type { ProgramTool } from './callables.ts'
import { type Findings, quote } from './findings.ts'
import type { AgentDraft } from './program-draft.ts'

const forbids =
  /\b(?:never|do\s+not|don't|dont|only|always|must(?:\s+not|\s+never)?|no\s+circumstances|no\s+case)\s+(?:ever\s+)?(?:call|run|use|execute)\s+`?([\p{L}_][\p{L}\p{N}_]*)/giu
const instead = 'write it below `### Notes`, in a playbook or straight below the agent'

/** Reports rules about calls that cannot be undone which stand in a description or in front matter, where nothing keeps them. */
export function reportMisplacedRules(
  drafts: readonly AgentDraft[],
  notes: Json | undefined,
  tools: ReadonlyMap<string, ProgramTool>,
  findings: Findings,
): void {
  // Most programs have no such call.
  if (![...tools.values()].some(({ risk }) => risk === 'irreversible')) return
  for (const text of drafts.flatMap(descriptionsOf)) {
    const name = forbiddenIn(text.text, tools)
    // A bullet that speaks like a note has been refused as such.
    if (name === null || findings.hasErrorAt(text)) continue
    const message = `${quote(text.text)} reads like a rule about \`${name}\`, and stands in a description, where nothing keeps it`
    findings.error('unenforced_note', { text }, message, instead)
  }
  const name = notes === undefined ? null : forbiddenIn(JSON.stringify(notes), tools)
  const heading = name === null ? undefined : drafts.flatMap(headingsOf)[0]
  if (heading === undefined) return
  const message = `\`notes\` in the front matter reads like a rule about \`${name}\`, and nothing keeps it there`
  findings.error('unenforced_note', { text: heading }, message, instead)
}

function descriptionsOf({ description, playbooks }: AgentDraft): MarkdownText[] {
  return [...description, ...playbooks.flatMap((each) => each.description)]
}

function headingsOf({ heading, playbooks }: AgentDraft): MarkdownText[] {
  return [...(heading === null ? [] : [heading]), ...playbooks.map((each) => each.heading)]
}

function forbiddenIn(text: string, tools: ReadonlyMap<string, ProgramTool>): string | null {
  for (const found of text.matchAll(forbids)) {
    if (tools.get(found[1]!)?.risk === 'irreversible') return found[1]!
  }
  return null
}
