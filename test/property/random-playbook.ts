import fc from 'fast-check'
import type { PlaybookDefinition } from '../../src/playbook/playbook.ts'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import {
  argumentSchemas,
  evidenceTemplates,
  requireTemplates,
  resultSchemas,
  type Template,
  whenTemplates,
} from './condition-template.ts'
import type { Before, NaivePlaybook, NaiveStep } from './naive-playbook.ts'

/** The tools that steps may name, and those that none ever does. */
export const namedTools = ['a', 'b', 'c', 'd'] as const
export const extraTools = ['x', 'y'] as const

/** A tool, named by some step more often than not. */
export const randomTool: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...namedTools) },
  { weight: 1, arbitrary: fc.constantFrom(...extraTools) },
)

/** A playbook in the product's spelling and in the naive gate's. */
export interface RandomPlaybook {
  readonly definition: PlaybookDefinition
  readonly naive: NaivePlaybook
}

/** Something that is there one time in `often`. */
function sometimes<Value>(often: number, value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: often - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
}

function oneIn(often: number): fc.Arbitrary<boolean> {
  return sometimes(often, fc.constant(true)).map((value) => value === true)
}

const pick = fc.nat({ max: 999 })

const rawBefore = fc.record({
  kind: fc.constantFrom('none', 'one', 'all', 'any', 'any', 'nested'),
  picks: fc.array(pick, { minLength: 1, maxLength: 3 }),
})

const rawStep = fc.record({
  tools: fc.oneof(
    { weight: 5, arbitrary: fc.subarray([...namedTools], { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.subarray([...namedTools], { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant<(typeof namedTools)[number][]>([]) },
  ),
  star: oneIn(7),
  required: fc.oneof(
    { weight: 3, arbitrary: fc.constant(true) },
    { weight: 2, arbitrary: fc.constant(false) },
  ),
  cap: sometimes(2, fc.nat({ max: 3 })),
  timeout: sometimes(5, fc.integer({ min: 1, max: 4 })),
  when: sometimes(5, pick),
  before: rawBefore,
  completeWhen: sometimes(
    2,
    fc.constantFrom('all', 'any', 'number', 'number', 'declared', 'condition', 'condition'),
  ),
  completion: pick,
  onLimit: fc.constantFrom('fail', 'escalate', 'advance'),
  minCalls: sometimes(8, fc.integer({ min: 1, max: 2 })),
  keyword: sometimes(10, fc.constantFrom('ok', 'OK', 'v')),
  resultSchema: sometimes(10, pick),
  expression: sometimes(10, pick),
  argumentTool: sometimes(5, pick),
  argumentSchema: sometimes(2, pick),
  argumentRequire: sometimes(2, pick),
  disclosure: sometimes(3, fc.constantFrom('outline', 'step')),
})

const rawPlaybook = fc.record({
  order: fc.constantFrom('chain', 'chain', 'free', 'graph', 'graph'),
  shuffle: fc.array(pick, { minLength: 6, maxLength: 6 }),
  steps: fc.array(rawStep, { maxLength: 6 }),
  allowExtra: oneIn(3),
  maxExtra: sometimes(3, fc.nat({ max: 2 })),
  maxIterations: sometimes(4, fc.integer({ min: 1, max: 4 })),
  rules: fc.oneof(
    { weight: 2, arbitrary: fc.constant<{ tool: number; require: number }[]>([]) },
    {
      weight: 1,
      arbitrary: fc.array(fc.record({ tool: pick, require: pick }), { minLength: 1, maxLength: 2 }),
    },
  ),
  disclosure: fc.constantFrom('outline', 'step'),
})

type ValueOf<Source> = Source extends fc.Arbitrary<infer Value> ? Value : never
type RawStep = ValueOf<typeof rawStep>
type RawPlaybook = ValueOf<typeof rawPlaybook>

/** Any playbook; the few that could never be completed are rejected by the product's own checks. */
export const randomPlaybook: fc.Arbitrary<RandomPlaybook> = rawPlaybook.map(build)

function build(raw: RawPlaybook): RandomPlaybook {
  const ids = raw.steps.map((_, index) => `s${index}`)
  const named = namedTools.filter((tool) => raw.steps.some((step) => step.tools.includes(tool)))
  // A step may only wait for those before it in some order, which need not be the order of the list.
  const order = ids.toSorted((a, b) => raw.shuffle[ids.indexOf(a)]! - raw.shuffle[ids.indexOf(b)]!)
  const steps = raw.steps.map((step, index): NaiveStep => {
    const before =
      raw.order === 'chain'
        ? (ids[index - 1] ?? { all: [] })
        : raw.order === 'graph'
          ? buildBefore(step.before, order.slice(0, order.indexOf(ids[index]!)))
          : { all: [] }
    return buildStep(step, ids[index]!, before, { ids, named })
  })
  const rulePatterns = [...named, ...named, '*', 'x', 'b*']
  const rules = raw.rules.map(({ tool, require }) => ({
    tool: choose(rulePatterns, tool),
    require: choose(requireTemplates(ids, named), require),
  }))
  const naive: NaivePlaybook = {
    steps,
    allowExtra: raw.allowExtra,
    maxExtra: raw.maxExtra,
    maxIterations: raw.maxIterations,
    rules: rules.map(({ tool, require }) => ({
      tools: new RegExp(`^${tool.replaceAll('*', '.*')}$`),
      require,
    })),
  }
  const hasAfter = raw.order === 'graph' && steps.some(({ before }) => !isNothing(before))
  const definition: PlaybookDefinition = {
    id: 'random',
    name: 'Random',
    inputs: { flag: { type: 'boolean', default: true }, maybe: { type: 'integer', required: false } },
    ...(raw.order === 'chain' || hasAfter ? {} : { strictSequence: false }),
    steps: steps.map((step, index) => define(step, raw.steps[index]!, hasAfter)),
    allowExtraTools: raw.allowExtra,
    maxExtraCalls: raw.maxExtra,
    maxIterations: raw.maxIterations,
    rules: rules.map(({ tool, require }) => ({ tool, require: require.source })),
    disclosure: raw.disclosure as 'outline' | 'step',
  }
  return { definition, naive }
}

function buildStep(
  raw: RawStep,
  id: string,
  before: Before,
  names: { readonly ids: readonly string[]; readonly named: readonly string[] },
): NaiveStep {
  const { ids, named } = names
  const tools = raw.tools
  const evidence = evidenceTemplates(ids, named)
  const completeWhen = buildCompleteWhen(raw, evidence)
  const minCalls = tools.length === 0 ? 0 : (raw.minCalls ?? 0)
  const needed =
    completeWhen === null || completeWhen === 'all'
      ? tools.length
      : completeWhen === 'any'
        ? 1
        : typeof completeWhen === 'number'
          ? completeWhen
          : 0
  const least = Math.max(minCalls, raw.onLimit === 'advance' ? 0 : needed)
  const argumentTool =
    raw.argumentTool === null || tools.length === 0 ? null : choose(tools, raw.argumentTool)
  return {
    id,
    tools,
    star: raw.star,
    required: raw.required,
    cap: raw.cap === null ? null : Math.max(raw.cap, least),
    timeout: raw.timeout === null ? null : raw.timeout * 1000,
    when: raw.when === null ? null : choose(whenTemplates(ids, named), raw.when),
    before,
    completeWhen,
    onLimit: raw.onLimit as NaiveStep['onLimit'],
    minCalls,
    keywords: raw.keyword === null || tools.length === 0 ? [] : [raw.keyword],
    resultSchema:
      raw.resultSchema === null || tools.length === 0 ? null : choose(resultSchemas, raw.resultSchema),
    expression: raw.expression === null ? null : choose(evidence, raw.expression),
    arguments:
      argumentTool === null
        ? {}
        : {
            [argumentTool]: {
              schema: raw.argumentSchema === null ? null : choose(argumentSchemas, raw.argumentSchema),
              require:
                raw.argumentRequire === null
                  ? null
                  : choose(requireTemplates(ids, named), raw.argumentRequire),
            },
          },
  }
}

function buildCompleteWhen(raw: RawStep, evidence: readonly Template[]): NaiveStep['completeWhen'] {
  switch (raw.completeWhen) {
    case 'condition':
      return choose(evidence, raw.completion)
    case 'declared':
      return 'declared'
    case 'all':
    case 'any':
      return raw.tools.length === 0 ? null : raw.completeWhen
    case 'number':
      return raw.tools.length === 0 ? null : 1 + (raw.completion % raw.tools.length)
    default:
      return null
  }
}

function buildBefore(raw: { kind: string; picks: number[] }, earlier: readonly string[]): Before {
  if (raw.kind === 'none' || earlier.length === 0) return { all: [] }
  const chosen = [...new Set(raw.picks.map((at) => choose(earlier, at)))]
  if (raw.kind === 'one') return chosen[0]!
  if (raw.kind === 'any') return { any: chosen }
  if (raw.kind === 'all') return { all: chosen }
  const [first, ...others] = chosen
  return others.length === 0 ? first! : { all: [first!, { any: [...others, first!] }] }
}

function define(step: NaiveStep, raw: RawStep, hasAfter: boolean): PlaybookStepDefinition {
  const { completeWhen } = step
  return {
    id: step.id,
    description: '',
    expectedTools: [...step.tools, ...(step.star ? ['*'] : [])],
    required: step.required,
    maxToolCalls: step.cap,
    timeoutSeconds: raw.timeout,
    when: step.when?.source ?? null,
    after: hasAfter && !isNothing(step.before) ? (step.before as never) : null,
    completeWhen: typeof completeWhen === 'object' ? (completeWhen?.source ?? null) : completeWhen,
    onLimit: step.onLimit,
    validation: {
      ...(step.minCalls === 0 ? {} : { minToolCalls: step.minCalls }),
      ...(step.keywords.length === 0 ? {} : { requiredResultKeywords: [...step.keywords] }),
      ...(step.resultSchema === null ? {} : { resultSchema: step.resultSchema.schema }),
      ...(step.expression === null ? {} : { expression: step.expression.source }),
    },
    arguments: Object.fromEntries(
      Object.entries(step.arguments).map(([tool, { schema, require }]) => [
        tool,
        {
          ...(schema === null ? {} : { schema: schema.schema }),
          ...(require === null ? {} : { require: require.source }),
        },
      ]),
    ),
    disclosure: raw.disclosure as 'outline' | 'step' | null,
  }
}

function isNothing(before: Before): boolean {
  return typeof before !== 'string' && 'all' in before && before.all.length === 0
}

function choose<Value>(from: readonly Value[], at: number): Value {
  return from[at % from.length]!
}
