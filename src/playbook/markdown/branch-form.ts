import type { Condition } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { isComputable, readCondition } from './condition.ts'
import { holds } from './glance.ts'
import { opens } from './opening-word.ts'
import { splitTopLevel } from './signature.ts'
import type { StepContext } from './step-context.ts'
import { withoutInner } from './without-inner.ts'

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

/** Reads the opening of a branch; null where the bullet opens none. */
export function branchHead(bullet: Bullet, context: StepContext): BranchHead | null {
  const { text } = bullet
  if ((bullet.opens & opens.branch) === 0) return null
  if (text.length === bullet.word.length) return isElse(bullet.word) ? otherwiseHead : null
  const found = ifForm.exec(text)
  if (found !== null) {
    const first = found[1]!.toLowerCase()
    const word = first === 'if' || first === 'when' ? first : 'else if'
    const from = text.length - found[2]!.length
    const split = splitInline(found[2]!, bullet, context)
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

function isElse(word: string): boolean {
  return word === 'else' || word === 'otherwise'
}

/** `Otherwise` and nothing else. */
const otherwiseHead: BranchHead = { word: 'else', condition: () => null, inline: null, otherwise: null }

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

/** What a step begins with, so that what stands before it can be the condition only. */
const stepOpening =
  /^\s*(?:then\s+)?(?:(?:say|tell|ask|inform|greet|thank|set|add|increment|increase|decrement|decrease|subtract|append|remove|store|extract|call|run|use|return|end|stop|quit|exit|break|continue|go|wait|repeat|apologi[sz]e|reply|respond|answer|explain|offer|skip)\b|\$[\p{L}_][\p{L}\p{N}_.]*\s*(?::\s*\w+\s*)?[-+]?=[^=]|[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*\s*\(|"[^"]*"\s*$|“[^”]*”\s*$)/iu

/** Where the condition of `If c, do Y`, `If c then Y` or `If c: Y` ends and the step begins. */
function splitInline(
  words: string,
  bullet: Bullet,
  context: StepContext,
): { end: number; next: number } | null {
  if ((bullet.holds & holds.border) === 0) return null
  const hasChildren = bullet.children.length > 0
  const then = /\s*,?\s+then\s+(?!do\s+the\s+following|do\s+this)/i.exec(words)
  const borders = [':', ','].flatMap((sign) => bordersAt(words, sign))
  // A list has commas too, so the first that a step follows is the one.
  const opened = borders.find(({ next }) => stepOpening.test(words.slice(next)))
  if (then !== null && !hasChildren && (opened === undefined || then.index <= opened.end))
    return { end: then.index, next: then.index + then[0].length }
  // With steps below it the line should be a condition and nothing else; one that is not is reported with them.
  if (opened !== undefined || hasChildren) return opened ?? null
  return (
    borders.find(
      ({ end, next }) =>
        isComputable(words.slice(0, end), context) || /^\s*(?:\$?\p{L})/u.test(words.slice(next)),
    ) ?? null
  )
}

/** What stands before each border is read as a condition, so a text full of commas is not looked at all the way. */
const mostBorders = 50

/** Where a sign stands outside of quotes, brackets and numbers, with something behind it. */
function bordersAt(words: string, sign: string): { end: number; next: number }[] {
  const borders: { end: number; next: number }[] = []
  if (!words.includes(sign)) return borders
  let end = -1
  for (const part of splitTopLevel(words, sign).slice(0, -1).slice(0, mostBorders)) {
    end += part.length + 1
    const rest = words.slice(end + 1)
    const inNumber = /\d$/.test(part) && /^\d/.test(rest)
    // `is one of "a", "b"`: a list of values goes on.
    const inList =
      /["\d]\s*$/.test(part) && /^\s*["\d]/.test(rest) && /\b(?:one|any)\s+of\b|\bin\b/i.test(words)
    if (!inNumber && !inList && rest.trim() !== '') borders.push({ end, next: end + 1 })
  }
  return borders
}
