import type { Compilation, Compiled, Evaluate, Outcome, Slots } from './compilation.ts'
import { compileMethod } from './compile-method.ts'
import { ExpressionError, type SourceRange } from './expression-error.ts'
import { spend, spendText, tooMuchWork, type EvaluationScope } from './expression-limit.ts'
import { isList, kindOf, readMember, type ExpressionValue } from './expression-value.ts'
import type { AccessNode, AccessStep, NameNode, SyntaxNode } from './syntax-node.ts'
import { charactersOf } from './text-characters.ts'

/** Applies one step of an access chain to the value before it. */
type Apply<Host> = (value: ExpressionValue, values: Slots, host: Host, scope: EvaluationScope) => Outcome

/** Compiles a variable on its own. */
export function compileName<Host>(node: NameNode, compilation: Compilation<Host>): Compiled<Host> {
  return compileRoot(node, [], node.end, compilation)
}

function compileRoot<Host>(
  node: NameNode,
  path: readonly string[],
  end: number,
  compilation: Compilation<Host>,
): Compiled<Host> {
  const local = node.sigil ? undefined : compilation.localOf(node.name)
  if (local !== undefined) {
    return { evaluate: (_values, _host, scope) => scope.locals[local] as ExpressionValue, type: 'any' }
  }
  if (node.sigil && !compilation.sigil) {
    return compilation.report(
      'unsupported_syntax',
      `write \`${node.name}\` instead of \`$${node.name}\``,
      node,
    )
  }
  const slot = compilation.slots.get(node.name)
  if (slot === undefined) {
    const advice = compilation.suggest(node.name, compilation.knownNames())
    return compilation.report('unknown_name', `there is no \`${node.name}\` here${advice}`, node)
  }
  compilation.references.push({ name: node.name, path, start: node.start, end })
  const missing = new ExpressionError('missing_value', `${compilation.quote(node)} is missing`, node)
  return {
    evaluate: (values) => {
      const value = values[slot]
      return value === undefined ? missing : value
    },
    type: 'any',
  }
}

/** Compiles a chain of members, indexes, slices and methods. */
export function compileAccess<Host>(node: AccessNode, compilation: Compilation<Host>): Compiled<Host> {
  const path = staticPath(node.steps)
  const pathEnd = path.length === 0 ? node.base.end : node.steps[path.length - 1]!.end
  const base =
    node.base.kind === 'name'
      ? compileRoot(node.base, path, pathEnd, compilation)
      : compilation.compile(node.base)
  const slot = node.base.kind === 'name' ? slotOf(node.base, compilation) : undefined
  const only = node.steps.length === 1 ? memberKey(node.steps[0]!) : null
  if (slot !== undefined && only !== null) {
    compilation.parts++
    const absent = new ExpressionError(
      'missing_value',
      `${compilation.quote(node.base)} is missing`,
      node.base,
    )
    const place = { slot, key: interned(only) }
    return { evaluate: readPlace(place, absent, missingAt(node, compilation)), type: 'any', place }
  }
  let current = base
  let reads: Apply<Host>[] = []
  for (const step of node.steps) {
    compilation.parts++
    const range = { start: node.start, end: step.end }
    if (step.kind === 'method') {
      current = compileMethod(applyAll(current, reads), step, range, compilation)
      reads = []
    } else {
      if (step.kind === 'slice' && reads.length === 0) {
        compilation.expect(current, node.base, ['list', 'string'], 'a slice is taken of a list or a string')
      }
      reads.push(compileStep(step, range, compilation))
    }
  }
  const last = node.steps.at(-1)!
  const keepsType = node.steps.length === 1 && last.kind === 'slice'
  return keepsType ? { ...applyAll(current, reads), type: current.type } : applyAll(current, reads)
}

/** Reads step after step in a loop, so that a chain of any length needs no deeper stack than a short one. */
function applyAll<Host>(target: Compiled<Host>, reads: readonly Apply<Host>[]): Compiled<Host> {
  if (reads.length === 0) return target
  const { evaluate } = target
  return {
    evaluate: (values, host, scope) => {
      let value = evaluate(values, host, scope)
      for (let i = 0; i < reads.length && !(value instanceof ExpressionError); i++) {
        value = reads[i]!(value, values, host, scope)
      }
      return value
    },
    type: 'any',
  }
}

function slotOf<Host>(node: NameNode, compilation: Compilation<Host>): number | undefined {
  if (!node.sigil && compilation.localOf(node.name) !== undefined) return undefined
  return node.sigil && !compilation.sigil ? undefined : compilation.slots.get(node.name)
}

/** The one read that nearly every condition makes, kept free of calls and of anything that allocates. */
function readPlace<Host>(
  { slot, key }: { readonly slot: number; readonly key: string },
  absent: ExpressionError,
  missing: ExpressionError,
): Evaluate<Host> {
  return (values) => {
    const base = values[slot]
    if (base === undefined) return absent
    const value = readMember(base, key)
    return value === undefined ? missing : value
  }
}

/** The engine's own copy of the string: lookups by it are much faster than by a slice of the source. */
function interned(key: string): string {
  return Object.keys({ [key]: 0 })[0] ?? key
}

function memberKey(step: AccessStep): string | null {
  if (step.kind === 'member') return step.name
  const index = step.kind === 'index' ? step.index : null
  return index?.kind === 'literal' && typeof index.value === 'string' ? index.value : null
}

function staticPath(steps: readonly AccessStep[]): string[] {
  const path: string[] = []
  for (const step of steps) {
    const key = memberKey(step)
    if (key === null) break
    path.push(key)
  }
  return path
}

function missingAt<Host>(range: SourceRange, compilation: Compilation<Host>): ExpressionError {
  return new ExpressionError('missing_value', `${compilation.quote(range)} is missing`, range)
}

function compileStep<Host>(
  step: AccessStep,
  range: SourceRange,
  compilation: Compilation<Host>,
): Apply<Host> {
  const missing = missingAt(range, compilation)
  const key = memberKey(step)
  if (key !== null) {
    const name = interned(key)
    return (value) => {
      const member = readMember(value, name)
      return member === undefined ? missing : member
    }
  }
  if (step.kind === 'index') return compileIndex(step.index, range, missing, compilation)
  if (step.kind === 'slice') return compileSlice(step.from, step.to, range, compilation)
  return () => missing
}

function compileIndex<Host>(
  node: SyntaxNode,
  range: SourceRange,
  missing: ExpressionError,
  compilation: Compilation<Host>,
): Apply<Host> {
  const index = compilation.compile(node)
  compilation.expect(index, node, ['string', 'number'], 'an index is a string or a whole number')
  return (value, values, host, scope) => {
    const at = index.evaluate(values, host, scope)
    if (at instanceof ExpressionError) return at
    if (typeof at === 'string') {
      const member = readMember(value, at)
      return member === undefined ? missing : member
    }
    if (typeof at !== 'number' || !Number.isInteger(at)) {
      const found = typeof at === 'number' ? String(at) : `a ${kindOf(at)}`
      return new ExpressionError('wrong_type', `an index is a string or a whole number, not ${found}`, node)
    }
    if (typeof value === 'string') {
      if (!spendText(scope, value.length)) return tooMuchWork(range)
      return charactersOf(value).at(at) ?? missing
    }
    const item = isList(value) ? value.at(at) : undefined
    return item === undefined ? missing : item
  }
}

function compileSlice<Host>(
  from: SyntaxNode | null,
  to: SyntaxNode | null,
  range: SourceRange,
  compilation: Compilation<Host>,
): Apply<Host> {
  const bound = (node: SyntaxNode | null) => {
    if (node === null) return null
    const part = compilation.compile(node)
    compilation.expect(part, node, ['number'], 'the bound of a slice is a whole number')
    return { node, evaluate: part.evaluate }
  }
  const start = bound(from)
  const stop = bound(to)
  return (value, values, host, scope) => {
    const bounds: (number | undefined)[] = []
    for (const each of [start, stop]) {
      const at = each === null ? undefined : each.evaluate(values, host, scope)
      if (at instanceof ExpressionError) return at
      if (at !== undefined && (typeof at !== 'number' || !Number.isInteger(at))) {
        return new ExpressionError('wrong_type', 'the bound of a slice is a whole number', each!.node)
      }
      bounds.push(at)
    }
    if (typeof value === 'string') {
      if (!spendText(scope, value.length)) return tooMuchWork(range)
      const characters = charactersOf(value).slice(bounds[0], bounds[1])
      return typeof characters === 'string' ? characters : characters.join('')
    }
    if (!isList(value)) {
      return new ExpressionError(
        'wrong_type',
        `a slice is taken of a list or a string, not a ${kindOf(value)}`,
        range,
      )
    }
    return spend(scope, value.length) ? value.slice(bounds[0], bounds[1]) : tooMuchWork(range)
  }
}
