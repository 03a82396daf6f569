import type { Compilation, Compiled } from './compilation.ts'
import { compileAccess, compileName } from './compile-access.ts'
import { compileArithmetic, compileNegate, compilePower } from './compile-arithmetic.ts'
import { compileCall } from './compile-call.ts'
import { compileComparison } from './compile-comparison.ts'
import { compileComprehension } from './compile-comprehension.ts'
import { compileDict, compileList, compileLiteral } from './compile-literal.ts'
import { compileChoice, compileLogic, compileNot } from './compile-logic.ts'
import { compileText } from './compile-text.ts'
import type { SyntaxNode } from './syntax-node.ts'

/** Checks one part of an expression and compiles it to a closure, its own parts first. */
export function compileNode<Host>(node: SyntaxNode, compilation: Compilation<Host>): Compiled<Host> {
  switch (node.kind) {
    case 'literal':
      return compileLiteral(node)
    case 'name':
      return compileName(node, compilation)
    case 'list':
      return compileList(node, compilation)
    case 'dict':
      return compileDict(node, compilation)
    case 'access':
      return compileAccess(node, compilation)
    case 'call':
      return compileCall(node, compilation)
    case 'arithmetic':
      return compileArithmetic(node, compilation)
    case 'power':
      return compilePower(node, compilation)
    case 'negate':
      return compileNegate(node, compilation)
    case 'not':
      return compileNot(node, compilation)
    case 'and':
    case 'or':
      return compileLogic(node, compilation)
    case 'comparison':
      return compileComparison(node, compilation)
    case 'choice':
      return compileChoice(node, compilation)
    case 'comprehension':
      return compileComprehension(node, compilation)
    case 'text':
      return compileText(node, compilation)
  }
}
