import type { Json } from '../shared/json.ts'
import { alignText } from './align-text.ts'
import type { Diagnostic } from './diagnostic.ts'
import { type DocumentNode, type Span, nodeAt, nodeValue, spanAt } from './document-node.ts'
import { LineIndex } from './line-index.ts'
import type { Problem } from './problem.ts'

/** A text, the tree that was read from it, and the way back from a value to its place. */
export class SourceDocument {
  readonly file: string | null
  readonly text: string
  readonly lines: LineIndex
  readonly root: DocumentNode | null

  constructor(source: { file: string | null; text: string; lines: LineIndex; root: DocumentNode | null }) {
    this.file = source.file
    this.text = source.text
    this.lines = source.lines
    this.root = source.root
  }

  /** The plain value of the whole document; undefined when nothing could be read. */
  value(): Json | undefined {
    return this.root === null ? undefined : nodeValue(this.root)
  }

  /** The diagnostic for a problem: exact inside text that stands in the document as it is but for space, else the whole value. */
  locate(problem: Problem): Diagnostic {
    const span = this.root === null ? { start: 0, end: 0 } : problemSpan(this.root, problem, this.text)
    return placeDiagnostic(problem, this.file, span, this.lines)
  }
}

/** The diagnostic for a problem at known offsets. */
export function placeDiagnostic(
  problem: Omit<Problem, 'at' | 'range'>,
  file: string | null,
  span: Span,
  lines: LineIndex,
): Diagnostic {
  const start = lines.positionOf(span.start)
  const end = lines.positionOf(span.end)
  return {
    code: problem.code,
    severity: problem.severity,
    message: problem.message,
    file,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
    suggestion: problem.suggestion,
    path: problem.path,
  }
}

/** The diagnostic for a problem that has no place in a text. */
export function diagnosticWithoutPlace(
  problem: Pick<Problem, 'code' | 'message'> & Partial<Pick<Problem, 'severity' | 'suggestion' | 'path'>>,
  file: string | null = null,
): Diagnostic {
  return {
    code: problem.code,
    severity: problem.severity ?? 'error',
    message: problem.message,
    file,
    line: null,
    column: null,
    endLine: null,
    endColumn: null,
    suggestion: problem.suggestion ?? null,
    path: problem.path ?? [],
  }
}

function problemSpan(root: DocumentNode, problem: Problem, text: string): Span {
  if (problem.range !== null) {
    const node = nodeAt(root, problem.path)
    if (node?.kind === 'scalar' && node.verbatimAt !== null) {
      return { start: node.verbatimAt + problem.range.start, end: node.verbatimAt + problem.range.end }
    }
    if (node?.kind === 'scalar' && typeof node.value === 'string') {
      const aligned = alignText(node.value, problem.range, text, node.span)
      if (aligned !== null) return aligned
    }
  }
  return spanAt(root, problem.path, problem.at)
}
