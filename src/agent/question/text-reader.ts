/**
 * Reads the texts out of a JSON object while it is still coming: the members of the outermost object whose names are asked for and whose
 * values are strings. It judges nothing. Where the text is no JSON it falls silent, and the whole answer is judged when it is there.
 */
export class TextReader {
  readonly #names: ReadonlySet<string>
  readonly #onText: (name: string, text: string) => void
  #state: 'before' | 'between' | 'key' | 'value' | 'text' | 'skip' | 'over' = 'before'
  #depth = 0
  #inString = false
  #name = ''
  /** An escape that has begun, and half of a character that waits for its other half. */
  #escape = ''
  #half = ''
  #piece = ''

  constructor(names: ReadonlySet<string>, onText: (name: string, text: string) => void) {
    this.#names = names
    this.#onText = onText
  }

  /** Takes the next piece of the answer. */
  take(delta: string): void {
    // By code units: an escape writes halves of characters, and a piece may end between two.
    for (let index = 0; index < delta.length; index++) this.#take(delta[index]!)
    this.#flush()
  }

  #take(unit: string): void {
    switch (this.#state) {
      case 'before':
        if (unit === '{') this.#state = 'between'
        break
      case 'key':
        this.#readString(unit, 'value')
        break
      case 'between':
        if (unit === '"') this.#begin('key')
        else if (unit === '}') this.#state = 'over'
        break
      case 'value':
        this.#beginValue(unit)
        break
      case 'text':
        this.#readString(unit, 'between')
        break
      case 'skip':
        this.#skip(unit)
        break
      case 'over':
    }
  }

  #begin(state: 'key' | 'text'): void {
    this.#state = state
    this.#piece = ''
    this.#half = ''
    this.#escape = ''
  }

  #beginValue(unit: string): void {
    if (unit === ':' || /\s/.test(unit)) return
    if (unit === '"' && this.#names.has(this.#name)) return this.#begin('text')
    this.#state = 'skip'
    this.#depth = 0
    this.#inString = false
    this.#escape = ''
    this.#skip(unit)
  }

  /** Passes over a value that is none of the texts. */
  #skip(unit: string): void {
    if (this.#inString) {
      if (this.#escape !== '') this.#escape = ''
      else if (unit === '\\') this.#escape = unit
      else if (unit === '"') this.#inString = false
      return
    }
    if (unit === '"') this.#inString = true
    else if (unit === '{' || unit === '[') this.#depth++
    else if (unit === '}' || unit === ']') {
      if (--this.#depth < 0) this.#state = 'over'
    } else if (unit === ',' && this.#depth === 0) this.#state = 'between'
  }

  #readString(unit: string, next: 'value' | 'between'): void {
    if (this.#escape !== '') return this.#readEscape(unit)
    if (unit === '\\') {
      this.#escape = unit
    } else if (unit === '"') {
      if (this.#state === 'key') this.#name = this.#piece
      else this.#flush()
      this.#piece = ''
      this.#state = next
    } else this.#add(unit)
  }

  #readEscape(unit: string): void {
    this.#escape += unit
    if (this.#escape[1] === 'u' && this.#escape.length < 6) return
    try {
      this.#add(JSON.parse(`"${this.#escape}"`) as string)
    } catch {
      this.#state = 'over'
    }
    this.#escape = ''
  }

  /** Keeps the first half of a character back until the second one is there. */
  #add(unit: string): void {
    const text = this.#half + unit
    this.#half = /^[\ud800-\udbff]$/.test(text) ? text : ''
    if (this.#half === '') this.#piece += text
  }

  #flush(): void {
    if (this.#state !== 'text' || this.#piece === '') return
    this.#onText(this.#name, this.#piece)
    this.#piece = ''
  }
}
