/**
 * The one definition of a playbook file. The parser, the JSON Schema for editors and the types all come from here;
 * the spelling used in TypeScript is derived from it (camel-keys.ts). Every `error` completes "`key` …".
 */
import { z } from 'zod'
import { type Json, type JsonObject, isJsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { referencePattern } from './secret-reference.ts'

const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/
const patternPattern = /^[A-Za-z0-9_*][A-Za-z0-9_./*-]*$/
const inputPattern = /^[A-Za-z_][A-Za-z0-9_]*$/
const ruleOfNames = 'must be 1 to 128 ASCII letters, digits or _ . / - and begin with a letter, a digit or _'

const text = z.string({ error: 'must be a string' })
const name = text.max(128, { error: ruleOfNames }).regex(namePattern, { error: ruleOfNames })
const toolOrStar = z
  .string({ error: 'must be a list of strings' })
  .max(128, { error: ruleOfNames })
  .regex(/^(\*|[A-Za-z0-9_][A-Za-z0-9_./-]*)$/, { error: `${ruleOfNames}, or be "*"` })
const texts = z.array(z.string({ error: 'must be a list of strings' }), {
  error: 'must be a list of strings',
})
const flag = z.boolean({ error: 'must be true or false' })
const condition = z.string({ error: 'must be a condition, as text' }).min(1, { error: 'must not be empty' })
const object = z.custom<JsonObject>((value) => isJsonObject(value as Json), {
  error: 'must be a mapping (a dictionary)',
})
const json = z.custom<Json>(() => true)
const jsonSchema = z
  .custom<JsonSchema>((value) => typeof value === 'boolean' || isJsonObject(value as Json), {
    error: 'must be a JSON Schema: a mapping, true or false',
  })
  .meta({ type: ['object', 'boolean'] })
const limit = (least: number) =>
  z
    .int({ error: `must be a whole number, ${least} or more` })
    .min(least, { error: `must be a whole number, ${least} or more` })

/** What must be complete or skipped before a step opens, as a file says it. */
export type AfterFile =
  | string
  | readonly AfterFile[]
  | { any: readonly AfterFile[] }
  | { all: readonly AfterFile[] }

const mustBeAfter = 'must be a step id, a list of step ids, or a group: { any: [...] } or { all: [...] }'
const afterGroup = z
  .array(
    z.lazy((): z.ZodType<AfterFile> => after),
    { error: 'must be a list of step ids or groups' },
  )
  .min(1, { error: 'must not be empty' })
const after: z.ZodType<AfterFile> = z.union(
  [
    z.string().regex(namePattern, { error: ruleOfNames }),
    afterGroup,
    z.strictObject({ any: afterGroup }),
    z.strictObject({ all: afterGroup }),
  ],
  { error: mustBeAfter },
)

const validationSchema = z.strictObject(
  {
    min_tool_calls: limit(0).optional().describe('How many calls of the step must have succeeded.'),
    required_result_keywords: texts
      .optional()
      .describe('Words that must all occur in the results of the step, upper and lower case alike.'),
    result_schema: jsonSchema
      .optional()
      .describe('A JSON Schema that the latest result of the step must fit.'),
    expression: condition
      .optional()
      .describe('A condition over `results`, `calls`, `inputs`, `steps` and the past that must hold.'),
  },
  { error: 'must be a mapping (a dictionary)' },
)

const argumentsSchema = z.strictObject(
  {
    schema: jsonSchema.optional().describe('A JSON Schema that the arguments must fit.'),
    require: condition
      .optional()
      .describe('A condition over `args`, `inputs`, `steps` and the past that must hold.'),
    message: text.nullable().optional().describe('What the agent is told when the call is denied.'),
  },
  { error: 'must be a mapping (a dictionary) with schema, require or message' },
)

const seconds = (least: number) =>
  z
    .number({ error: `must be a number of seconds, ${least} or more` })
    .min(least, { error: `must be a number of seconds, ${least} or more` })
    .max(86_400, { error: 'must be at most 86400 seconds, which is a day' })

const retrySchema = z.strictObject(
  {
    attempts: limit(1)
      .max(100, { error: 'must be at most 100' })
      .default(1)
      .describe('How often the call is tried at most; 1 for never again.'),
    delay_seconds: seconds(0).default(1).describe('How long to wait before the second attempt.'),
    backoff: z
      .number({ error: 'must be a number, 1 or more' })
      .min(1, { error: 'must be a number, 1 or more' })
      .max(10, { error: 'must be at most 10' })
      .default(2)
      .describe('By how much each wait is longer than the one before.'),
    max_delay_seconds: seconds(0).default(300).describe('The longest wait.'),
  },
  { error: 'must be a mapping (a dictionary) with attempts, delay_seconds, backoff or max_delay_seconds' },
)
const noRetry = { attempts: 1, delay_seconds: 1, backoff: 2, max_delay_seconds: 300 }

const input = object.meta({ type: 'object' }).default({})

const verifySchema = z.strictObject(
  {
    tool: name.describe('A tool that only reads.'),
    input: input.describe('Its arguments; `{output}` is what the call of the step gave.'),
    expect: condition.describe('What must hold of its `result`.'),
    retry: retrySchema.default(noRetry).describe('How often it is looked again, and when.'),
  },
  { error: 'must be a mapping (a dictionary) with tool, input and expect' },
)

const compensateSchema = z.strictObject(
  {
    tool: name.describe('The tool that undoes the call of the step.'),
    input: input.describe('Its arguments; `{output}` is what the call of the step gave.'),
  },
  { error: 'must be a mapping (a dictionary) with tool and input' },
)

/** The schema of one step of a playbook file. */
export const stepSchema = z
  .strictObject(
    {
      id: name.describe('The name of the step, unique in the playbook.'),
      description: text.describe('What is to be achieved; the agent reads it as the goal of the step.'),
      tool: name.nullable().default(null).describe('The tool that is called in this step, without a model.'),
      input: input.describe(
        'The arguments of the call. Texts are templates over `inputs`, `steps`, and with `foreach` `item` and `index`.',
      ),
      requires_approval: flag.default(false).describe('Whether people have to approve the call.'),
      required_roles: texts
        .default([])
        .describe('The roles of which one who approves must have one; says that approval is needed.'),
      compensate: compensateSchema
        .nullable()
        .default(null)
        .describe('The call that undoes the one of the step, if a later step fails.'),
      retry: retrySchema
        .default(noRetry)
        .describe('How often the call is tried when it fails without having had an effect.'),
      verify: verifySchema
        .nullable()
        .default(null)
        .describe('What is looked at after the call, and must hold before the step counts.'),
      foreach: text
        .min(1, { error: 'must not be empty' })
        .nullable()
        .default(null)
        .describe('A placeholder whose value is a list: the call is made once for each item.'),
      concurrency: limit(1)
        .max(100, { error: 'must be at most 100' })
        .default(1)
        .describe('How many items of `foreach` are worked on side by side.'),
      expected_tools: z
        .array(toolOrStar, { error: 'must be a list of strings' })
        .default([])
        .describe(
          'The tools that may be called in this step; none when empty. "*" admits tools no step names.',
        ),
      hints: texts.default([]).describe('Advice for the agent while it works on the step.'),
      required: flag.default(true).describe('Whether the playbook can be complete without this step.'),
      validation: validationSchema.default({}).describe('What must hold before the step counts as complete.'),
      max_tool_calls: limit(0)
        .nullable()
        .default(null)
        .describe(
          'The most calls the step may make; 0 allows none. Without it a satisfied step closes at once.',
        ),
      timeout_seconds: z
        .number({ error: 'must be a number above 0' })
        .gt(0, { error: 'must be a number above 0' })
        .nullable()
        .default(null)
        .describe('How long the step may be worked on, in seconds.'),
      metadata: object
        .meta({ type: 'object' })
        .default({})
        .describe('Anything of your own; never interpreted.'),
      when: condition
        .nullable()
        .default(null)
        .describe('A condition judged when the predecessors are met; when it is false, the step is skipped.'),
      after: after
        .nullable()
        .default(null)
        .describe(
          'The steps that come before this one: an id, a list (all of them), or { any: [...] } / { all: [...] }.',
        ),
      complete_when: z
        .union([limit(1), condition], {
          error: 'must be all, any, declared, a whole number of 1 or more, or a condition',
        })
        .nullable()
        .default(null)
        .describe(
          'Which evidence completes the step: all, any, declared, a number of its tools, or a condition.',
        ),
      on_limit: z
        .enum(['fail', 'escalate', 'advance'], { error: 'must be fail, escalate or advance' })
        .default('fail')
        .describe('What happens when a limit is reached before the step is complete.'),
      arguments: z
        .record(name, argumentsSchema, { error: 'must be a mapping (a dictionary) of tool names' })
        .default({})
        .describe('Per tool, what the arguments of a call must satisfy.'),
      disclosure: z
        .enum(['outline', 'step'], { error: 'must be outline or step' })
        .nullable()
        .default(null)
        .describe(
          "How much of the playbook the agent is told in this step; the playbook's setting when absent.",
        ),
    },
    { error: 'must be a mapping (a dictionary)' },
  )
  .describe('One step of the procedure.')

const { id: _id, description: _description, ...defaults } = stepSchema.parse({ id: 'x', description: '' })

/** What a step has where its author says nothing. */
export const stepDefaults = defaults as never as { readonly [key: string]: Json }

const inputTypes = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'any'] as const
const mustBeType = 'must be string, number, integer, boolean, array, object or any'

const inputSchema = z.union(
  [
    z.enum(inputTypes, { error: mustBeType }),
    z.strictObject({
      type: z
        .enum(inputTypes, { error: mustBeType })
        .describe('The JSON type of the value; any for whatever comes.'),
      description: text.optional().describe('What the input is for.'),
      required: flag.optional().describe('Whether a run must be given it; false when there is a default.'),
      default: json.optional().describe('The value when none is given.'),
      enum: z
        .array(json, { error: 'must be a list' })
        .min(1, { error: 'must not be empty' })
        .optional()
        .describe('The only values allowed.'),
      schema: jsonSchema.optional().describe('A JSON Schema that the value must fit.'),
    }),
  ],
  { error: 'must be a type name or a mapping (a dictionary) with `type`' },
)

const mustBeInput = 'must begin with a letter or _ and hold only ASCII letters, digits and _'

const ruleSchema = z.strictObject(
  {
    tool: text
      .max(128, { error: 'must be at most 128 characters' })
      .regex(patternPattern, { error: 'must be a tool name, in which * stands for any characters' })
      .describe('The tool the rule binds; `*` stands for any characters.'),
    require: condition.describe('A condition over `args`, `inputs`, `steps` and the past that must hold.'),
    message: text.nullable().default(null).describe('What the agent is told when the call is denied.'),
  },
  { error: 'must be a mapping (a dictionary)' },
)

/** The schema of a playbook file. */
export const playbookSchema = z
  .strictObject(
    {
      $schema: text.optional().describe('Where editors find the JSON Schema of this file.'),
      id: name.describe('The name of the playbook among others.'),
      name: text.min(1, { error: 'must not be empty' }).describe('The name shown to people.'),
      description: text.default('').describe('What the procedure is for.'),
      version: text
        .min(1, { error: 'must not be empty' })
        .default('1.0.0')
        .describe('The version of the procedure.'),
      steps: z
        .array(stepSchema, { error: 'must be a list of steps' })
        .default([])
        .describe('The steps, in order.'),
      strict_sequence: flag
        .optional()
        .describe('Whether steps run in the order written; true unless a step says `after`.'),
      allow_extra_tools: flag.default(false).describe('Whether tools that no step names may be called.'),
      max_extra_calls: limit(0)
        .nullable()
        .default(null)
        .describe('The most calls of extra tools in one run.'),
      max_iterations: limit(1)
        .nullable()
        .default(null)
        .describe('The most turns the agent may take in one run.'),
      metadata: object
        .meta({ type: 'object' })
        .default({})
        .describe('Anything of your own; never interpreted.'),
      tags: texts.default([]).describe('Words to find the playbook by.'),
      inputs: z
        .record(z.string().regex(inputPattern, { error: mustBeInput }), inputSchema, {
          error: 'must be a mapping (a dictionary) of input names',
        })
        .default({})
        .describe('What a run must be given, by name: a type, or a mapping with more.'),
      secrets: z
        .record(
          z.string().regex(inputPattern, { error: mustBeInput }),
          // Judged elsewhere, in words that do not repeat it.
          z.custom<string>(() => true).meta({ type: 'string', pattern: referencePattern }),
          { error: 'must be a mapping (a dictionary) of names of secrets' },
        )
        .default({})
        .describe('Where the secrets are that calls are given, by name: store:NAME, env:NAME or file:/PATH.'),
      rules: z
        .array(ruleSchema, { error: 'must be a list of rules' })
        .default([])
        .describe('What every call of a tool must satisfy, whatever the step.'),
      disclosure: z
        .enum(['outline', 'step'], { error: 'must be outline or step' })
        .default('outline')
        .describe('How much the agent is told: the outline of all steps, or the current step only.'),
      on_failure: z
        .enum(['compensate', 'stop'], { error: 'must be compensate or stop' })
        .nullable()
        .default(null)
        .describe(
          'Whether what was done is undone when a required step fails; compensate where a step says how to.',
        ),
      on_cancel: z
        .enum(['compensate', 'stop'], { error: 'must be compensate or stop' })
        .default('stop')
        .describe('Whether what was done is undone when the run is cancelled.'),
    },
    { error: 'must be a mapping (a dictionary) with `id`, `name` and `steps`' },
  )
  .describe('A Lockstep playbook: a procedure that an AI agent is held to.')

/** A playbook as a file may spell it. */
export type PlaybookFile = z.input<typeof playbookSchema>
/** A step as a file may spell it. */
export type PlaybookStepFile = z.input<typeof stepSchema>
/** A playbook file with its defaults filled in. */
export type CheckedPlaybookFile = z.output<typeof playbookSchema>
/** A step of a playbook file with its defaults filled in. */
export type CheckedStepFile = z.output<typeof stepSchema>
/** An input as a file may spell it. */
export type InputFile = z.output<typeof inputSchema>
