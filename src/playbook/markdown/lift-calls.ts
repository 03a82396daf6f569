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
import type { AccessNode, CallNode, KeywordArgument, SyntaxNode } from '../../expression/syntax-node.ts'
import type { Call, Computation } from '../program.ts'
import { argumentMisfit, signatureOf } from './argument-misfit.ts'
import { callOf, type Callable, type Callables, type Found } from './callables.ts'
import { describeMissing } from './describe-missing.ts'
import { plainExpression } from './plain-expression.ts'
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
  const plain = plainExpression(source)
  if (plain !== null)
    return {
      computation: { form: 'expression', source, calls: none },
      names: plain.names,
      targets: none,
      isCall: false,
      literal: plain.literal,
      problems: none,
    }
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

/** Most expressions have no calls and no problems, and share the list of none. */
const none: readonly never[] = []

/** Takes calls out of several expressions that belong together, such as the placeholders of a template. */
export class Lifter {
  #calls: Call[] | null = null
  #names: NameUse[] | null = null
  #targets: Callable[] | null = null
  #problems: ExpressionProblem[] | null = null
  readonly #source: string
  readonly #callables: Callables
  readonly #agent: string
  #bound: string[] | null = null
  /** What stands for the calls of the part that is being rendered. */
  #replaced: (SourceRange & { readonly text: string })[] | null = null

  constructor(source: string, callables: Callables, agent: string) {
    this.#source = source
    this.#callables = callables
    this.#agent = agent
  }

  get calls(): readonly Call[] {
    return this.#calls ?? none
  }

  get names(): readonly NameUse[] {
    return this.#names ?? none
  }

  get targets(): readonly Callable[] {
    return this.#targets ?? none
  }

  get problems(): readonly ExpressionProblem[] {
    return this.#problems ?? none
  }

  /** Notes a name that is read. */
  addName(use: NameUse): void {
    if (this.#names === null) this.#names = [use]
    else this.#names.push(use)
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
    if (this.#calls !== null) this.#calls.length = mark[0]
    if (this.#names !== null) this.#names.length = mark[1]
    if (this.#targets !== null) this.#targets.length = mark[2]
    if (this.#problems !== null) this.#problems.length = mark[3]
  }

  /** The source of a part with each call replaced by the name of its result. */
  render(node: SyntaxNode, always: boolean): string {
    const before = this.#replaced?.length ?? 0
    this.#visit(node, always)
    if (this.#replaced === null || this.#replaced.length === before)
      return this.#source.slice(node.start, node.end)
    let text = ''
    let at = node.start
    for (const each of this.#replaced.splice(before)) {
      text += this.#source.slice(at, each.start) + each.text
      at = each.end
    }
    return text + this.#source.slice(at, node.end)
  }

  /** Looks at a part and at what is in it, in the order it is written. */
  #visit(node: SyntaxNode, always: boolean): void {
    switch (node.kind) {
      case 'literal':
        return
      case 'name':
        if (this.#bound === null || !this.#bound.includes(node.name)) {
          const { name, sigil, start, end } = node
          this.addName({ name, sigil, start, end })
        }
        return
      case 'list':
        return this.#visitAll(node.items, always)
      case 'dict':
        for (const { key, value } of node.entries) {
          this.#visit(key, always)
          this.#visit(value, always)
        }
        return
      case 'call': {
        const { name, positional, keywords } = node
        if (!isBuiltin(name)) {
          const found = this.#callables.find(name, this.#agent)
          return this.#lift(node, found, name, positional, keywords, always)
        }
        // `default(F(x), y)` and its kind look at their arguments in their own way.
        return this.#visitArguments(node, always && !specialFunctions.has(name))
      }
      case 'access':
        if (this.#agentCall(node, always) || this.#dottedCall(node, always)) return
        this.#visit(node.base, always)
        return this.#visitSteps(node.steps, always)
      case 'arithmetic':
      case 'comparison':
        this.#visit(node.first, always)
        for (const { operand } of node.rest) this.#visit(operand, always)
        return
      case 'power':
        this.#visit(node.base, always)
        return this.#visit(node.exponent, always)
      case 'negate':
      case 'not':
        return this.#visit(node.operand, always)
      case 'and':
      case 'or':
        return node.operands.forEach((operand, at) => this.#visit(operand, always && at === 0))
      case 'choice':
        node.branches.forEach(({ test, value }, at) => {
          this.#visit(value, false)
          this.#visit(test, always && at === 0)
        })
        return this.#visit(node.otherwise, false)
      case 'comprehension':
        return this.#visitComprehension(node)
      case 'text':
        for (const part of node.parts) if (typeof part !== 'string') this.#visit(part.value, always)
    }
  }

  #visitAll(nodes: readonly SyntaxNode[], always: boolean): void {
    for (const node of nodes) this.#visit(node, always)
  }

  #visitArguments(
    { positional, keywords }: Pick<CallNode, 'positional' | 'keywords'>,
    always: boolean,
  ): void {
    this.#visitAll(positional, always)
    for (const { value } of keywords) this.#visit(value, always)
  }

  #visitSteps(steps: AccessNode['steps'], always: boolean): void {
    for (const step of steps) {
      if (step.kind === 'index') this.#visit(step.index, always)
      else if (step.kind === 'method') this.#visitArguments(step, always)
      else if (step.kind === 'slice') {
        if (step.from !== null) this.#visit(step.from, always)
        if (step.to !== null) this.#visit(step.to, always)
      }
    }
  }

  #visitComprehension({ key, element, clauses }: Extract<SyntaxNode, { kind: 'comprehension' }>): void {
    this.#bound ??= []
    const before = this.#bound.length
    for (const clause of clauses) for (const target of clause.targets) this.#bound.push(target.name)
    if (key !== null) this.#visit(key, false)
    this.#visit(element, false)
    for (const { source, tests } of clauses) {
      this.#visit(source, false)
      this.#visitAll(tests, false)
    }
    this.#bound.length = before
  }

  /** `Accountant.CalculateTax($total)`, and what is read from its result; says whether it is one. */
  #agentCall(node: AccessNode, always: boolean): boolean {
    const first = node.steps[0]
    if (node.base.kind !== 'name' || node.base.sigil || first?.kind !== 'method') return false
    const agent = this.#callables.agentNamed(node.base.name)
    if (agent === null) {
      if (this.#dottedTool(node) !== null) return false
      if (/^\p{Lu}/u.test(node.base.name) && !builtinMethods.has(first.name)) {
        const near = nearestName(node.base.name, this.#callables.agentNames)
        this.#problem(
          'unknown_call',
          node,
          `there is no agent \`${node.base.name}\``,
          near === null ? null : `did you mean \`${near}\`?`,
        )
        this.#replace(node, 'null')
        return true
      }
      return false
    }
    const found = this.#callables.findIn(agent, first.name, this.#agent)
    const range = { start: node.start, end: first.end }
    const name = `${node.base.name}.${first.name}`
    this.#lift(range, found, name, first.positional, first.keywords, always)
    this.#visitSteps(node.steps.slice(1), always)
    return true
  }

  /** The tool with dots in its name that is called, and how many steps are its name. */
  #dottedTool({
    base,
    steps,
  }: AccessNode): { readonly found: Found; readonly name: string; readonly at: number } | null {
    if (base.kind !== 'name' || base.sigil || !this.#callables.leadsTool(base.name)) return null
    let name = base.name
    for (const [at, step] of steps.entries()) {
      if (step.kind !== 'member' && step.kind !== 'method') return null
      name += `.${step.name}`
      if (step.kind === 'member') continue
      return { found: this.#callables.find(name, this.#agent), name, at }
    }
    return null
  }

  /** `practice.lookup_order($id)`, and what is read from its result; says whether it is one. */
  #dottedCall(node: AccessNode, always: boolean): boolean {
    const tool = this.#dottedTool(node)
    if (tool === null) return false
    const step = node.steps[tool.at] as Extract<AccessNode['steps'][number], { kind: 'method' }>
    const range = { start: node.start, end: step.end }
    this.#lift(range, tool.found, tool.name, step.positional, step.keywords, always)
    this.#visitSteps(node.steps.slice(tool.at + 1), always)
    return true
  }

  #lift(
    range: SourceRange,
    found: Found,
    name: string,
    positional: readonly SyntaxNode[],
    keywords: readonly KeywordArgument[],
    always: boolean,
  ): void {
    const given = positional.map((each) => this.render(each, always))
    // Without a prototype every key is just a key.
    const named: Record<string, string> = Object.create(null)
    for (const { name: key, value } of keywords) named[key] = this.render(value, always)
    if (!always || (this.#bound !== null && this.#bound.length > 0)) {
      this.#problem(
        'misplaced_call',
        range,
        `the call of \`${name}\` may not be needed here, or many times`,
        'call it in a step of its own and use its result',
      )
    }
    const callable = this.#resolve(found, name, range)
    if (callable === null) return this.#replace(range, 'null')
    const misfit = argumentMisfit(callable, given.length, Object.keys(named))
    this.#checkTypes(callable, positional, keywords)
    if (misfit !== null) this.#problem('wrong_arguments', range, misfit, signatureOf(callable))
    this.#targets ??= []
    this.#targets.push(callable)
    this.#calls ??= []
    this.#calls.push(callOf(callable, given, named))
    this.#replace(range, `call_${this.#calls.length}`)
  }

  #replace({ start, end }: SourceRange, text: string): void {
    this.#replaced ??= []
    this.#replaced.push({ start, end, text })
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
    if (found.kind === 'one') return found.callable
    const { message, suggestion } = describeMissing(found, name)
    this.#problem('unknown_call', range, message, suggestion)
    return null
  }

  #problem(
    code: ExpressionProblem['code'],
    range: SourceRange,
    message: string,
    suggestion: string | null,
  ): void {
    this.#problems ??= []
    this.#problems.push({ code, message, suggestion, start: range.start, end: range.end })
  }
}
