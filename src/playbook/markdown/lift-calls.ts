/**
 * An expression as written → the calls in it, in order, and the expression that reads their results.
 *
 * Invariants:
 * 1. A call always runs, and before the expression: one that stands where it may not be needed (behind `and`, `or`, `if`) or
 *    would be needed many times (in a comprehension) is refused.
 * 2. Inner calls come first; the arguments of a call may read the calls before it.
 */
import { nearestName } from '../../shared/nearest-name.ts'
import { builtinMethods } from '../../expression/builtin-method.ts'
import { builtinFunctions } from '../../expression/builtin-function.ts'
import { ExpressionError, type SourceRange } from '../../expression/expression-error.ts'
import { parseExpression } from '../../expression/parse-expression.ts'
import type { AccessNode, KeywordArgument, SyntaxNode } from '../../expression/syntax-node.ts'
import type { Call, Computation } from '../program.ts'
import { callOf, type Callable, type Callables, type Found } from './callables.ts'
import { fitsType } from './signature.ts'

/** A problem inside an expression; the range counts from its beginning. */
export interface ExpressionProblem extends SourceRange {
  readonly code:
    | 'invalid_expression'
    | 'unknown_call'
    | 'misplaced_call'
    | 'wrong_arguments'
    | 'unset_variable'
  readonly message: string
  readonly suggestion: string | null
}

/** A name that an expression reads. */
export interface NameUse extends SourceRange {
  readonly name: string
  readonly sigil: boolean
}

/** An expression after its calls were taken out. */
export interface Lifted {
  readonly computation: Computation
  readonly names: readonly NameUse[]
  readonly targets: readonly Callable[]
  /** Whether the expression is nothing but one call. */
  readonly isCall: boolean
  /** The value where the expression is a literal. */
  readonly literal: null | boolean | number | string | undefined
  readonly problems: readonly ExpressionProblem[]
}

/** Functions of the language that treat errors in their own way, besides the listed ones. */
const specialFunctions: ReadonlySet<string> = new Set(['has', 'default', 'any', 'all'])

/** Says whether the language itself has the function. */
export function isBuiltin(name: string): boolean {
  return builtinFunctions.has(name) || specialFunctions.has(name)
}

/** Takes the calls out of an expression; the error where it is none. */
export function liftCalls(source: string, callables: Callables, agent: string): Lifted | ExpressionError {
  const node = parseExpression(source)
  if (node instanceof ExpressionError) return node
  const lifter = new Lifter(source, callables, agent)
  const text = lifter.render(node, true)
  return {
    computation: { form: 'expression', source: text, calls: lifter.calls },
    names: lifter.names,
    targets: lifter.targets,
    isCall: text === 'call_1' && lifter.calls.length === 1,
    literal: node.kind === 'literal' ? node.value : undefined,
    problems: lifter.problems,
  }
}

/** Takes calls out of several expressions that belong together, such as the placeholders of a template. */
export class Lifter {
  readonly calls: Call[] = []
  readonly names: NameUse[] = []
  readonly targets: Callable[] = []
  readonly problems: ExpressionProblem[] = []
  readonly #source: string
  readonly #callables: Callables
  readonly #agent: string
  readonly #bound: string[] = []

  constructor(source: string, callables: Callables, agent: string) {
    this.#source = source
    this.#callables = callables
    this.#agent = agent
  }

  /** Remembers how far it came, for `undo`. */
  mark(): readonly [number, number, number, number] {
    return [this.calls.length, this.names.length, this.targets.length, this.problems.length]
  }

  /** The names read since the mark. */
  namesSince(mark: readonly [number, number, number, number]): readonly NameUse[] {
    return this.names.slice(mark[1])
  }

  /** Forgets what was found since the mark. */
  undo(mark: readonly [number, number, number, number]): void {
    this.calls.length = mark[0]
    this.names.length = mark[1]
    this.targets.length = mark[2]
    this.problems.length = mark[3]
  }

  /** The source of a part with each call replaced by the name of its result. */
  render(node: SyntaxNode, always: boolean): string {
    if (node.kind === 'literal') return this.#source.slice(node.start, node.end)
    if (node.kind === 'name') return this.#name(node)
    if (node.kind === 'call' && !isBuiltin(node.name)) {
      return this.#lift(
        node,
        this.#callables.find(node.name, this.#agent),
        node.name,
        node.positional,
        node.keywords,
        always,
      )
    }
    if (node.kind === 'access') {
      const lifted = this.#agentCall(node, always)
      if (lifted !== null) return lifted
    }
    const before = this.#bound.length
    if (node.kind === 'comprehension') {
      for (const clause of node.clauses) for (const target of clause.targets) this.#bound.push(target.name)
    }
    const text = this.#replace(node, partsOf(node, always))
    this.#bound.length = before
    return text
  }

  #name({ name, sigil, start, end }: Extract<SyntaxNode, { kind: 'name' }>): string {
    if (!this.#bound.includes(name)) this.names.push({ name, sigil, start, end })
    return this.#source.slice(start, end)
  }

  #replace(node: SourceRange, parts: readonly (readonly [SyntaxNode, boolean])[]): string {
    let text = ''
    let at = node.start
    const inOrder = parts.length > 1 ? parts.toSorted(([a], [b]) => a.start - b.start) : parts
    for (const [part, always] of inOrder) {
      text += this.#source.slice(at, part.start) + this.render(part, always)
      at = part.end
    }
    return text + this.#source.slice(at, node.end)
  }

  /** `Accountant.CalculateTax($total)`, and what is read from its result. */
  #agentCall(node: AccessNode, always: boolean): string | null {
    const [first, ...rest] = node.steps
    if (node.base.kind !== 'name' || node.base.sigil || first?.kind !== 'method') return null
    const agent = this.#callables.agentNamed(node.base.name)
    if (agent === null) {
      if (/^\p{Lu}/u.test(node.base.name) && !builtinMethods.has(first.name)) {
        const near = nearestName(node.base.name, this.#callables.agentNames)
        this.#problem(
          'unknown_call',
          node,
          `there is no agent \`${node.base.name}\``,
          near === null ? null : `did you mean \`${near}\`?`,
        )
        return 'null'
      }
      return null
    }
    const found = this.#callables.findIn(agent, first.name, this.#agent)
    const range = { start: node.start, end: first.end }
    const text = this.#lift(
      range,
      found,
      `${node.base.name}.${first.name}`,
      first.positional,
      first.keywords,
      always,
    )
    if (rest.length === 0) return text
    const inside = rest.flatMap((step): (readonly [SyntaxNode, boolean])[] => partsOfStep(step, always))
    return text + this.#replace({ start: first.end, end: node.end }, inside)
  }

  #lift(
    range: SourceRange,
    found: Found,
    name: string,
    positional: readonly SyntaxNode[],
    keywords: readonly KeywordArgument[],
    always: boolean,
  ): string {
    const given = positional.map((each) => this.render(each, always))
    // Without a prototype every key is just a key.
    const named: Record<string, string> = Object.create(null)
    for (const { name: key, value } of keywords) named[key] = this.render(value, always)
    if (!always || this.#bound.length > 0) {
      this.#problem(
        'misplaced_call',
        range,
        `the call of \`${name}\` may not be needed here, or many times`,
        'call it in a step of its own and use its result',
      )
    }
    const callable = this.#resolve(found, name, range)
    if (callable === null) return 'null'
    const misfit = argumentMisfit(callable, given.length, Object.keys(named))
    this.#checkTypes(callable, positional, keywords)
    if (misfit !== null) this.#problem('wrong_arguments', range, misfit, signatureOf(callable))
    this.targets.push(callable)
    this.calls.push(callOf(callable, given, named))
    return `call_${this.calls.length}`
  }

  #checkTypes(
    callable: Callable,
    positional: readonly SyntaxNode[],
    keywords: readonly KeywordArgument[],
  ): void {
    const check = (parameter: Callable['parameters'][number] | undefined, node: SyntaxNode): void => {
      if (parameter === undefined || node.kind !== 'literal' || fitsType(node.value, parameter.type)) return
      this.#problem(
        'wrong_arguments',
        node,
        `\`${parameter.name}\` of \`${callable.name}\` is ${parameter.type}, and ${JSON.stringify(node.value)} is not`,
        null,
      )
    }
    positional.forEach((node, at) => check(callable.parameters[at], node))
    for (const { name, value } of keywords)
      check(
        callable.parameters.find((each) => each.name === name),
        value,
      )
  }

  #resolve(found: Found, name: string, range: SourceRange): Callable | null {
    switch (found.kind) {
      case 'one':
        return found.callable
      case 'several':
        this.#problem(
          'unknown_call',
          range,
          `\`${name}\` could be ${found.names.join(' or ')}`,
          'name the agent, as in `Agent.Name(…)`',
        )
        return null
      case 'private':
        this.#problem(
          'unknown_call',
          range,
          `\`${name}\` belongs to the agent ${found.callable.agent} and is not public`,
          'write `public: true` below its heading',
        )
        return null
      case 'none':
        this.#problem(
          'unknown_call',
          range,
          `there is no playbook, function or tool \`${name}\``,
          found.nearest === null ? null : `did you mean \`${found.nearest}\`?`,
        )
        return null
    }
  }

  #problem(
    code: ExpressionProblem['code'],
    range: SourceRange,
    message: string,
    suggestion: string | null,
  ): void {
    this.problems.push({ code, message, suggestion, start: range.start, end: range.end })
  }
}

/** Why arguments do not fit what is called, or null. */
export function argumentMisfit(
  callable: Callable,
  positional: number,
  named: readonly string[],
): string | null {
  const { parameters, name, required } = callable
  const known = parameters.map((each) => each.name)
  if (callable.open === true)
    return positional === 0
      ? null
      : `nothing says what \`${name}\` takes, so its arguments must be given by name`
  if (positional > known.length) {
    return `\`${name}\` takes ${countOf(known.length)}, and ${positional} are given`
  }
  const strange = named.find((each) => !known.includes(each))
  if (strange !== undefined) return `\`${name}\` has no parameter \`${strange}\``
  const twice = named.find((each) => known.indexOf(each) < positional)
  if (twice !== undefined) return `\`${twice}\` is given to \`${name}\` twice`
  const missing = (required ?? []).filter(
    (each) => known.indexOf(each) >= positional && !named.includes(each),
  )
  return missing.length === 0
    ? null
    : `\`${name}\` needs ${missing.map((each) => `\`${each}\``).join(', ')} too`
}

function countOf(number: number): string {
  return number === 0 ? 'no arguments' : number === 1 ? 'one argument' : `${number} arguments`
}

function signatureOf({ name, parameters, open }: Callable): string {
  if (open === true) return `write such as \`${name}(amount=…)\``
  return `it is \`${name}(${parameters.map((each) => (each.default === undefined ? each.name : `${each.name}=${JSON.stringify(each.default)}`)).join(', ')})\``
}

/** The parts of a node, each with whether it is always looked at. */
function partsOf(node: SyntaxNode, always: boolean): (readonly [SyntaxNode, boolean])[] {
  const each = (nodes: readonly SyntaxNode[], needed = always) => nodes.map((part) => [part, needed] as const)
  switch (node.kind) {
    case 'literal':
    case 'name':
      return []
    case 'list':
      return each(node.items)
    case 'dict':
      return each(node.entries.flatMap(({ key, value }) => [key, value]))
    case 'call':
      // `default(F(x), y)` and its kind look at their arguments in their own way.
      return each(
        [...node.positional, ...node.keywords.map(({ value }) => value)],
        always && !specialFunctions.has(node.name),
      )
    case 'access':
      return [[node.base, always], ...node.steps.flatMap((step) => partsOfStep(step, always))]
    case 'arithmetic':
    case 'comparison':
      return each([node.first, ...node.rest.map(({ operand }) => operand)])
    case 'power':
      return each([node.base, node.exponent])
    case 'negate':
    case 'not':
      return each([node.operand])
    case 'and':
    case 'or':
      return node.operands.map((operand, at) => [operand, always && at === 0] as const)
    case 'choice':
      return [
        ...node.branches.flatMap(({ test, value }, at) => [
          [test, always && at === 0] as const,
          [value, false] as const,
        ]),
        [node.otherwise, false],
      ]
    case 'comprehension':
      return [
        ...(node.key === null ? [] : [[node.key, false] as const]),
        [node.element, false],
        ...node.clauses.flatMap(({ source, tests }) => [[source, false] as const, ...each(tests, false)]),
      ]
    case 'text':
      return each(node.parts.flatMap((part) => (typeof part === 'string' ? [] : [part.value])))
  }
}

function partsOfStep(step: AccessNode['steps'][number], always: boolean): (readonly [SyntaxNode, boolean])[] {
  switch (step.kind) {
    case 'member':
      return []
    case 'index':
      return [[step.index, always]]
    case 'slice':
      return [step.from, step.to].flatMap((part) => (part === null ? [] : [[part, always] as const]))
    case 'method':
      return [...step.positional, ...step.keywords.map(({ value }) => value)].map(
        (part) => [part, always] as const,
      )
  }
}
