/**
 * Conditions in two spellings: the text a playbook says, and a closure that means the same. The closures know nothing
 * of the expression language; a throw stands for a value that is missing.
 */
import type { Json, JsonObject } from '../../src/shared/json.ts'

/** What a condition can see of a run. */
export interface View {
  readonly inputs: JsonObject
  readonly steps: Readonly<Record<string, { readonly status: string; readonly result: string | null }>>
  readonly args: JsonObject | null
  readonly tool: string
  readonly results: readonly Json[]
  readonly past: readonly PastCall[]
}

/** A call as the past is asked about it. */
export interface PastCall {
  readonly tool: string
  readonly args: JsonObject | null
  readonly state: 'open' | 'unknown' | 'succeeded' | 'failed' | 'not_executed'
  readonly settled: number
  readonly result: Json | undefined
}

/** A condition: its text, whether it reads the arguments of the call, and what it means. */
export interface Template {
  readonly source: string
  readonly readsArguments: boolean
  /** Throws where the condition cannot be evaluated. */
  readonly holds: (view: View) => boolean
}

/** A JSON Schema and what it means. */
export interface SchemaTemplate {
  readonly schema: JsonObject
  readonly fits: (value: Json) => boolean
}

function template(source: string, holds: Template['holds']): Template {
  return { source, readsArguments: source.includes('args'), holds }
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('missing')
  return value
}

function argument(view: View): Json {
  return present(present(view.args ?? undefined)['k'])
}

function member(value: Json | undefined, key: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no members')
  return present((value as JsonObject)[key])
}

function asked(view: View, tool: string, bound?: Json): readonly PastCall[] {
  return view.past.filter(
    (call) => call.tool === tool && (bound === undefined || (call.args ?? {})['k'] === bound),
  )
}

function having(calls: readonly PastCall[], ...states: PastCall['state'][]): readonly PastCall[] {
  return calls.filter((call) => states.includes(call.state))
}

function lastResult(calls: readonly PastCall[]): Json {
  const succeeded = having(calls, 'succeeded').toSorted((a, b) => a.settled - b.settled)
  return present(succeeded.at(-1)?.result)
}

const mayHaveHappened = ['open', 'unknown', 'succeeded'] as const

/** Conditions that look at nothing but the inputs: the last has no value, so it is an error. */
const aboutInputs: readonly Template[] = [
  template('inputs.flag', (view) => view.inputs['flag'] === true),
  template('not inputs.flag', (view) => view.inputs['flag'] === false),
  template('inputs.maybe == 1', (view) => present(view.inputs['maybe']) === 1),
]

function aboutSteps(step: string): readonly Template[] {
  return [
    template(`steps.${step}.status == "completed"`, (view) => view.steps[step]!.status === 'completed'),
    template(`steps.${step}.status == "skipped"`, (view) => view.steps[step]!.status === 'skipped'),
    template(`steps.${step}.status != "failed"`, (view) => view.steps[step]!.status !== 'failed'),
    template(`steps.${step}.result == "done"`, (view) => view.steps[step]!.result === 'done'),
  ]
}

function aboutPast(tool: string): readonly Template[] {
  return [
    template(`succeeded("${tool}")`, (view) => having(asked(view, tool), 'succeeded').length > 0),
    template(`not failed("${tool}")`, (view) => having(asked(view, tool), 'failed').length === 0),
    template(`count("${tool}") >= 1`, (view) => having(asked(view, tool), ...mayHaveHappened).length >= 1),
    template(`count("${tool}") < 2`, (view) => having(asked(view, tool), ...mayHaveHappened).length < 2),
    template(`result("${tool}").v == 1`, (view) => member(lastResult(asked(view, tool)), 'v') === 1),
  ]
}

/** What a `when` may say. */
export function whenTemplates(steps: readonly string[], tools: readonly string[]): readonly Template[] {
  return [...aboutInputs, ...steps.flatMap(aboutSteps), ...tools.flatMap(aboutPast)]
}

/** What a rule of the playbook, or of a step's arguments, may say. */
export function requireTemplates(steps: readonly string[], tools: readonly string[]): readonly Template[] {
  return [
    ...tools.flatMap((tool) => [
      template(
        `succeeded("${tool}", k=args.k)`,
        (view) => having(asked(view, tool, argument(view)), 'succeeded').length > 0,
      ),
      template(
        `count("${tool}", k=args.k) == 0`,
        (view) => having(asked(view, tool, argument(view)), ...mayHaveHappened).length === 0,
      ),
      template(
        `result("${tool}", k=args.k).v == args.k`,
        (view) => member(lastResult(asked(view, tool, argument(view))), 'v') === argument(view),
      ),
      template(`tool != "${tool}"`, (view) => view.tool !== tool),
    ]),
    template('args.k == 1', (view) => argument(view) === 1),
    ...whenTemplates(steps, tools),
  ]
}

/** What `complete_when` and `validation.expression` may say. */
export function evidenceTemplates(steps: readonly string[], tools: readonly string[]): readonly Template[] {
  return [
    template('len(results) >= 2', (view) => view.results.length >= 2),
    template('calls >= 1', (view) => view.results.length >= 1),
    template('results[-1].v == 1', (view) => member(view.results.at(-1), 'v') === 1),
    ...whenTemplates(steps, tools),
  ]
}

/** What the schema of a step's arguments may say. */
export const argumentSchemas: readonly SchemaTemplate[] = [
  {
    schema: { type: 'object', required: ['k'] },
    fits: (value) => Object.hasOwn(value as JsonObject, 'k'),
  },
  {
    schema: { type: 'object', properties: { k: { type: 'integer', maximum: 1 } } },
    fits: (value) => {
      const k = (value as JsonObject)['k']
      return k === undefined || (typeof k === 'number' && k <= 1)
    },
  },
]

/** What `result_schema` may say. */
export const resultSchemas: readonly SchemaTemplate[] = [
  {
    schema: { type: 'object', required: ['v'] },
    fits: (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, 'v'),
  },
  { schema: { type: ['string', 'null'] }, fits: (value) => value === null || typeof value === 'string' },
]
