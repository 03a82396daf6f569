import type { Compilation, Compiled, Outcome } from './compilation.ts'
import { keyError } from './compile-comprehension.ts'
import { ExpressionError } from './expression-error.ts'
import { emptyDict, kindOf, type ExpressionValue } from './expression-value.ts'
import type { DictNode, ListNode, LiteralNode } from './syntax-node.ts'

/** Compiles a value that is known; it is frozen, because every evaluation hands out the same one. */
export function compileConstant<Host>(value: ExpressionValue): Compiled<Host> {
  const constant = typeof value === 'object' && value !== null ? Object.freeze(value) : value
  const kind = kindOf(constant)
  return { evaluate: () => constant, type: kind === 'unsupported' ? 'any' : kind, constant }
}

/** Compiles a number, string, `true`, `false` or `null`. */
export function compileLiteral<Host>(node: LiteralNode): Compiled<Host> {
  return compileConstant(node.value)
}

/** Compiles a list; one of constants is made once. */
export function compileList<Host>(node: ListNode, compilation: Compilation<Host>): Compiled<Host> {
  const items = node.items.map((item) => compilation.compile(item))
  if (items.every((item) => item.constant !== undefined))
    return compileConstant(items.map((item) => item.constant!))
  compilation.builds = true
  return {
    evaluate: (values, host, scope): Outcome => {
      const list: ExpressionValue[] = []
      for (const item of items) {
        const value = item.evaluate(values, host, scope)
        if (value instanceof ExpressionError) return value
        list.push(value)
      }
      return list
    },
    type: 'list',
  }
}

/** Compiles a dict; its keys are strings, and one given twice as a literal is refused. */
export function compileDict<Host>(node: DictNode, compilation: Compilation<Host>): Compiled<Host> {
  const seen = new Set<string>()
  const entries = node.entries.map((entry) => {
    const key = compilation.compile(entry.key)
    compilation.expect(key, entry.key, ['string'], 'the key of a dict is a string')
    if (typeof key.constant === 'string') {
      if (seen.has(key.constant)) compilation.report('expression_syntax', 'the key is given twice', entry.key)
      seen.add(key.constant)
    }
    return { key, value: compilation.compile(entry.value), range: entry.key }
  })
  if (entries.every(({ key, value }) => typeof key.constant === 'string' && value.constant !== undefined)) {
    const dict = emptyDict()
    for (const { key, value } of entries) dict[key.constant as string] = value.constant!
    return compileConstant(dict)
  }
  compilation.builds = true
  return {
    evaluate: (values, host, scope): Outcome => {
      const dict = emptyDict()
      for (const entry of entries) {
        const key = entry.key.evaluate(values, host, scope)
        if (key instanceof ExpressionError) return key
        if (typeof key !== 'string') return keyError(key, entry.range)
        const value = entry.value.evaluate(values, host, scope)
        if (value instanceof ExpressionError) return value
        dict[key] = value
      }
      return dict
    },
    type: 'dict',
  }
}
