import { expressionLimit } from './expression-limit.ts'
import type { SourceRange } from './expression-error.ts'
import { readToken, type Token } from './read-token.ts'
import { SyntaxFailure } from './syntax-failure.ts'

/** The parser's place in the source: one token of lookahead, and the depth of nesting. */
export class TokenCursor {
  readonly source: string
  token: Token
  /** The end of the token before the current one. */
  lastEnd = 0
  #depth = 0

  constructor(source: string, offset = 0) {
    this.source = source
    this.token = readToken(source, offset)
  }

  /** Moves on and returns the token that was current. */
  take(): Token {
    const token = this.token
    this.jump(token.end)
    return token
  }

  /** Continues reading at an offset; f-strings switch between text and expression this way. */
  jump(offset: number): void {
    this.lastEnd = offset
    this.token = readToken(this.source, offset)
  }

  isSign(sign: string): boolean {
    return this.token.kind === 'sign' && this.token.text === sign
  }

  isWord(name: string): boolean {
    return this.token.kind === 'name' && !this.token.sigil && this.token.text === name
  }

  takeSign(sign: string): boolean {
    if (!this.isSign(sign)) return false
    this.take()
    return true
  }

  takeWord(name: string): boolean {
    if (!this.isWord(name)) return false
    this.take()
    return true
  }

  /** Takes the sign or fails with what was expected and what is there. */
  expectSign(sign: string, after: string): void {
    if (!this.takeSign(sign)) this.fail(`expected \`${sign}\` ${after}, found ${this.describe()}`)
  }

  expectWord(name: string, after: string): void {
    if (!this.takeWord(name)) this.fail(`expected \`${name}\` ${after}, found ${this.describe()}`)
  }

  /** Goes one level deeper, within the limit that protects the stack; `leave` goes back. */
  enter(): void {
    if (++this.#depth > expressionLimit.depth) {
      throw new SyntaxFailure(
        'expression_limit',
        `the expression is nested more than ${expressionLimit.depth} levels deep`,
        this.token,
      )
    }
  }

  leave(): void {
    this.#depth--
  }

  describe(): string {
    const { token } = this
    if (token.kind === 'end') return 'the end of the expression'
    const text = this.source.slice(token.start, token.end)
    return `\`${text.length > 30 ? `${text.slice(0, 29)}…` : text}\``
  }

  fail(message: string, range: SourceRange = this.token): never {
    throw new SyntaxFailure('expression_syntax', message, range)
  }

  refuse(message: string, range: SourceRange = this.token): never {
    throw new SyntaxFailure('unsupported_syntax', message, range)
  }
}
