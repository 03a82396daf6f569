import { compileExpression, type CompiledExpression } from '../expression/compile-expression.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { digest } from '../shared/digest.ts'
import { compileJsonSchema, type CompiledJsonSchema } from '../shared/json-schema.ts'
import { invariant } from '../shared/lockstep-error.ts'
import { pastFunctions, scopes, type ConditionKind, type Past } from './condition-scope.ts'
import { compileCall, type CompiledCall } from './compile-call.ts'
import { callScopes } from './compile-input.ts'
import { compileProgram, type CompiledProgram } from './compile-program.ts'
import { matchesName } from './match-name.ts'
import { pastShape } from './past-query.ts'
import type { Playbook } from './playbook.ts'
import type { After, PlaybookStep } from './playbook-step.ts'

/** A condition ready to be judged. */
export type Condition = CompiledExpression<Past>

/** What must be complete or skipped before a step opens, with steps as positions. */
export type Predecessors =
  | { readonly kind: 'step'; readonly index: number }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Predecessors[] }

/** When a step's evidence is complete: so many of its tools have succeeded; `declared` asks for a declaration besides. */
export type Completion =
  | { readonly kind: 'tools'; readonly need: number; readonly declared: boolean }
  | { readonly kind: 'declared' }
  | { readonly kind: 'condition'; readonly condition: Condition }

/** A playbook's or a step's demand on the arguments of a call. */
export interface Requirement {
  readonly schema: CompiledJsonSchema | null
  readonly require: Condition | null
  readonly readsArguments: boolean
  readonly message: string | null
}

/** A step as the run machine reads it: names resolved to positions, conditions compiled. */
export interface CompiledStep {
  readonly index: number
  readonly id: string
  readonly source: PlaybookStep
  /** The call that the runtime makes; null where a model works on the step. Its tool is the only one in `tools`. */
  readonly call: CompiledCall | null
  readonly tools: ReadonlySet<string>
  readonly admitsExtras: boolean
  readonly required: boolean
  readonly cap: number | null
  readonly timeout: number | null
  readonly when: Condition | null
  readonly predecessors: Predecessors | null
  readonly successors: readonly number[]
  readonly completion: Completion
  readonly minToolCalls: number
  readonly keywords: readonly string[]
  readonly resultSchema: CompiledJsonSchema | null
  readonly validation: Condition | null
  /** A condition decides on its completion, so it is looked at after every outcome. */
  readonly watches: boolean
  readonly arguments: ReadonlyMap<string, Requirement>
  readonly disclosure: 'outline' | 'step'
}

/** A rule of the playbook with the tools it binds. */
export interface CompiledRule extends Requirement {
  readonly source: string
  readonly tool: string
}

/** A past question that conditions of this playbook ask, kept as an index while the run goes on. */
export interface PastIndex {
  readonly shape: string
  readonly names: readonly string[]
}

/** A playbook with everything the run machine needs worked out once. */
export interface CompiledPlaybook {
  readonly playbook: Playbook
  /** The tree that says which step is due, where the playbook is a program. */
  readonly program: CompiledProgram | null
  readonly digest: string
  readonly order: 'chain' | 'free' | 'graph'
  readonly steps: readonly CompiledStep[]
  readonly positions: ReadonlyMap<string, number>
  /** The steps whose completion a condition speaks of: any call may concern them. */
  readonly watchers: readonly number[]
  /** The positions of the steps that name a tool, in order; a tool not in here is an extra. */
  readonly stepsByTool: ReadonlyMap<string, readonly number[]>
  readonly pastByTool: ReadonlyMap<string, readonly PastIndex[]>
  /** The rules that bind a tool. */
  rulesFor(tool: string): readonly CompiledRule[]
  /** Whether the order puts one step before the other, directly or through others. */
  precedes(earlier: number, later: number): boolean
}

const compiled = new WeakMap<Playbook, CompiledPlaybook>()

/** Works out once, per playbook, what the run machine needs. A `Playbook` is valid by construction, so this never fails. */
export function compilePlaybook(playbook: Playbook): CompiledPlaybook {
  let result = compiled.get(playbook)
  if (result === undefined) {
    result = compile(playbook)
    compiled.set(playbook, result)
  }
  return result
}

function compile(playbook: Playbook): CompiledPlaybook {
  const pastByTool = new Map<string, Map<string, PastIndex>>()
  const condition = (source: string, kind: ConditionKind | 'expect'): Condition => {
    const { expression, errors } = compileExpression<Past>(source, {
      profile: 'condition',
      names: kind === 'expect' ? callScopes.expect : scopes[kind],
      functions: pastFunctions,
    })
    invariant(expression !== null, `unchecked condition: ${errors[0]?.message}`)
    for (const call of expression.calls) {
      const shape = pastShape(call.literal ?? '', call.keywords)
      const indexes = pastByTool.get(call.literal ?? '') ?? new Map<string, PastIndex>()
      indexes.set(shape, { shape, names: call.keywords.toSorted() })
      pastByTool.set(call.literal ?? '', indexes)
    }
    return expression
  }

  const requirement = (from: {
    schema?: unknown
    require?: string | undefined
    message?: string | null | undefined
  }): Requirement => {
    const require = from.require === undefined ? null : condition(from.require, 'require')
    return {
      schema: from.schema === undefined ? null : compileJsonSchema(from.schema as never),
      require,
      readsArguments:
        from.schema !== undefined ||
        (require?.references.some((reference) => reference.name === 'args') ?? false),
      message: from.message ?? null,
    }
  }

  const order = playbook.strictSequence
    ? 'chain'
    : playbook.steps.some((step) => step.after !== null)
      ? 'graph'
      : 'free'
  const positions = new Map(playbook.steps.map((step, index) => [step.id, index]))
  const predecessors = playbook.steps.map((step, index): Predecessors | null => {
    if (order === 'chain') return index === 0 ? null : { kind: 'step', index: index - 1 }
    return step.after === null ? null : locate(step.after, positions)
  })
  const successors: number[][] = playbook.steps.map(() => [])
  predecessors.forEach((tree, index) => {
    for (const before of positionsIn(tree)) successors[before]!.push(index)
  })

  const steps = playbook.steps.map((step, index): CompiledStep => {
    const tools = new Set(
      step.tool === null ? step.expectedTools.filter((tool) => tool !== '*') : [step.tool],
    )
    const admitsExtras = step.expectedTools.includes('*')
    const completion = completionOf(step, tools, admitsExtras, condition)
    const validation =
      step.validation.expression === undefined ? null : condition(step.validation.expression, 'evidence')
    return {
      index,
      id: step.id,
      source: step,
      call: compileCall(step, (source) => condition(source, 'expect')),
      tools,
      admitsExtras,
      required: step.required,
      cap: step.maxToolCalls,
      timeout: step.timeoutSeconds === null ? null : step.timeoutSeconds * 1000,
      when: step.when === null ? null : condition(step.when, 'when'),
      predecessors: predecessors[index]!,
      successors: successors[index]!,
      completion,
      minToolCalls: step.validation.minToolCalls ?? 0,
      keywords: (step.validation.requiredResultKeywords ?? []).map((keyword) => keyword.toLowerCase()),
      resultSchema:
        step.validation.resultSchema === undefined ? null : compileJsonSchema(step.validation.resultSchema),
      validation,
      watches: completion.kind === 'condition' || validation !== null,
      arguments: new Map(Object.entries(step.arguments).map(([tool, rule]) => [tool, requirement(rule)])),
      disclosure: step.disclosure ?? playbook.disclosure,
    }
  })

  const stepsByTool = new Map<string, number[]>()
  for (const step of steps) {
    for (const tool of step.tools) {
      const list = stepsByTool.get(tool)
      if (list === undefined) stepsByTool.set(tool, [step.index])
      else list.push(step.index)
    }
  }

  const rules = playbook.rules.map((rule): CompiledRule => ({
    ...requirement(rule),
    source: rule.require,
    tool: rule.tool,
  }))
  const rulesFor = (tool: string) => rules.filter((rule) => matchesName(rule.tool, tool))
  // Only names the playbook knows are remembered: a model may invent any number of others.
  const rulesOfNamed = new Map([...stepsByTool.keys()].map((tool) => [tool, rulesFor(tool)]))

  const ancestors: (ReadonlySet<number> | undefined)[] = []
  let identity: string | undefined
  return {
    playbook,
    program: playbook.program === null ? null : compileProgram(playbook.program),
    get digest() {
      return (identity ??= digest(canonicalJson(playbook.toJSON())))
    },
    order,
    steps,
    positions,
    watchers: steps.filter((step) => step.watches).map((step) => step.index),
    stepsByTool,
    pastByTool: new Map([...pastByTool].map(([tool, indexes]) => [tool, [...indexes.values()]])),
    rulesFor: (tool) => rulesOfNamed.get(tool) ?? rulesFor(tool),
    precedes(earlier, later) {
      if (order !== 'graph') return order === 'chain' && earlier < later
      return (ancestors[later] ??= ancestorsOf(later, steps)).has(earlier)
    },
  }
}

function completionOf(
  step: PlaybookStep,
  tools: ReadonlySet<string>,
  admitsExtras: boolean,
  condition: (source: string, kind: ConditionKind) => Condition,
): Completion {
  const given = step.completeWhen
  if (given === null) {
    // A step that names tools and admits extras has no natural end: it needs both its tools and a declaration.
    return tools.size === 0
      ? { kind: 'declared' }
      : { kind: 'tools', need: tools.size, declared: admitsExtras }
  }
  if (given === 'declared') return { kind: 'declared' }
  if (typeof given === 'object')
    return { kind: 'condition', condition: condition(given.expression, 'evidence') }
  const need = given === 'all' ? tools.size : given === 'any' ? 1 : given
  return { kind: 'tools', need, declared: false }
}

function locate(after: After, positions: ReadonlyMap<string, number>): Predecessors {
  if (after.kind === 'step') return { kind: 'step', index: positions.get(after.id)! }
  return { kind: after.kind, of: after.of.map((each) => locate(each, positions)) }
}

function positionsIn(tree: Predecessors | null): Set<number> {
  const found = new Set<number>()
  const visit = (node: Predecessors) => {
    if (node.kind === 'step') found.add(node.index)
    else node.of.forEach(visit)
  }
  if (tree !== null) visit(tree)
  return found
}

function ancestorsOf(index: number, steps: readonly CompiledStep[]): ReadonlySet<number> {
  const found = new Set<number>()
  const waiting = [index]
  while (waiting.length > 0) {
    for (const before of positionsIn(steps[waiting.pop()!]!.predecessors)) {
      if (found.has(before)) continue
      found.add(before)
      waiting.push(before)
    }
  }
  return found
}
