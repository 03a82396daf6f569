import type { Span } from './document-node.ts'

/**
 * Where a part of a value stands in the text it was read from, when only space differs between the two: line breaks that were folded,
 * indentation that was taken away. Null where anything else does, as with escapes.
 */
export function alignText(
  value: string,
  part: { readonly start: number; readonly end: number },
  text: string,
  span: Span,
): Span | null {
  let at = startOf(text, span)
  let start = -1
  let last = at
  for (let index = 0; index < value.length && index < part.end; index++) {
    const character = value.charCodeAt(index)
    if (isSpace(character)) {
      // A part that begins or ends with space begins or ends with the word beside it.
      continue
    }
    while (at < span.end && isSpace(text.charCodeAt(at))) at++
    if (at >= span.end || text.charCodeAt(at) !== character) return null
    if (index >= part.start && start === -1) start = at
    last = ++at
  }
  return start === -1 ? null : { start, end: last }
}

/** Where the content begins: after the sign and the rest of its line in a block, after the quote in a quoted text. */
function startOf(text: string, { start, end }: Span): number {
  const first = text[start]
  if (first === '"' || first === "'") return start + 1
  if (first !== '|' && first !== '>') return start
  const line = text.indexOf('\n', start)
  return line === -1 || line > end ? end : line + 1
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}
