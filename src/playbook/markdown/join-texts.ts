import type { MarkdownBlock, MarkdownText } from '../../document/markdown-block.ts'

/** The texts of blocks, bullets with their signs. */
export function textsOf(blocks: readonly MarkdownBlock[], indent = ''): MarkdownText[] {
  return blocks.flatMap((block): MarkdownText[] => {
    switch (block.kind) {
      case 'item':
        return [prefixed(`${indent}- `, block.text), ...textsOf(block.children, `${indent}  `)]
      case 'code':
        return [block.content]
      case 'break':
        return []
      default:
        return [block.text]
    }
  })
}

function prefixed(prefix: string, text: MarkdownText): MarkdownText {
  const [first, ...rest] = text.pieces
  if (first === undefined) return text
  return {
    text: prefix + text.text,
    first: text.first,
    pieces: [first, ...rest.map((piece) => ({ ...piece, at: piece.at + prefix.length }))],
  }
}

/** Several texts as one, a line each; there must be one at least. */
export function joinTexts(texts: readonly MarkdownText[]): MarkdownText {
  const [only] = texts
  if (only !== undefined && texts.length === 1) return only
  const pieces: MarkdownText['pieces'][number][] = []
  let length = 0
  for (const { text, pieces: own } of texts) {
    for (const piece of own) pieces.push({ ...piece, at: piece.at + length })
    length += text.length + 1
  }
  return { text: texts.map(({ text }) => text).join('\n'), first: only!.first, pieces }
}
