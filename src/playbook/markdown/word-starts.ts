/**
 * The first two letters of some words, to see at a glance that none of them stands in a text. It may say yes where none does, and never says no
 * where one does.
 */
export class WordStarts {
  readonly #pairs = new Uint8Array(32 * 32)
  /** A word of one letter or two, or of other letters, may stand anywhere, also at the end of a longer one. */
  #anywhere = false

  /** Adds a word in small letters. */
  add(word: string): void {
    if (word.length < 3 || word.charCodeAt(0) > 127 || word.charCodeAt(1) > 127) this.#anywhere = true
    else this.#pairs[pairOf(word.charCodeAt(0), word.charCodeAt(1))] = 1
  }

  /** Whether a word of the text begins like one of these. Words are cut as `wordsOf` cuts them, and perhaps more often. */
  mayStandIn(text: string): boolean {
    if (this.#anywhere) return true
    let before = 32
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code > 127) return true
      const begins = isUpper(code) || (isWordSign(code) && !isWordSign(before))
      if (begins && this.#pairs[pairOf(code, text.charCodeAt(at + 1))] === 1) return true
      before = code
    }
    return false
  }
}

/** Large and small letters alike: they differ in one bit, and the other five are enough for a glance. */
function pairOf(first: number, second: number): number {
  return (first & 31) * 32 + (second & 31)
}

function isWordSign(code: number): boolean {
  return (code >= 97 && code <= 122) || isUpper(code) || (code >= 48 && code <= 57)
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90
}
