import type { DocumentPath } from '../document/diagnostic.ts'
import type { Report } from '../document/problem.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { nearestName } from '../shared/nearest-name.ts'
import type { PlaybookDraft, StepDraft } from './playbook-draft.ts'
import type { Wording } from './wording.ts'

/** What every check of a playbook is given. */
export type CheckContext = {
  readonly draft: PlaybookDraft
  readonly report: Report
  readonly wording: Wording
  /** The tools that exist, when that is known. */
  readonly tools: ReadonlySet<string> | null
  /** What is known of some tools. */
  readonly facts: ReadonlyMap<string, ToolFacts>
  /** The tools that are known to do whatever their arguments say. */
  readonly dispatchers: ReadonlySet<string>
  /** The nearest known name as a suggestion, as long as looking for it is affordable. */
  readonly didYouMean: Suggester
  /** The name that the id of a step was made from; null where it has an id of its own. */
  readonly nameOf: (index: number) => string | null
  /** Whether a step is judged without the playbook it will belong to. */
  readonly alone: boolean
}

/** What a check may know of a tool besides its name. */
export interface ToolFacts {
  readonly risk?: 'read' | 'write' | 'irreversible' | null | undefined
  readonly input?: JsonSchema | null | undefined
}

/** The path of a key of a step. */
export function stepPath(step: StepDraft, ...path: DocumentPath): DocumentPath {
  return ['steps', step.index, ...path]
}

/** The tools a step names; `*` names none. */
export function namedTools(step: StepDraft): ReadonlySet<string> {
  return new Set(step.expected_tools.filter((tool) => tool !== '*'))
}

/** The tools that the steps name, or null when that is not known or tools that no step names may be called. */
export function closedTools({ draft, alone }: CheckContext): ReadonlySet<string> | null {
  const open = draft.allow_extra_tools || draft.broken('allow_extra_tools') || draft.broken('steps') || alone
  if (open || draft.steps.some((step) => step.broken('expected_tools') || step.expected_tools.includes('*')))
    return null
  return new Set(draft.steps.flatMap((step) => [...step.expected_tools, ...callTools(step)]))
}

/** The tools that the runtime calls in a step. */
export function callTools({ tool, verify, compensate }: StepDraft): readonly string[] {
  return [tool, verify?.tool, compensate?.tool].filter((name) => typeof name === 'string')
}

/** Suggests the known name that was probably meant; says nothing when none is near. */
export type Suggester = (given: string, known: Iterable<string>) => { suggestion: string | null }

const mostComparisons = 300_000

/** A suggester that stops comparing names after a while: a hostile file could ask for billions of comparisons. */
export function createSuggester(): Suggester {
  let left = mostComparisons
  return (given, known) => {
    const names = [...known]
    left -= names.length
    const nearest = left < 0 ? null : nearestName(given, names)
    return { suggestion: nearest === null ? null : `did you mean \`${nearest}\`?` }
  }
}
