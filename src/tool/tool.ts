import { z } from 'zod'
import type { Json, JsonObject } from '../shared/json.ts'
import { compileJsonSchema, type CompiledJsonSchema, type JsonSchema } from '../shared/json-schema.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

/** What a tool can do at worst. Undeclared counts as irreversible. */
export type Risk = 'read' | 'write' | 'irreversible'

/** The worse of two risks. */
export function stricterRisk(one: Risk, other: Risk): Risk {
  const order: readonly Risk[] = ['read', 'write', 'irreversible']
  return order.indexOf(one) > order.indexOf(other) ? one : other
}

/** What a tool is told besides its arguments. */
export interface ToolContext {
  /** Aborts when the call is cancelled or its time is over. */
  readonly signal: AbortSignal
  /** The same for every attempt at this call, and for no other call of any run. */
  readonly idempotencyKey: string
}

/** A schema library's schema that can say what it is as JSON Schema (zod, valibot, arktype and others). */
export interface StandardInput {
  readonly '~standard': {
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>
    }
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: unknown } | undefined
  }
}

/** How a tool is declared. */
export interface ToolDefinition<Arguments extends object = JsonObject> {
  readonly name: string
  readonly description: string
  /** What the arguments must look like: JSON Schema, or the schema of a library that speaks Standard JSON Schema. */
  readonly input?: JsonSchema | StandardInput
  readonly risk?: Risk
  readonly execute: (args: Arguments, context: ToolContext) => unknown
  /** What the call acts on: for locks and for limits on how much is touched. */
  readonly target?: (args: Arguments) => string
  /** Repeating the call with the same key has no further effect. */
  readonly idempotent?: boolean
  /**
   * Finds out, by its key, what became of a call whose outcome is unknown: `{ outcome: 'succeeded', result }`, `{ outcome: 'failed' }` if it
   * was not applied and will not be, anything else for not known; with a `note` for people. It must change nothing.
   */
  readonly reconcile?: (key: string, args: Arguments, context: { readonly signal: AbortSignal }) => unknown
  /** Says what the call would do, without doing it; it must change nothing. */
  readonly dryRun?: (args: Arguments, context: ToolContext) => unknown
  /** The call that undoes a succeeded one. */
  readonly compensate?: (
    args: Arguments,
    result: Json,
  ) => { readonly tool: string; readonly args: JsonObject } | null
  /** The names of the secrets the tool is given. */
  readonly secrets?: readonly string[]
  readonly timeoutSeconds?: number
  readonly maxResultBytes?: number
  /** Stops a call in flight, as far as that is possible. */
  readonly cancel?: (key: string) => unknown
}

/** A declared tool: frozen, its risk and limits settled. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: JsonSchema | null
  readonly risk: Risk
  readonly idempotent: boolean
  readonly secrets: readonly string[]
  readonly timeoutSeconds: number | null
  readonly maxResultBytes: number | null
  readonly execute: (args: JsonObject, context: ToolContext) => unknown
  readonly target: ((args: JsonObject) => string) | null
  readonly reconcile:
    | ((key: string, args: JsonObject, context: { readonly signal: AbortSignal }) => unknown)
    | null
  readonly dryRun: ((args: JsonObject, context: ToolContext) => unknown) | null
  readonly compensate: ((args: JsonObject, result: Json) => { tool: string; args: JsonObject } | null) | null
  readonly cancel: ((key: string) => unknown) | null
  /** What it is given is read by a model, so that it is given no secret. */
  readonly tellsModel?: true
  /** What is wrong with the arguments, one sentence per problem. */
  checkArguments(args: JsonObject): string[]
}

/** A tool as a model is told of it. */
export type OfferedTool = Pick<Tool, 'name' | 'description' | 'input'>

const work = z.custom<never>((value) => typeof value === 'function', 'must be a function')

const definitionSchema = z.strictObject({
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$/,
      "must be ASCII letters, digits, '_', '.', '/' or '-', 128 at most",
    ),
  description: z.string().min(1, 'must not be empty'),
  input: z.unknown().optional(),
  risk: z.enum(['read', 'write', 'irreversible']).default('irreversible'),
  execute: work,
  target: work.optional(),
  idempotent: z.boolean().default(false),
  reconcile: work.optional(),
  dryRun: work.optional(),
  compensate: work.optional(),
  secrets: z.array(z.string()).default([]),
  timeoutSeconds: z.number().positive().optional(),
  maxResultBytes: z.int().positive().optional(),
  cancel: work.optional(),
})

/** What arguments a schema library's schema lets through, as its types say. */
type ArgumentsOf<Input extends StandardInput> =
  NonNullable<Input['~standard']['types']> extends { readonly input: infer Arguments extends object }
    ? Arguments
    : JsonObject

/**
 * Declares a tool. Throws `invalid_tool` that names every problem of the declaration. A schema only judges: its defaults,
 * coercions and transformations are not applied, because a tool is sent exactly what was judged.
 */
export function tool<Input extends StandardInput>(
  definition: Omit<ToolDefinition<ArgumentsOf<Input>>, 'input'> & { readonly input: Input },
): Tool
export function tool<Arguments extends object = JsonObject>(definition: ToolDefinition<Arguments>): Tool
export function tool(definition: ToolDefinition<never>): Tool {
  const { success, data, error } = definitionSchema.safeParse(definition)
  if (!success) {
    const name = typeof definition?.name === 'string' ? ` '${definition.name}'` : ''
    const problems = error.issues.map(
      (issue) => `${issue.path.join('.') || 'the declaration'}: ${issue.message}`,
    )
    throw new LockstepError(
      'invalid_tool',
      `The tool${name} is not declared properly: ${problems.join('; ')}.`,
    )
  }
  const input = inputSchema(data.name, definition.input)
  const schema = compileInput(data.name, input)
  return Object.freeze({
    name: data.name,
    description: data.description,
    input,
    risk: data.risk,
    idempotent: data.idempotent,
    secrets: Object.freeze([...data.secrets]),
    timeoutSeconds: data.timeoutSeconds ?? null,
    maxResultBytes: data.maxResultBytes ?? null,
    execute: data.execute,
    target: data.target ?? null,
    reconcile: data.reconcile ?? null,
    dryRun: data.dryRun ?? null,
    compensate: data.compensate ?? null,
    cancel: data.cancel ?? null,
    checkArguments: (args: JsonObject) => {
      const problems = schema?.check(args) ?? []
      return problems.length > 0 ? problems : libraryProblems(definition.input, args)
    },
  })
}

function inputSchema(name: string, input: ToolDefinition['input']): JsonSchema | null {
  if (input === undefined) return null
  if (typeof input !== 'object' || !('~standard' in input)) return input as JsonSchema
  try {
    return (input as StandardInput)['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as JsonObject
  } catch (cause) {
    throw new LockstepError('invalid_tool', `The input of tool '${name}' cannot be written as JSON Schema.`, {
      cause,
    })
  }
}

/** What a library's schema demands beyond what JSON Schema can say. */
function libraryProblems(input: ToolDefinition['input'], args: JsonObject): string[] {
  if (typeof input !== 'object' || !('~standard' in input)) return []
  const answer = (input as StandardInput)['~standard'].validate(args)
  if (answer instanceof Promise) {
    answer.catch(() => undefined)
    return ['its schema takes its time to judge, and a gate cannot wait']
  }
  const { issues } = (answer ?? {}) as { readonly issues?: readonly { readonly message: string }[] }
  return (issues ?? []).map(({ message }) => message)
}

function compileInput(name: string, input: JsonSchema | null): CompiledJsonSchema | null {
  try {
    return input === null ? null : compileJsonSchema(input)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new LockstepError('invalid_tool', `The input of tool '${name}' is not a JSON Schema: ${why}`, {
      cause,
    })
  }
}
