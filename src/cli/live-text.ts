/** Takes secrets out of a text. */
export interface TextCleaner {
  clean(text: string): string
  /** How many letters at the end of the text may be the beginning of a secret whose rest is still to come. */
  openEnd(text: string): number
}

/**
 * A text that is shown while it comes, in pieces that may break off anywhere. A secret is not shown, wherever the pieces break: the last word, and whatever
 * may be the beginning of one, is held back until more is known. What was shown is never taken back.
 */
export class LiveText {
  readonly #cleaner: TextCleaner
  #text = ''
  #shown = ''

  constructor(cleaner: TextCleaner) {
    this.#cleaner = cleaner
  }

  /** What was shown of it so far. */
  get shown(): string {
    return this.#shown
  }

  /** Takes the next piece, and gives what can be shown now. */
  push(piece: string): string {
    this.#text += piece
    let end = this.#text.length
    while (end > 0 && /\S/.test(this.#text[end - 1]!)) end--
    let sure = this.#text.slice(0, end)
    // A cut may leave the beginning of a secret, and so may the next one.
    for (let open = this.#cleaner.openEnd(sure); open > 0; open = this.#cleaner.openEnd(sure))
      sure = sure.slice(0, -open)
    return this.#show(sure)
  }

  /** Nothing more comes: gives the rest. */
  end(): string {
    return this.#show(this.#text)
  }

  #show(text: string): string {
    const cleaned = this.#cleaner.clean(text)
    // What a later piece changes about what stands on the screen is left to the whole text, which comes at the end.
    if (!cleaned.startsWith(this.#shown)) return ''
    const next = cleaned.slice(this.#shown.length)
    this.#shown = cleaned
    return next
  }
}
