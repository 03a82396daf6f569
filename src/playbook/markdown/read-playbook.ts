import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Note, Procedure } from '../program.ts'
import { readDescription } from './description.ts'
import { Findings } from './findings.ts'
import type { HostFunction } from './host-function.ts'
import { readNotes } from './notes.ts'
import type { PlaybookDraft } from './program-draft.ts'
import { readSteps } from './read-steps.ts'
import type { StepContext } from './step-context.ts'
import { plainTrigger, readTrigger } from './triggers.ts'

/** Reads one playbook: its steps, triggers and notes. */
export function buildProcedure(
  draft: PlaybookDraft,
  id: string,
  context: StepContext,
  agentNotes: readonly MarkdownText[] = [],
): Procedure {
  const asked = draft.metadata['execution_mode']
  const mode = asked === 'raw' || asked === 'react' ? asked : draft.steps === null ? 'react' : 'steps'
  if (draft.steps !== null && draft.steps.length === 0) {
    context.findings.warn(
      'no_effect',
      { text: draft.heading },
      `\`${draft.signature.name}\` has no steps`,
      'write bullets below `### Steps`',
    )
  }
  // Steps first: a variable that a step brings into being is known to the description, the triggers and the notes.
  const steps = draft.steps === null ? [] : readSteps(draft.steps, `${id}/`, context)
  return {
    id,
    name: draft.signature.name,
    parameters: draft.signature.parameters,
    returns: draft.signature.returns,
    mode,
    public: draft.metadata['public'] === true,
    description: readDescription(draft.description, {
      callables: context.callables,
      agent: context.agent,
      of: 'playbook',
      scope: context.scope,
      findings: context.findings,
    }),
    triggers: draft.triggers.length === 0 ? [] : readTriggers(draft.triggers, context),
    steps: mode === 'steps' ? steps : [],
    notes: readAll(draft.notes, context).concat(readAgentNotes(agentNotes, context)),
    tools: context.tools,
    metadata: draft.metadata,
    line: draft.heading.first.number,
  }
}

function readTriggers(triggers: readonly MarkdownText[], context: StepContext): Procedure['triggers'] {
  return triggers.filter((each) => each.text.trim() !== '').map((each) => readTrigger(each, context))
}

function readAll(notes: readonly MarkdownText[], context: StepContext): Note[] {
  return notes.flatMap((each) => (each.text.trim() === '' ? [] : readNotes(each, context)))
}

/** The notes of an agent hold in each of its playbooks; what is wrong with one is said once. */
function readAgentNotes(notes: readonly MarkdownText[], context: StepContext): Note[] {
  if (notes.length === 0) return []
  const findings = new Findings()
  const read = readAll(notes, { ...context, findings })
  const known = new Set(context.findings.diagnostics.map((each) => JSON.stringify(each)))
  for (const each of findings.diagnostics) {
    if (!known.has(JSON.stringify(each))) context.findings.diagnostics.push(each)
  }
  return read
}

/** A function that the host supplies, as a playbook without steps. */
export function buildHostProcedure(declared: HostFunction, id: string): Procedure {
  return {
    id,
    name: declared.name,
    parameters: declared.parameters,
    returns: declared.returns,
    mode: 'host',
    public: declared.public,
    description: {
      form: 'template',
      source: declared.description.replaceAll('{', '{{').replaceAll('}', '}}').slice(0, 10_000),
      calls: [],
    },
    triggers: declared.triggers.map(
      (text) => plainTrigger(text, declared.line) ?? { text, line: declared.line, kind: 'message' },
    ),
    steps: [],
    notes: [],
    tools: [],
    metadata: {},
    line: declared.line,
  }
}
