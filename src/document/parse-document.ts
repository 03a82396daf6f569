import { type Diagnostic } from './diagnostic.ts'
import { LineIndex } from './line-index.ts'
import { maxDocumentBytes } from './limits.ts'
import { parseJson } from './parse-json.ts'
import { parseYaml } from './parse-yaml.ts'
import type { ParsedText } from './parsed-text.ts'
import { SourceDocument, placeDiagnostic } from './source-document.ts'

/** The languages a document may be written in. */
export type DocumentFormat = 'yaml' | 'json'

/** Reads a text into a document with places. A text that cannot be read gives diagnostics and no tree; never throws. */
export function parseDocument(
  text: string,
  options: { format: DocumentFormat; file?: string | null },
): { document: SourceDocument; diagnostics: readonly Diagnostic[] } {
  const file = options.file ?? null
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text
  const refused = refusal(content)
  // A text that is refused unread is not kept either: quoting a line of it would be of no use.
  const kept = refused === null ? content : ''
  const lines = new LineIndex(kept)
  const { root, problems } = refused ?? (options.format === 'json' ? parseJson(content) : parseYaml(content))
  const diagnostics = problems.map(({ code, message, span, suggestion = null }) =>
    placeDiagnostic({ code, severity: 'error', message, suggestion, path: [] }, file, span, lines),
  )
  return { document: new SourceDocument({ file, text: kept, lines, root }), diagnostics }
}

function refusal(text: string): ParsedText | null {
  const span = { start: 0, end: 0 }
  if (isTooLong(text)) {
    const message = `the document is larger than ${maxDocumentBytes / 1_000_000} MB`
    return { root: null, problems: [{ code: 'document_too_large', message, span }] }
  }
  if (text.includes('\0')) {
    return {
      root: null,
      problems: [
        { code: 'invalid_text', message: 'the document holds NUL characters: it is not text', span },
      ],
    }
  }
  if (/^\s*$/.test(text))
    return { root: null, problems: [{ code: 'empty_document', message: 'the document is empty', span }] }
  return null
}

/** Says whether a text is larger than a document may be. */
export function isTooLong(text: string): boolean {
  return isLongerThan(text, maxDocumentBytes)
}

/** Compares the length in UTF-8 without writing it out. */
function isLongerThan(text: string, bytes: number): boolean {
  if (text.length > bytes || text.length * 3 <= bytes) return text.length > bytes
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    length += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3
  }
  return length > bytes
}
