import type { SourceRange } from './expression-error.ts'

/** A number, string, `true`, `false` or `null` as written. */
export interface LiteralNode extends SourceRange {
  readonly kind: 'literal'
  readonly value: null | boolean | number | string
}

/** A variable, with or without the sigil of Markdown playbooks. */
export interface NameNode extends SourceRange {
  readonly kind: 'name'
  readonly name: string
  readonly sigil: boolean
}

export interface ListNode extends SourceRange {
  readonly kind: 'list'
  readonly items: readonly SyntaxNode[]
}

export interface DictNode extends SourceRange {
  readonly kind: 'dict'
  readonly entries: readonly { readonly key: SyntaxNode; readonly value: SyntaxNode }[]
}

export interface KeywordArgument extends SourceRange {
  readonly name: string
  readonly value: SyntaxNode
}

export interface CallNode extends SourceRange {
  readonly kind: 'call'
  readonly name: string
  readonly positional: readonly SyntaxNode[]
  readonly keywords: readonly KeywordArgument[]
}

/** One step of an access chain; its range is the step's own, from the dot or bracket on. */
export type AccessStep = SourceRange &
  (
    | { readonly kind: 'member'; readonly name: string }
    | { readonly kind: 'index'; readonly index: SyntaxNode }
    | { readonly kind: 'slice'; readonly from: SyntaxNode | null; readonly to: SyntaxNode | null }
    | {
        readonly kind: 'method'
        readonly name: string
        readonly positional: readonly SyntaxNode[]
        readonly keywords: readonly KeywordArgument[]
      }
  )

/** A base and everything read from it, flat, so that a long chain needs no deep tree. */
export interface AccessNode extends SourceRange {
  readonly kind: 'access'
  readonly base: SyntaxNode
  readonly steps: readonly AccessStep[]
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%'

/** A run of operators of one precedence, applied from left to right. */
export interface ArithmeticNode extends SourceRange {
  readonly kind: 'arithmetic'
  readonly first: SyntaxNode
  readonly rest: readonly { readonly operator: ArithmeticOperator; readonly operand: SyntaxNode }[]
}

export interface PowerNode extends SourceRange {
  readonly kind: 'power'
  readonly base: SyntaxNode
  readonly exponent: SyntaxNode
}

export interface NegateNode extends SourceRange {
  readonly kind: 'negate'
  readonly operand: SyntaxNode
}

export interface NotNode extends SourceRange {
  readonly kind: 'not'
  readonly operand: SyntaxNode
}

export interface LogicNode extends SourceRange {
  readonly kind: 'and' | 'or'
  readonly operands: readonly SyntaxNode[]
}

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in'

/** A comparison, possibly chained: each operand is compared with the next. */
export interface ComparisonNode extends SourceRange {
  readonly kind: 'comparison'
  readonly first: SyntaxNode
  readonly rest: readonly { readonly operator: ComparisonOperator; readonly operand: SyntaxNode }[]
}

/** `a if c else b`, with the chain of further `else … if …` laid flat. */
export interface ChoiceNode extends SourceRange {
  readonly kind: 'choice'
  readonly branches: readonly { readonly test: SyntaxNode; readonly value: SyntaxNode }[]
  readonly otherwise: SyntaxNode
}

/** `for targets in source`, with its filters. */
export interface ForClause extends SourceRange {
  readonly targets: readonly NameNode[]
  readonly source: SyntaxNode
  readonly tests: readonly SyntaxNode[]
}

export interface ComprehensionNode extends SourceRange {
  readonly kind: 'comprehension'
  readonly form: 'list' | 'generator' | 'dict'
  readonly key: SyntaxNode | null
  readonly element: SyntaxNode
  readonly clauses: readonly ForClause[]
}

/** One placeholder of an f-string; `format` is the text after the colon. */
export interface TextHole extends SourceRange {
  readonly value: SyntaxNode
  readonly format: string | null
}

/** An f-string: literal text and placeholders in order. */
export interface TextNode extends SourceRange {
  readonly kind: 'text'
  readonly parts: readonly (string | TextHole)[]
}

/** An expression as written, with the range of each part. */
export type SyntaxNode =
  | LiteralNode
  | NameNode
  | ListNode
  | DictNode
  | CallNode
  | AccessNode
  | ArithmeticNode
  | PowerNode
  | NegateNode
  | NotNode
  | LogicNode
  | ComparisonNode
  | ChoiceNode
  | ComprehensionNode
  | TextNode
