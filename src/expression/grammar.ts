import type { SyntaxNode } from './syntax-node.ts'
import type { TokenCursor } from './token-cursor.ts'

/** The two entries into the grammar from inside brackets: a whole expression, or one without `if … else`. */
export interface Grammar {
  expression(cursor: TokenCursor): SyntaxNode
  operand(cursor: TokenCursor): SyntaxNode
}
