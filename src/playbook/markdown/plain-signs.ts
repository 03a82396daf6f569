/** The signs that phones and word processors type for those of the keyboard, and texts in single quotes; a look for them is all that most texts need. */
const typed = /[‘’‚‛“”„‟«»‹›「」『』＂＇]|(?:^|[\s(,:=[])'/u
/** Signs that open a quotation, with those that close it. */
const closing: ReadonlyMap<string, string> = new Map([
  ['“', '”“'],
  ['„', '“”'],
  ['‟', '”'],
  ['«', '»'],
  ['»', '«'],
  ['「', '」'],
  ['『', '』'],
  ['＂', '＂'],
])
const singles: ReadonlyMap<string, string> = new Map([
  ['‘', '’'],
  ['‚', '‘’'],
  ['‹', '›'],
  ["'", "'"],
])

/**
 * The same text with double quotation marks and the apostrophes of the keyboard, of the same length, so that offsets hold. What stands inside
 * quotation marks stays as it is: it is said or compared as written.
 */
export function plainSigns(text: string): string {
  if (!typed.test(text)) return text
  let plain = ''
  let at = 0
  // What is not closed behind one sign is not closed behind a later one either.
  const unclosed = new Set<string>()
  while (at < text.length) {
    const sign = text[at]!
    const end = unclosed.has(sign) ? -1 : sign === '"' ? text.indexOf('"', at + 1) : closingAt(text, at)
    if (end === -1 && mayOpen(text, at)) unclosed.add(sign)
    if (end !== -1) {
      const inside = text.slice(at + 1, end)
      // A quotation that holds the keyboard's own mark would end at it.
      plain += /["\\]/.test(inside) ? text.slice(at, end + 1) : `"${inside}"`
      at = end + 1
      continue
    }
    plain += sign === '’' || sign === '‘' || sign === '‛' || sign === '＇' ? "'" : sign
    at++
  }
  return plain
}

/** Where the quotation that begins at an offset ends; -1 where none does. */
function closingAt(text: string, at: number): number {
  const signs = closing.get(text[at]!)
  if (signs !== undefined) return nearest(text, signs, at + 1)
  const single = singles.get(text[at]!)
  if (single === undefined || !mayOpen(text, at)) return -1
  // An apostrophe inside a word ends nothing.
  for (let end = nearest(text, single, at + 1); end !== -1; end = nearest(text, single, end + 1)) {
    if (end > at + 1 && !/[\p{L}\p{N}]/u.test(text[end + 1] ?? ' ')) return end
  }
  return -1
}

/** Behind a letter a single sign is an apostrophe. */
function mayOpen(text: string, at: number): boolean {
  return !singles.has(text[at]!) || at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!)
}

function nearest(text: string, signs: string, from: number): number {
  for (let at = from; at < text.length; at++) if (signs.includes(text[at]!)) return at
  return -1
}
