/**
 * Owns: how long a regular expression may take. Talks to: nobody.
 * Invariants:
 * 1. A pattern whose matching time could grow exponentially with the text is refused.
 * 2. For every other one, `longest` is a length of text up to which matching ends quickly.
 * The count below is of ways to match, which bounds backtracking: at most `ways` × length ^ `degree`.
 */

/** What a pattern may cost: the longest text it may be matched against, or why it is refused. */
export type PatternCost = { readonly longest: number } | { readonly refused: string }

type Ways = { readonly ways: number; readonly degree: number }

const most = 1e8
const maxPatternLength = 2_000
const maxGroupDepth = 50
const shortestUseful = 16
const one: Ways = { ways: 1, degree: 0 }

/** Works out what matching the pattern (Unicode mode) may cost; never throws. */
export function patternCost(pattern: string): PatternCost {
  if (pattern.length > maxPatternLength)
    return { refused: `a pattern may have at most ${maxPatternLength} characters` }
  const mistake = syntaxMistake(pattern)
  if (mistake !== null) return { refused: `not a regular expression: ${mistake}` }
  try {
    const reader = new PatternReader(pattern)
    const { ways, degree } = reader.readAlternatives(0)
    // An unanchored pattern is tried at every place of the text.
    const power = degree + (reader.anchored ? 0 : 1)
    if (ways > most / 100) return { refused: 'it can match in too many ways' }
    const longest = power === 0 ? most : Math.floor((most / ways) ** (1 / power))
    return longest < shortestUseful ? { refused: 'it can match in too many ways' } : { longest }
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message }
    throw error
  }
}

function syntaxMistake(pattern: string): string | null {
  try {
    return RegExp(pattern, 'u') === null ? '' : null
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: /, '')
  }
}

class Refusal extends Error {}

/** Reads a pattern that is known to be well-formed. */
class PatternReader {
  /** Whether every alternative begins with `^`. */
  anchored = true
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  readAlternatives(depth: number): Ways {
    if (depth > maxGroupDepth) throw new Refusal(`groups are nested deeper than ${maxGroupDepth}`)
    let ways = 0
    let degree = 0
    do {
      if (depth === 0 && !this.#text.startsWith('^', this.#at)) this.anchored = false
      const branch = this.#readSequence(depth)
      ways += branch.ways
      degree = Math.max(degree, branch.degree)
    } while (this.#take('|'))
    return { ways, degree }
  }

  #readSequence(depth: number): Ways {
    let ways = 1
    let degree = 0
    while (this.#at < this.#text.length && !this.#sees('|') && !this.#sees(')')) {
      const item = this.#repeat(this.#readItem(depth))
      ways *= item.ways
      degree += item.degree
    }
    return { ways, degree }
  }

  #readItem(depth: number): Ways {
    if (this.#take('(')) {
      if (/^\?(=|!|<=|<!)/.test(this.#text.slice(this.#at, this.#at + 3)))
        throw new Refusal('lookahead and lookbehind are not supported')
      if (this.#take('?'))
        this.#at = this.#text.startsWith('<', this.#at)
          ? this.#text.indexOf('>', this.#at) + 1
          : this.#text.indexOf(':', this.#at) + 1
      const inside = this.readAlternatives(depth + 1)
      this.#take(')')
      return inside
    }
    if (this.#take('[')) {
      while (!this.#take(']')) this.#at += this.#sees('\\') ? 2 : 1
      return one
    }
    if (this.#take('\\')) this.#readEscape()
    else this.#at += 1
    return one
  }

  #readEscape(): void {
    if (/[1-9k]/.test(this.#text[this.#at]!)) throw new Refusal('backreferences are not supported')
    const braced = /^(u|[pP])\{[^}]*\}/.exec(this.#text.slice(this.#at, this.#at + 60))
    this.#at += braced?.[0].length ?? 1
  }

  #repeat(item: Ways): Ways {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#text.slice(this.#at, this.#at + 40))
    if (found === null) return item
    this.#at += found[0].length
    const sign = found[0][0]
    if (sign === '?') return { ways: item.ways + 1, degree: item.degree }
    const least = sign === '*' ? 0 : sign === '+' ? 1 : Number(found[1])
    const unbounded = sign !== '{' || (found[2] === ',' && found[3] === '')
    if (unbounded) return repeatForever(item, least)
    const highest = found[2] === '' ? least : Number(found[3])
    return { ways: (highest - least + 1) * item.ways ** highest, degree: item.degree * highest }
  }

  #sees(character: string): boolean {
    return this.#text[this.#at] === character
  }

  #take(character: string): boolean {
    if (!this.#sees(character)) return false
    this.#at += 1
    return true
  }
}

function repeatForever(item: Ways, least: number): Ways {
  if (item.degree > 0) throw new Refusal('a repetition without an end stands inside another one')
  if (item.ways > 1) throw new Refusal('a choice stands inside a repetition without an end')
  if (least > most) throw new Refusal('it repeats too often')
  return { ways: 1, degree: 1 }
}
