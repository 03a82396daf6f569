import type { NameUse } from './lift-calls.ts'
import { asciiNameEnd } from './sigil-names.ts'

/** What a plain expression reads; `literal` is its value where it is a number. */
export interface PlainExpression {
  readonly names: readonly NameUse[]
  readonly literal: number | undefined
}

/** Longer ones are rare, and have limits of their own. */
const longest = 1000
/** More digits may be more than a double keeps. */
const mostDigits = 15

const noNames: readonly NameUse[] = []

/**
 * Reads an expression of variables and whole numbers with signs between them (`$x`, `$x * 2 + 1`, `$x >= $y`), or a list of those: the
 * commonest by far, and what they read shows without a tree. Null for every other, which the parser reads, or refuses.
 */
export function plainExpression(source: string): PlainExpression | null {
  if (source.length > longest) return null
  const isList = source.charCodeAt(0) === 91
  let names: NameUse[] | null = null
  let isCompared = false
  let at = isList ? 1 : 0
  for (;;) {
    const start = at
    if (source.charCodeAt(at) === 36) {
      at = asciiNameEnd(source, start + 1)
      if (at === start + 1) return null
      const use = { name: source.slice(start + 1, at), sigil: true, start, end: at }
      if (names === null) names = [use]
      else names.push(use)
    } else {
      at = wholeEnd(source, start)
      if (at === start) return null
      if (start === 0 && at === source.length) return { names: noNames, literal: Number(source) }
    }
    if (at === source.length) return isList ? null : { names: names ?? noNames, literal: undefined }
    at = skipBlanks(source, at)
    const code = source.charCodeAt(at)
    if (isList) {
      if (code === 93 && at + 1 === source.length) return { names: names ?? noNames, literal: undefined }
      if (code !== 44) return null
      at++
    } else if (isArithmetic(code)) at++
    else {
      const length = isCompared ? 0 : comparisonLength(source, at)
      if (length === 0) return null
      isCompared = true
      at += length
    }
    at = skipBlanks(source, at)
  }
}

/** Where a whole number ends that is written without leading zeros; its beginning where there is none. */
function wholeEnd(source: string, start: number): number {
  let end = start
  while (isDigit(source.charCodeAt(end))) end++
  const isOther = end - start > mostDigits || (source.charCodeAt(start) === 48 && end > start + 1)
  return isOther ? start : end
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function skipBlanks(source: string, from: number): number {
  let at = from
  while (source.charCodeAt(at) === 32) at++
  return at
}

/** `+`, `-`, `*`, `/` and `%`. */
function isArithmetic(code: number): boolean {
  return code === 43 || code === 45 || code === 42 || code === 47 || code === 37
}

/** The length of `<`, `<=`, `>`, `>=`, `==` or `!=`; 0 where none stands. */
function comparisonLength(source: string, at: number): number {
  const code = source.charCodeAt(at)
  const isEqual = source.charCodeAt(at + 1) === 61
  if (code === 60 || code === 62) return isEqual ? 2 : 1
  return (code === 61 || code === 33) && isEqual ? 2 : 0
}
