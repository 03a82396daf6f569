import type { DocumentNode, MapEntry, Span } from './document-node.ts'
import { isExactNumber } from './exact-number.ts'
import { maxDocumentDepth, maxDocumentValues } from './limits.ts'
import type { ParsedText, TextProblem } from './parsed-text.ts'

/** Reads JSON (RFC 8259) into a tree with places. Stops at the first mistake of syntax; never throws. */
export function parseJson(text: string): ParsedText {
  const reader = new JsonReader(text)
  try {
    return { root: reader.readDocument(), problems: reader.problems }
  } catch (error) {
    if (error instanceof JsonMistake) return { root: null, problems: [...reader.problems, error.problem] }
    throw error
  }
}

class JsonMistake extends Error {
  readonly problem: TextProblem

  constructor(problem: TextProblem) {
    super(problem.message)
    this.problem = problem
  }
}

class JsonReader {
  readonly problems: TextProblem[] = []
  readonly #text: string
  #at = 0
  #values = 0

  constructor(text: string) {
    this.#text = text
  }

  readDocument(): DocumentNode {
    const root = this.#readValue(0)
    if (this.#next() !== undefined) this.#fail('something follows the end of the document')
    return root
  }

  #readValue(depth: number): DocumentNode {
    if (++this.#values > maxDocumentValues)
      this.#fail(`the document has more than ${maxDocumentValues} values`, 'document_too_large')
    const character = this.#next()
    if (character === '{' || character === '[') {
      if (depth === maxDocumentDepth)
        this.#fail(`values are nested deeper than ${maxDocumentDepth} levels`, 'too_deep')
      return character === '{' ? this.#readMap(depth + 1) : this.#readList(depth + 1)
    }
    if (character === '"') return this.#readString()
    return this.#readNumber() ?? this.#readWord()
  }

  #readMap(depth: number): DocumentNode {
    const start = this.#at++
    const entries = new Map<string, MapEntry>()
    if (this.#next() === '}') this.#at++
    else {
      do {
        if (this.#next() === '}') this.#fail('there is a comma before }')
        if (this.#next() !== '"') this.#fail('a key in double quotes is expected here')
        const key = this.#readString()
        if (this.#next() !== ':') this.#fail('a colon is expected here')
        this.#at++
        const value = this.#readValue(depth)
        const name = key.value as string
        if (entries.has(name)) {
          this.problems.push({
            code: 'duplicate_key',
            message: `the key \`${name}\` occurs twice`,
            span: key.span,
          })
        } else entries.set(name, { key: key.span, value })
      } while (this.#continues('}'))
    }
    return { kind: 'map', entries, span: { start, end: this.#at } }
  }

  #readList(depth: number): DocumentNode {
    const start = this.#at++
    const items: DocumentNode[] = []
    if (this.#next() === ']') this.#at++
    else {
      do {
        if (this.#next() === ']') this.#fail('there is a comma before ]')
        items.push(this.#readValue(depth))
      } while (this.#continues(']'))
    }
    return { kind: 'list', items, span: { start, end: this.#at } }
  }

  /** Takes the comma and says yes, or the closing sign and says no. */
  #continues(closing: string): boolean {
    const character = this.#next()
    if (character !== ',' && character !== closing) this.#fail(`a comma or ${closing} is expected here`)
    this.#at++
    return character === ','
  }

  #readString(): DocumentNode & { kind: 'scalar' } {
    const start = this.#at
    // oxlint-disable-next-line no-control-regex -- JSON forbids them inside a text
    const plain = /"[^"\\\u0000-\u001f]*"/y
    plain.lastIndex = start
    const verbatim = plain.test(this.#text)
    const end = verbatim ? plain.lastIndex : this.#endOfString(start)
    const span = { start, end }
    let value = ''
    try {
      value = JSON.parse(this.#text.slice(start, end)) as string
    } catch {
      this.#fail('this text has an escape that JSON does not know', 'invalid_json', span)
    }
    if (!value.isWellFormed())
      this.problems.push({
        code: 'invalid_text',
        message: 'this text is not valid Unicode (a lone surrogate)',
        span,
      })
    this.#at = end
    return { kind: 'scalar', value, span, verbatimAt: verbatim ? start + 1 : null }
  }

  #endOfString(start: number): number {
    for (let at = start + 1; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === 0x22) return at + 1
      if (code === 0x5c) at++
      else if (code < 0x20)
        this.#fail(
          'a line break or control character stands inside a text; write it as an escape',
          'invalid_json',
          { start: at, end: at + 1 },
        )
    }
    return this.#fail('this text has no closing quote', 'invalid_json', { start, end: this.#text.length })
  }

  #readNumber(): DocumentNode | null {
    const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y
    number.lastIndex = this.#at
    const found = number.exec(this.#text)
    if (found === null) return null
    const span = { start: this.#at, end: number.lastIndex }
    this.#at = span.end
    if (!isExactNumber(found[0])) this.problems.push(inexact(found[0], span))
    return { kind: 'scalar', value: Number(found[0]), span, verbatimAt: null }
  }

  #readWord(): DocumentNode {
    const word = /[A-Za-z_]\w*|[-+.\d][\w.+-]*/y
    word.lastIndex = this.#at
    const found = word.exec(this.#text)?.[0]
    const span = { start: this.#at, end: this.#at + (found?.length ?? 1) }
    const known = found === undefined ? undefined : words.get(found)
    if (known === undefined) {
      const what =
        this.#at >= this.#text.length
          ? 'the document ends here too early'
          : `a value is expected here, not ${found ?? this.#text[this.#at]}`
      this.#fail(what, 'invalid_json', span)
    }
    this.#at = span.end
    return { kind: 'scalar', value: known!, span, verbatimAt: null }
  }

  /** The next character that is not white space; undefined at the end. */
  #next(): string | undefined {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'end')) this.#at++
    return this.#text[this.#at]
  }

  #fail(
    what: string,
    code: 'invalid_json' | 'too_deep' | 'document_too_large' = 'invalid_json',
    span: Span = { start: this.#at, end: this.#at + 1 },
  ): never {
    throw new JsonMistake({ code, message: code === 'invalid_json' ? `Invalid JSON: ${what}` : what, span })
  }
}

const words: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** The problem of a number that would be read as another one. */
export function inexact(literal: string, span: Span): TextProblem {
  const shown = literal.length > 40 ? `${literal.slice(0, 37)}...` : literal
  return {
    code: 'inexact_number',
    message: `the number ${shown} cannot be kept exactly (it would become ${Number(literal)})`,
    span,
    suggestion: 'write it in quotes if it is an identifier',
  }
}
