const astral = /[\ud800-\udfff]/

/** The characters of a string as people count them: the string itself where each is one unit, else a list. */
export function charactersOf(text: string): string | readonly string[] {
  return astral.test(text) ? Array.from(text) : text
}

/** How many characters the string has; one outside the basic plane counts once, as in Python. */
export function characterCount(text: string): number {
  return charactersOf(text).length
}
