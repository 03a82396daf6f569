/**
 * Markdown text → a program.
 *
 * Owns: the order of the work: lines with imports, blocks, drafts, names, then each playbook, then the checks over all of it.
 * Invariants:
 * 1. Pure and total: no disk, no model, never throws for any text; the same text gives the same tree.
 * 2. A program with an error is not returned.
 */
import { type Diagnostic } from '../../document/diagnostic.ts'
import { nodeValue } from '../../document/document-node.ts'
import type { MarkdownBlock } from '../../document/markdown-block.ts'
import type { MarkdownLine } from '../../document/markdown-line.ts'
import { type MarkdownOutline, parseMarkdown } from '../../document/parse-markdown.ts'
import { parseYaml } from '../../document/parse-yaml.ts'
import { type Json, type JsonObject, isJsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/nearest-name.ts'
import type { Program } from '../program.ts'
import type { ProgramTool } from './callables.ts'
import { type ProgramSource, type ResolveImport, expandImports } from './expand-imports.ts'
import { Findings, quote } from './findings.ts'
import { isCount } from './metadata.ts'
import { type AgentDraft, draftProgram, sectionNamed } from './program-draft.ts'
import { ProgramReader } from './program-reader.ts'
import { isProgram } from './is-program.ts'
import type { UnresolvedStep } from './step-context.ts'

/** What is known besides the text. */
export interface ParseProgramOptions {
  /** The tools there are; absent where they are not known yet. */
  readonly tools?: readonly ProgramTool[] | undefined
  readonly resolveImport?: ResolveImport | undefined
  /** The functions that the host supplies; a declared function that is not among them is a warning. */
  readonly hostFunctions?: readonly string[] | undefined
  /** What a lock file says that bullets mean: a call for a step's hash. */
  readonly resolutions?: Readonly<Record<string, string>> | undefined
}

/** What came of a text: a program unless there are errors, every problem, and what a lock file could settle. */
export interface ParsedProgram {
  readonly program: Program | null
  readonly diagnostics: readonly Diagnostic[]
  readonly kind: 'program' | 'ordinary document'
  readonly unresolved: readonly UnresolvedStep[]
}

/** Reads the text of a program; problems are values with places, nothing is thrown. */
export function parseProgram(
  sources: readonly ProgramSource[],
  options: ParseProgramOptions = {},
): ParsedProgram {
  const findings = new Findings()
  const lines = expandImports(sources, options.resolveImport, findings)
  const outlines = lines.map((each) => parseMarkdown(each))
  for (const { code, severity, message, line, suggestion } of outlines.flatMap((each) => each.problems)) {
    if (severity === 'error') findings.error(code, line, message, suggestion)
    else findings.warn(code, line, message, suggestion)
  }
  const first = sources[0]?.file ?? null
  if (findings.hasErrors) return finished(null, findings, 'program', [])
  const blocks = outlines.length === 1 ? outlines[0]!.blocks : outlines.flatMap((each) => each.blocks)
  const byName = sources.some(({ file }) => file.toLowerCase().endsWith('.pb'))
  if (!isProgram(blocks, byName)) return ordinary(first, lines.flat(), blocks)
  const front = mergeFronts(outlines, findings)
  const drafts = draftProgram(blocks, findings)
  const reader = new ProgramReader(drafts, front, options, findings)
  const program = reader.read(nameOf(front, drafts, first))
  return finished(program, findings, 'program', reader.unresolved)
}

function finished(
  program: Program | null,
  findings: Findings,
  kind: ParsedProgram['kind'],
  unresolved: readonly UnresolvedStep[],
): ParsedProgram {
  const files = [...new Set(findings.diagnostics.map((each) => each.file))]
  const diagnostics = findings.diagnostics.toSorted(
    (a, b) =>
      files.indexOf(a.file) - files.indexOf(b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0),
  )
  return { program: findings.hasErrors ? null : program, diagnostics, kind, unresolved }
}

function ordinary(
  file: string | null,
  lines: readonly MarkdownLine[],
  blocks: readonly MarkdownBlock[],
): ParsedProgram {
  const empty = lines.every((line) => line.text.trim() === '')
  const { message, suggestion, line } = empty
    ? { message: 'the document is empty', suggestion: null, line: null }
    : whyOrdinary(blocks)
  const diagnostic: Diagnostic = {
    code: empty ? 'empty_document' : 'ordinary_document',
    severity: 'error',
    message,
    suggestion,
    file: line?.file ?? file,
    line: line?.number ?? null,
    column: line === null ? null : 1,
    endLine: line?.number ?? null,
    endColumn: line === null ? null : line.text.length + 1,
    path: [],
  }
  return { program: null, diagnostics: [diagnostic], kind: 'ordinary document', unresolved: [] }
}

/** Why a document is no program: the heading that nearly made it one, where there is one. */
function whyOrdinary(blocks: readonly MarkdownBlock[]): {
  message: string
  suggestion: string
  line: MarkdownLine | null
} {
  const suggestion = 'a playbook is `## Name`, then `### Steps` with bullets'
  const ordinaryDocument = 'this is an ordinary document, not a playbook'
  const headings = blocks.flatMap((block) => (block.kind === 'heading' ? [block.text] : []))
  const steps = headings.find(({ text }) => sectionNamed(text) === 'steps')
  if (steps !== undefined) {
    const below = blocks.findIndex((block) => block.kind === 'heading' && block.text === steps) + 1
    const why = blocks[below]?.kind === 'item' ? 'stands below no `## Name`' : 'has no bullets below it'
    return {
      message: `${ordinaryDocument}: ${quote(`### ${steps.text}`)} ${why}`,
      suggestion,
      line: steps.first,
    }
  }
  const message = `${ordinaryDocument}: no heading in it is \`### Steps\` or \`### Triggers\``
  for (const { text, first } of headings) {
    const near = nearestName(text.trim().replace(/:$/, ''), ['Steps', 'Triggers'])
    if (near !== null)
      return { message, suggestion: `did you mean \`### ${near}\` by ${quote(text)}?`, line: first }
  }
  return { message, suggestion, line: null }
}

/** Several files may each have front matter; what one says no other may say. */
function mergeFronts(outlines: readonly MarkdownOutline[], findings: Findings): JsonObject {
  const merged: Record<string, Json> = Object.create(null)
  for (const outline of outlines) {
    for (const [key, value] of Object.entries(readFront(outline, findings))) {
      if (Object.hasOwn(merged, key)) {
        findings.error(
          'duplicate_key',
          outline.front![0]!,
          `\`${key}\` is in the front matter of another file too`,
        )
      } else merged[key] = value
    }
  }
  return merged
}

function readFront(outline: MarkdownOutline, findings: Findings): JsonObject {
  const [first] = outline.front ?? []
  if (outline.front === null || first === undefined) return {}
  const { root, problems } = parseYaml(outline.front.map((line) => line.text).join('\n'))
  for (const { code, message, suggestion } of problems) {
    if (code !== 'empty_document') findings.error(code, first, message, suggestion ?? null)
  }
  const value: Json = root === null ? {} : nodeValue(root)
  if (!isJsonObject(value)) {
    findings.error('wrong_type', first, 'the front matter must be keys and values')
    return {}
  }
  const { tools, max_turns: turns, max_model_calls: calls } = value
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((each) => typeof each === 'string'))) {
    findings.error('wrong_type', first, '`tools` in the front matter must be a list of names')
  }
  for (const [key, given] of Object.entries({ max_turns: turns, max_model_calls: calls })) {
    if (given !== undefined && !isCount(given))
      findings.error('out_of_range', first, `\`${key}\` must be a whole number from 1 to 10000`)
  }
  return value
}

function nameOf(front: JsonObject, drafts: readonly AgentDraft[], file: string | null): string {
  const given = front['name'] ?? front['title']
  if (typeof given === 'string' && given !== '') return given
  const agent = drafts.find((draft) => draft.heading !== null)?.name
  return agent ?? file?.replace(/^.*[/\\]/, '').replace(/\.(?:md|pb|markdown)$/i, '') ?? 'program'
}
