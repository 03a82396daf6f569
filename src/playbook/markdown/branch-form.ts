import type { Condition } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { isComputable, readCondition } from './condition.ts'
import { splitTopLevel } from './signature.ts'
import type { StepContext } from './step-context.ts'

/** What opens a branch: which word, its condition (null: otherwise), and where a step on the same line begins. */
export interface BranchHead {
  readonly word: 'if' | 'else if' | 'else' | 'when'
  readonly condition: (context: StepContext) => Condition | null
  /** The offset of the step on the same line; null where there is none. */
  readonly inline: number | null
  /** Where that step ends and another one begins, for all other cases: `If c, do this, otherwise do that`. */
  readonly otherwise: { readonly end: number; readonly next: number } | null
}

const ifForm = /^(if|when|else,?\s+if|otherwise,?\s+if)\s+(.+)$/is
const elseForm = /^(?:else|otherwise)\s*[,:]?\s*(.*)$/is

const openers: ReadonlySet<string> = new Set(['if', 'when', 'else', 'otherwise'])

/** Reads the opening of a branch; null where the bullet opens none. */
export function branchHead(bullet: Bullet, context: StepContext): BranchHead | null {
  const { text } = bullet
  if (!openers.has(bullet.word)) return null
  const found = ifForm.exec(text)
  if (found !== null) {
    const first = found[1]!.toLowerCase()
    const word = first === 'if' || first === 'when' ? first : 'else if'
    const from = text.length - found[2]!.length
    const split = splitInline(found[2]!, bullet.children.length > 0, context)
    const words = split === null ? found[2]! : found[2]!.slice(0, split.end)
    const inline = split === null ? null : from + split.next
    return {
      word,
      condition: (inside) => readCondition(words, from, bullet, inside),
      inline,
      otherwise: inline === null ? null : otherwiseIn(text, inline),
    }
  }
  const otherwise = elseForm.exec(text)
  if (otherwise === null || !/^(?:else|otherwise)\b/i.test(text)) return null
  const rest = otherwise[1]!.trim()
  return {
    word: 'else',
    condition: () => null,
    inline: rest === '' ? null : text.length - otherwise[1]!.length,
    otherwise: null,
  }
}

const otherwiseForm = /(?:[,;.]\s*|\s+)(?:or\s+|and\s+|but\s+)?(otherwise|else)\b\s*[,:]?\s*(?=\S)/gi

/** Where a step on the line of a condition ends, and the one for all other cases begins. What stands in quotes or brackets is not looked at. */
function otherwiseIn(text: string, from: number): BranchHead['otherwise'] {
  const rest = text.slice(from)
  if (!/otherwise|else/i.test(rest)) return null
  const bare = withoutInner(rest)
  for (const found of bare.matchAll(otherwiseForm)) {
    // `"a" if $x else "b"` is one value.
    if (
      /^\s/.test(found[0]) &&
      found[1]!.toLowerCase() === 'else' &&
      /\sif\s/i.test(bare.slice(0, found.index))
    )
      continue
    return { end: from + found.index, next: from + found.index + found[0].length }
  }
  return null
}

/** The text with everything in quotes or brackets blanked out, as long as before. */
function withoutInner(text: string): string {
  let depth = 0
  let quote = ''
  let bare = ''
  for (const sign of text.split('')) {
    const inside = quote !== '' || depth > 0
    if (quote !== '') {
      if (sign === quote) quote = ''
    } else if (sign === '"') quote = '"'
    else if (sign === '“') quote = '”'
    else if ('([{'.includes(sign)) depth++
    else if (')]}'.includes(sign)) depth = Math.max(0, depth - 1)
    bare += inside || quote !== '' ? '_' : sign
  }
  return bare
}

/** Where the condition of `If c, do Y`, `If c then Y` or `If c: Y` ends and the step begins. */
function splitInline(
  words: string,
  hasChildren: boolean,
  context: StepContext,
): { end: number; next: number } | null {
  if (hasChildren) return null
  const then = /\s*,?\s+then\s+/i.exec(words)
  if (then !== null) return { end: then.index, next: then.index + then[0].length }
  for (const sign of [':', ',']) {
    const parts = splitTopLevel(words, sign)
    let at = 0
    for (const part of parts.slice(0, -1)) {
      const end = at + part.length
      const rest = words.slice(end + 1)
      // A list of names has commas too; the first half must be a condition, or the other begin with a verb.
      if (
        rest.trim() !== '' &&
        (isComputable(words.slice(0, end), context) || /^\s*(?:\$?\p{L})/u.test(rest))
      )
        return { end, next: end + 1 }
      at = end + 1
    }
  }
  return null
}
