import type { Callables } from './callables.ts'
import { withoutQuoted } from './without-quoted.ts'
import { wordsOf } from './words.ts'

/** No name of several words is longer, nor has more of them. */
const longest = 120
const mostWords = 10

/**
 * The text with the words of each name before a parenthesis joined: `Order total(5)` becomes `Order_total(5)`, where `Order total` can be
 * called. It is as long as before, so that offsets hold.
 */
export function joinSpokenNames(text: string, callables: Callables, agent: string): string {
  const bare = withoutQuoted(text)
  let joined = text
  for (let open = bare.indexOf('('); open !== -1; open = bare.indexOf('(', open + 1)) {
    const start = nameStart(bare, open, callables, agent)
    if (start !== -1)
      joined = joined.slice(0, start) + joined.slice(start, open).replaceAll(' ', '_') + joined.slice(open)
  }
  return joined
}

/** Where the longest name of several words begins that ends at an offset; -1 where none does. */
function nameStart(text: string, end: number, callables: Callables, agent: string): number {
  let found = -1
  let at = end
  for (let words = 1; words <= mostWords; words++) {
    const start = wordStart(text, at)
    // Behind a `$` or a dot stands no word of a name.
    const before = text.charCodeAt(start - 1)
    if (start === at || end - start > longest || before === 36 || before === 46) break
    if (words > 1 && callables.findWords(wordsOf(text.slice(start, end)), agent).kind !== 'none')
      found = start
    if (before !== 32) break
    at = start - 1
  }
  return found
}

function wordStart(text: string, end: number): number {
  let start = end
  while (start > 0 && isWordSign(text.charCodeAt(start - 1))) start--
  return start
}

function isWordSign(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code > 191
  )
}
