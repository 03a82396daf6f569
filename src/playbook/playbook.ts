import type { Json, JsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import type { CamelKeys } from './camel-keys.ts'
import { checkPlaybookDefinition } from './check-playbook.ts'
import { freeze, freezeMap } from './freeze.ts'
import { isInstance } from './is-instance.ts'
import { PlaybookLoadError } from './playbook-load-error.ts'
import type { Program } from './program.ts'
import {
  type CheckedPlaybookFile,
  type InputFile,
  type PlaybookFile,
  playbookSchema,
} from './playbook-schema.ts'
import { CheckedStep, PlaybookStep, type PlaybookStepDefinition, dropDefaults } from './playbook-step.ts'

/** How a playbook is written in TypeScript: the keys of a file in camelCase; steps may be instances. */
export type PlaybookDefinition = Omit<CamelKeys<PlaybookFile>, 'steps' | '$schema'> & {
  readonly steps?: readonly (PlaybookStep | PlaybookStepDefinition)[]
}

/** A value that a run of the playbook is given. */
export type PlaybookInput = {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'any'
  readonly description?: string
  readonly required: boolean
  readonly default?: Json
  readonly enum?: readonly Json[]
  readonly schema?: JsonSchema
}

/** What every call of the tools that match must satisfy. */
export type PlaybookRule = {
  readonly tool: string
  readonly require: string
  readonly message: string | null
}

/** A procedure, valid and frozen: an instance that exists passed every check. */
export class Playbook {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly version: string
  readonly steps: readonly PlaybookStep[]
  readonly strictSequence: boolean
  readonly allowExtraTools: boolean
  readonly maxExtraCalls: number | null
  readonly maxIterations: number | null
  readonly metadata: JsonObject
  readonly tags: readonly string[]
  readonly inputs: { readonly [name: string]: PlaybookInput }
  /** Where the secrets are that its calls are given: `store:NAME`, `env:NAME` or `file:/PATH`. */
  readonly secrets: { readonly [name: string]: string }
  readonly rules: readonly PlaybookRule[]
  readonly disclosure: 'outline' | 'step'
  /** What happens when a required step fails; null where the file does not say and no step says how to undo it. */
  readonly onFailure: 'compensate' | 'stop' | null
  readonly onCancel: 'compensate' | 'stop'
  readonly #program: Program | null
  readonly #positions: ReadonlyMap<string, number>

  /** Throws PlaybookLoadError with every problem of the definition. */
  constructor(definition: PlaybookDefinition | CheckedPlaybook) {
    const checked = isInstance(definition, CheckedPlaybook) ? definition : null
    const file = checked?.file ?? checkedFile(definition as PlaybookDefinition)
    this.id = file.id
    this.name = file.name
    this.description = file.description
    this.version = file.version
    this.steps = Object.freeze(file.steps.map((step) => new PlaybookStep(new CheckedStep(step))))
    this.strictSequence = file.strict_sequence ?? this.steps.every((step) => step.after === null)
    this.allowExtraTools = file.allow_extra_tools
    this.maxExtraCalls = file.max_extra_calls
    this.maxIterations = file.max_iterations
    this.metadata = freezeMap(Object.entries(file.metadata))
    this.tags = freeze(file.tags)
    this.inputs = freezeMap(
      Object.entries(checked?.inputs ?? file.inputs).map(([name, input]) => [name, resolveInput(input)]),
    )
    this.secrets = freezeMap(Object.entries(file.secrets))
    this.rules = freeze(file.rules)
    this.disclosure = file.disclosure
    const undoes = this.steps.some((step) => step.compensate !== null)
    this.onFailure = file.on_failure ?? (undoes ? 'compensate' : null)
    this.onCancel = file.on_cancel
    this.#program = checked?.program ?? null
    this.#positions = new Map(this.steps.map((step, index) => [step.id, index]))
    Object.freeze(this)
  }

  /** The tree whose bullets the steps are, where the playbook is a program; null for a list of steps. */
  get program(): Program | null {
    return this.#program
  }

  /** The step with the id, or null. */
  getStep(id: string): PlaybookStep | null {
    return this.steps[this.#positions.get(id) ?? -1] ?? null
  }

  /** The position of the step with the id, or null. */
  getStepIndex(id: string): number | null {
    return this.#positions.get(id) ?? null
  }

  /** The playbook as a file would say it, without what is default; reading it back gives an equal playbook. */
  toJSON(): JsonObject {
    if (this.#program !== null) return { id: this.id, program: withoutLines(this.#program) }
    const ordered = this.steps.some((step) => step.after !== null)
    const full = {
      id: this.id,
      name: this.name,
      description: this.description,
      version: this.version,
      steps: this.steps.map((step) => step.toJSON()),
      ...(this.strictSequence === !ordered ? {} : { strict_sequence: this.strictSequence }),
      allow_extra_tools: this.allowExtraTools,
      max_extra_calls: this.maxExtraCalls,
      max_iterations: this.maxIterations,
      metadata: this.metadata,
      tags: this.tags,
      inputs: this.inputs,
      secrets: this.secrets,
      rules: this.rules,
      disclosure: this.disclosure,
      on_failure: this.onFailure,
      on_cancel: this.onCancel,
    }
    return dropDefaults(full as never, playbookDefaults)
  }
}

/** A playbook file that passed all checks, so that they need not run again; with the program it was made from, if one. */
export class CheckedPlaybook {
  readonly file: CheckedPlaybookFile
  readonly program: Program | null
  readonly inputs: { readonly [name: string]: PlaybookInput } | null

  constructor(
    file: CheckedPlaybookFile,
    program: Program | null = null,
    inputs: CheckedPlaybook['inputs'] = null,
  ) {
    this.file = file
    this.program = program
    this.inputs = inputs
  }
}

const {
  id: _id,
  name: _name,
  ...playbookDefaults
} = playbookSchema.parse({ id: 'x', name: 'x' }) as never as Record<string, Json>

function checkedFile(definition: PlaybookDefinition): CheckedPlaybookFile {
  const { file, diagnostics } = checkPlaybookDefinition(definition, (value) =>
    isInstance(value, PlaybookStep) ? { ...value } : value,
  )
  if (file === null) throw PlaybookLoadError.fromDiagnostics(diagnostics, null)
  return file
}

/** Where a bullet stands in the file is no part of what it says. */
function withoutLines(program: Program): JsonObject {
  return JSON.parse(
    JSON.stringify(program, (key, value: unknown) => (key === 'line' ? undefined : value)),
  ) as JsonObject
}

function resolveInput(input: InputFile | PlaybookInput): PlaybookInput {
  const full = typeof input === 'string' ? { type: input } : input
  const { type, required = full.default === undefined, ...others } = full
  return { type, required, ...others } as PlaybookInput
}
