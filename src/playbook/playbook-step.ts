import type { Json, JsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { type After, afterToFile, normaliseAfter } from './after.ts'
import type { CamelKeys } from './camel-keys.ts'
import { checkStepDefinition } from './check-playbook.ts'
import { type CompleteWhen, completeWhenToFile, resolveCompleteWhen } from './complete-when.ts'
import { equalJson, freeze, freezeMap } from './freeze.ts'
import { isInstance } from './is-instance.ts'
import { type CheckedStepFile, type PlaybookStepFile, stepDefaults } from './playbook-schema.ts'
import { PlaybookLoadError } from './playbook-load-error.ts'

export type { After } from './after.ts'
export type { CompleteWhen } from './complete-when.ts'

/**
 * How a step is written in TypeScript: the keys of a file in camelCase. The forms a PlaybookStep holds are taken too. A step that is a call
 * may do without a description.
 */
export type PlaybookStepDefinition = Omit<
  CamelKeys<PlaybookStepFile>,
  'after' | 'completeWhen' | 'description' | 'tool'
> & {
  readonly after?: CamelKeys<PlaybookStepFile>['after'] | After
  readonly completeWhen?: CamelKeys<PlaybookStepFile>['completeWhen'] | CompleteWhen
} & (
    | { readonly description: string; readonly tool?: string | null | undefined }
    | { readonly description?: string; readonly tool: string }
  )

/** What must hold, besides the calls, before a step is complete. */
export type StepValidation = CamelKeys<CheckedStepFile['validation']>

/** What a step demands of the arguments of one tool. */
export type ArgumentRule = CamelKeys<CheckedStepFile['arguments'][string]>

/** How often a call is tried, and how long is waited in between. */
export type StepRetry = CamelKeys<CheckedStepFile['retry']>

/** The call that undoes another. */
export type StepCompensation = CamelKeys<NonNullable<CheckedStepFile['compensate']>>

/** What is looked at after a call, and must hold. */
export type StepVerification = CamelKeys<NonNullable<CheckedStepFile['verify']>>

/** One step of a playbook, valid and frozen: an instance that exists passed every check a step can pass on its own. */
export class PlaybookStep {
  readonly id: string
  readonly description: string
  /** The tool that the runtime calls in this step; null where a model works on it. */
  readonly tool: string | null
  readonly input: JsonObject
  readonly requiresApproval: boolean
  readonly requiredRoles: readonly string[]
  readonly compensate: StepCompensation | null
  readonly retry: StepRetry
  readonly verify: StepVerification | null
  readonly foreach: string | null
  readonly concurrency: number
  readonly expectedTools: readonly string[]
  readonly hints: readonly string[]
  readonly required: boolean
  readonly validation: StepValidation
  readonly maxToolCalls: number | null
  readonly timeoutSeconds: number | null
  readonly metadata: JsonObject
  readonly when: string | null
  readonly after: After | null
  readonly completeWhen: CompleteWhen | null
  readonly onLimit: 'fail' | 'escalate' | 'advance'
  readonly arguments: { readonly [tool: string]: ArgumentRule }
  readonly disclosure: 'outline' | 'step' | null

  /** Throws PlaybookLoadError with every problem of the step. */
  constructor(definition: PlaybookStepDefinition | CheckedStep) {
    const file = isInstance(definition, CheckedStep) ? definition.file : checkedFile(definition)
    this.id = file.id
    this.description = file.description
    this.tool = file.tool
    this.input = freeze(file.input)
    this.requiresApproval = file.requires_approval || file.required_roles.length > 0
    this.requiredRoles = freeze(file.required_roles)
    this.compensate = file.compensate === null ? null : freeze(file.compensate)
    this.retry = freeze(retryFrom(file.retry))
    this.verify =
      file.verify === null ? null : freeze({ ...file.verify, retry: retryFrom(file.verify.retry) })
    this.foreach = file.foreach
    this.concurrency = file.concurrency
    this.expectedTools = freeze(file.expected_tools)
    this.hints = freeze(file.hints)
    this.required = file.required
    this.validation = freeze(validationFrom(file.validation))
    this.maxToolCalls = file.max_tool_calls
    this.timeoutSeconds = file.timeout_seconds
    this.metadata = freezeMap(Object.entries(file.metadata))
    this.when = file.when
    this.after = file.after === null ? null : freeze(normaliseAfter(file.after))
    this.completeWhen = file.complete_when === null ? null : freeze(resolveCompleteWhen(file.complete_when))
    this.onLimit = file.on_limit
    this.arguments = freezeMap(Object.entries(file.arguments) as [string, ArgumentRule][])
    this.disclosure = file.disclosure
    Object.freeze(this)
  }

  /** The step as a file would say it, without what is default; reading it back gives an equal step. */
  toJSON(): JsonObject {
    const { minToolCalls, requiredResultKeywords, resultSchema, expression } = this.validation
    const full = {
      id: this.id,
      description: this.description,
      tool: this.tool,
      input: this.input,
      requires_approval: this.requiresApproval,
      required_roles: this.requiredRoles,
      compensate: this.compensate,
      retry: retryToFile(this.retry),
      verify: this.verify === null ? null : { ...this.verify, retry: retryToFile(this.verify.retry) },
      foreach: this.foreach,
      concurrency: this.concurrency,
      expected_tools: this.expectedTools,
      hints: this.hints,
      required: this.required,
      validation: dropUndefined({
        min_tool_calls: minToolCalls,
        required_result_keywords: requiredResultKeywords,
        result_schema: resultSchema,
        expression,
      }),
      max_tool_calls: this.maxToolCalls,
      timeout_seconds: this.timeoutSeconds,
      metadata: this.metadata,
      when: this.when,
      after: this.after === null ? null : afterToFile(this.after),
      complete_when: this.completeWhen === null ? null : completeWhenToFile(this.completeWhen),
      on_limit: this.onLimit,
      arguments: this.arguments,
      disclosure: this.disclosure,
    }
    return dropDefaults(full as never, stepDefaults)
  }
}

/** A step file that passed the checks of its whole playbook, so that they need not run again. */
export class CheckedStep {
  readonly file: CheckedStepFile

  constructor(file: CheckedStepFile) {
    this.file = file
  }
}

/** The members that differ from the defaults. */
export function dropDefaults(full: JsonObject, defaults: Readonly<Record<string, Json>>): JsonObject {
  return Object.fromEntries(Object.entries(full).filter(([key, value]) => !equalJson(value, defaults[key])))
}

function checkedFile(definition: PlaybookStepDefinition): CheckedStepFile {
  const { file, diagnostics } = checkStepDefinition(definition)
  if (file === null) throw PlaybookLoadError.fromDiagnostics(diagnostics, null)
  return file
}

function retryFrom(file: CheckedStepFile['retry']): StepRetry {
  return {
    attempts: file.attempts,
    delaySeconds: file.delay_seconds,
    backoff: file.backoff,
    maxDelaySeconds: file.max_delay_seconds,
  }
}

function retryToFile(retry: StepRetry): CheckedStepFile['retry'] {
  return {
    attempts: retry.attempts,
    delay_seconds: retry.delaySeconds,
    backoff: retry.backoff,
    max_delay_seconds: retry.maxDelaySeconds,
  }
}

function validationFrom(file: CheckedStepFile['validation']): StepValidation {
  return dropUndefined({
    minToolCalls: file.min_tool_calls,
    requiredResultKeywords: file.required_result_keywords,
    resultSchema: file.result_schema as JsonSchema | undefined,
    expression: file.expression,
  }) as StepValidation
}

function dropUndefined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
