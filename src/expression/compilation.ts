import { nearestName } from '../shared/nearest-name.ts'
import { ExpressionError, type ExpressionErrorCode, type SourceRange } from './expression-error.ts'
import type { EvaluationScope } from './expression-limit.ts'
import type { ExpressionValue, ValueKind } from './expression-value.ts'
import type { ContextFunction } from './context-function.ts'
import type { KeywordArgument, NameNode, SyntaxNode } from './syntax-node.ts'

/** The outcome of evaluating any part: its value, or why it has none. */
export type Outcome = ExpressionValue | ExpressionError

/** The values of the root names, in the order in which the embedder listed them. */
export type Slots = readonly (ExpressionValue | undefined)[]

/** A part of an expression, ready to run. */
export type Evaluate<Host> = (values: Slots, host: Host, scope: EvaluationScope) => Outcome

/** What is known of a part's value before it runs. */
export type StaticType = ValueKind | 'any'

/** A compiled part; `constant` is there when its value is known, `place` when it is one member of a root value. */
export interface Compiled<Host> {
  readonly evaluate: Evaluate<Host>
  readonly type: StaticType
  readonly constant?: ExpressionValue
  readonly place?: { readonly slot: number; readonly key: string }
}

/** A use of a root name with the members read from it by fixed names. */
export interface ExpressionReference extends SourceRange {
  readonly name: string
  readonly path: readonly string[]
}

/** A call of a function that the embedder added. */
export interface ExpressionCall extends SourceRange {
  readonly name: string
  readonly literal: string | null
  readonly keywords: readonly string[]
}

/** What the parts of one expression share while they are compiled: names, findings, and how to compile a part. */
export class Compilation<Host> {
  readonly source: string
  readonly profile: 'condition' | 'template'
  readonly sigil: boolean
  readonly slots: ReadonlyMap<string, number>
  readonly functions: ReadonlyMap<string, ContextFunction<Host>>
  readonly compile: (node: SyntaxNode) => Compiled<Host>
  readonly errors: ExpressionError[] = []
  readonly references: ExpressionReference[] = []
  readonly calls: ExpressionCall[] = []
  /** How many parts have been compiled: the difference around a loop's body is the cost of one pass. */
  parts = 0
  /** Whether the value may hold lists or dicts made here, which can be far larger than the work that made them. */
  builds = false
  localCount = 0
  readonly #locals = new Map<string, number>()

  constructor(
    source: string,
    options: {
      readonly profile: 'condition' | 'template'
      readonly names: readonly string[]
      readonly functions?: readonly ContextFunction<Host>[]
      readonly sigil?: boolean
    },
    compile: (node: SyntaxNode, compilation: Compilation<Host>) => Compiled<Host>,
  ) {
    this.source = source
    this.profile = options.profile
    this.sigil = options.sigil ?? false
    this.slots = new Map(options.names.map((name, slot) => [name, slot]))
    this.functions = new Map((options.functions ?? []).map((each) => [each.name, each]))
    this.compile = (node) => {
      this.parts++
      return compile(node, this)
    }
  }

  get isCondition(): boolean {
    return this.profile === 'condition'
  }

  /** The source of a part, shortened for a message. */
  quote(range: SourceRange): string {
    const text = this.source.slice(range.start, range.end).replace(/\s+/g, ' ')
    return text.length > 60 ? `\`${text.slice(0, 59)}…\`` : `\`${text}\``
  }

  /** Records a compile error and stands in for the part that has it. */
  report(code: ExpressionErrorCode, message: string, range: SourceRange): Compiled<Host> {
    const error = new ExpressionError(code, message, range)
    this.errors.push(error)
    return { evaluate: () => error, type: 'any' }
  }

  /** Reports the part if it is known to be of another type than those that fit there. */
  expect(part: Compiled<Host>, range: SourceRange, types: readonly StaticType[], need: string): void {
    if (part.type !== 'any' && !types.includes(part.type)) {
      this.report('wrong_type', `${need}, and ${this.quote(range)} is a ${part.type}`, range)
    }
  }

  /** Makes the variables of a comprehension visible while its parts are compiled; returns their places. */
  bind(targets: readonly NameNode[]): number[] {
    return targets.map((target) => {
      const { name } = target
      if (this.#locals.has(name) || this.slots.has(name)) {
        this.report(
          'unsupported_syntax',
          `\`${name}\` already means something; choose another variable`,
          target,
        )
      }
      const place = this.localCount++
      this.#locals.set(name, place)
      return place
    })
  }

  unbind(targets: readonly NameNode[]): void {
    for (const target of targets) this.#locals.delete(target.name)
  }

  localOf(name: string): number | undefined {
    return this.#locals.get(name)
  }

  /** A sentence that names the nearest known name, or lists what there is. */
  suggest(given: string, known: readonly string[]): string {
    const nearest = nearestName(given, known)
    if (nearest !== null) return `; did you mean \`${nearest}\`?`
    return known.length === 0 || known.length > 12
      ? ''
      : `; there are ${known.map((name) => `\`${name}\``).join(', ')}`
  }

  knownNames(): string[] {
    return [...this.#locals.keys(), ...this.slots.keys()]
  }

  /** Reports keyword arguments where none are taken. */
  refuseKeywords(keywords: readonly KeywordArgument[], name: string): void {
    for (const keyword of keywords) {
      this.report('wrong_arguments', `\`${name}\` takes no argument named \`${keyword.name}\``, keyword)
    }
  }
}
