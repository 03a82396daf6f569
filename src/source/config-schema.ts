/**
 * The one definition of a configuration file. Loader, types and the spelling used in TypeScript come from here, as with playbooks.
 * Every `error` completes "`key` …".
 */
import { z } from 'zod'
import { type Json, isJsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { serverSchema } from './settings-schema.ts'

const ruleOfNames = 'must be 1 to 128 ASCII letters, digits or _ . / - and begin with a letter, a digit or _'
const mapping = { error: 'must be a mapping (a dictionary)' }

const text = z.string({ error: 'must be a string' })
const filled = text.min(1, { error: 'must not be empty' })
const name = text.max(128, { error: ruleOfNames }).regex(/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/, {
  error: ruleOfNames,
})
const json = z.custom<Json>(() => true)
const jsonSchema = z.custom<JsonSchema>((value) => isJsonObject(value as Json), {
  error: 'must be a JSON Schema: a mapping',
})
const seconds = z.number({ error: 'must be a number above 0' }).gt(0, { error: 'must be a number above 0' })
const bytes = z
  .int({ error: 'must be a whole number, 1 or more' })
  .min(1, { error: 'must be a whole number, 1 or more' })
const texts = z.array(z.string({ error: 'must be a list of strings' }), {
  error: 'must be a list of strings',
})
const whole = (least: number, most: number) =>
  z
    .int({ error: `must be a list of whole numbers from ${least} to ${most}` })
    .min(least, { error: `must be a list of whole numbers from ${least} to ${most}` })
    .max(most, { error: `must be a list of whole numbers from ${least} to ${most}` })
/** A text with placeholders, a secret (`env:NAME`), or a command that prints one (`[exec:pass, show, token]`). */
const value = z.union([text, texts.min(1, { error: 'must not be empty' })], {
  error: 'must be a string, or a list that begins with exec:',
})
const values = z.record(z.string(), value, mapping)

const risks = ['read', 'write', 'irreversible'] as const

const flag = z.boolean({ error: 'must be true or false' })
const condition = z.string({ error: 'must be a condition, as text' }).min(1, { error: 'must not be empty' })
const common = {
  name: name.describe('The name playbooks call the tool by.'),
  description: filled.describe('What the tool does; the model reads it.'),
  input: jsonSchema.optional().describe('A JSON Schema of the arguments.'),
  risk: z
    .enum(risks, { error: 'must be read, write or irreversible' })
    .optional()
    .describe('What the tool can do at worst; irreversible if it is not said.'),
  timeout_seconds: seconds.default(30).describe('How long a call may take.'),
  max_result_bytes: bytes.default(65_536).describe('How much of a result is kept.'),
  target: filled
    .optional()
    .describe('What a call acts on, such as "node/{args.node}": for limits and for locks.'),
  idempotent: flag
    .default(false)
    .describe('Whether a call that is sent again under the same key has no further effect.'),
  compensate: z
    .strictObject(
      {
        tool: name.describe('The tool that undoes a call.'),
        input: z.record(z.string(), json, mapping).default({}).describe('Its arguments.'),
      },
      mapping,
    )
    .optional()
    .describe('The call that undoes a succeeded one.'),
}

const findings = {
  applied: condition,
  not_applied: condition.optional().describe('Holds where the call was not applied and will not be.'),
  result: json.optional().describe('What counts as the result of the call then.'),
}

const httpToolSchema = z.strictObject(
  {
    ...common,
    method: z
      .enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], {
        error: 'must be GET, HEAD, POST, PUT, PATCH or DELETE',
      })
      .default('GET'),
    url: filled.describe('The address; placeholders may stand in its path and query.'),
    headers: values.default({}),
    query: z.record(z.string(), json, mapping).default({}),
    body: json
      .optional()
      .describe('What is sent; texts in it may hold placeholders. "{args}" sends all arguments.'),
    statuses_without_effect: z
      .array(whole(400, 599), { error: 'must be a list of whole numbers from 400 to 599' })
      .default([400, 401, 403, 404, 405, 415, 422, 429])
      .describe('The answers that state that nothing was changed.'),
    idempotency_header: filled
      .optional()
      .describe('The header that carries the key of a call; Idempotency-Key for an idempotent tool.'),
    reconcile: z
      .strictObject(
        {
          url: filled.describe('The address that is asked, with GET.'),
          headers: values.optional().describe('Those of the tool if it is not said.'),
          ...findings,
        },
        mapping,
      )
      .optional()
      .describe('How it is found out what became of a call whose outcome is unknown.'),
  },
  mapping,
)

const execToolSchema = z.strictObject(
  {
    ...common,
    command: texts
      .min(1, { error: 'must not be empty' })
      .describe('The program and its arguments, one element each; no shell reads them.'),
    cwd: filled.optional().describe('Where it runs; the folder of the configuration if it is not said.'),
    env: values.default({}).describe('Variables it is given.'),
    pass_env: texts.default(['PATH']).describe('Variables of this process it may see.'),
    allow_dash: flag
      .default(false)
      .describe('Lets arguments of a call begin with "-", where the program may read them as options.'),
    stdin: json.optional().describe('What it reads; "{args}" gives it the arguments as JSON.'),
    output: z.enum(['text', 'json'], { error: 'must be text or json' }).default('text'),
    exit_codes_without_effect: z
      .array(whole(1, 255), { error: 'must be a list of whole numbers from 1 to 255' })
      .default([])
      .describe('The exit codes that state that nothing was changed.'),
    reconcile: z
      .strictObject(
        {
          command: texts
            .min(1, { error: 'must not be empty' })
            .describe('The program that is asked: exit code 0 says applied, 1 not applied.'),
          ...findings,
          applied: condition
            .optional()
            .describe('Over `output`, what it printed as JSON, instead of exit codes.'),
        },
        mapping,
      )
      .optional()
      .describe('How it is found out what became of a call whose outcome is unknown.'),
  },
  mapping,
)

const mustPass = 'must be a list of resources and prompts'

const mcpServerSchema = z.strictObject(
  {
    command: filled.optional(),
    args: texts.default([]),
    env: values.default({}),
    cwd: filled.optional(),
    url: filled.optional(),
    headers: values.default({}),
    type: z
      .enum(['stdio', 'http', 'streamable-http'], { error: 'must be stdio, http or streamable-http' })
      .optional(),
    timeout_seconds: seconds.optional().describe('How long a call may take.'),
    max_result_bytes: bytes.optional().describe('How much of an answer passes.'),
    pass: z
      .array(z.enum(['resources', 'prompts'], { error: mustPass }), { error: mustPass })
      .default([])
      .describe('What clients of `lockstep mcp` may ask the server for besides its tools.'),
    tools: z
      .record(
        z.string(),
        z.strictObject(
          {
            risk: z.enum(risks, { error: 'must be read, write or irreversible' }).optional(),
            errors: z
              .enum(['unknown', 'not_applied'], { error: 'must be unknown or not_applied' })
              .optional()
              .describe('What an error of the server means: nobody knows, or nothing was applied.'),
          },
          mapping,
        ),
        mapping,
      )
      .default({})
      .describe('What you know about tools of the server, by their names there.'),
  },
  mapping,
)

const ruleOfServers = 'must be 1 to 64 ASCII letters, digits or _ . - and begin with a letter, a digit or _'

/** The schema of a configuration file. */
export const configSchema = z.strictObject(
  {
    $schema: text.optional(),
    tools: z
      .strictObject(
        {
          http: z.array(httpToolSchema, { error: 'must be a list of tools' }).default([]),
          exec: z.array(execToolSchema, { error: 'must be a list of tools' }).default([]),
          modules: texts.default([]).describe('Files that export tools.'),
        },
        mapping,
      )
      .default({ http: [], exec: [], modules: [] }),
    mcpServers: z
      .record(
        z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, { error: ruleOfServers }),
        mcpServerSchema,
        mapping,
      )
      .default({})
      .describe('MCP servers, in the shape MCP clients use.'),
    policies: z
      .array(filled, { error: 'must be a list of files' })
      .default([])
      .describe('Files of policies that every run stands under.'),
    people: z
      .record(
        z.string().min(1, { error: 'must not be empty' }),
        z.array(filled, { error: 'must be a list of roles' }),
        mapping,
      )
      .default({})
      .describe('The roles of people, by their names as users of the operating system.'),
    practice: flag
      .default(false)
      .describe(
        'Whether the practice tools are there, which act on a service on this machine that is not real.',
      ),
    dry_run: z
      .strictObject(
        {
          call_reads: flag
            .default(false)
            .describe('Whether tools that only read are really called in a dry run.'),
        },
        mapping,
      )
      .default({ call_reads: false }),
    server: serverSchema.optional().describe('What is set for `lockstep serve`.'),
  },
  { error: 'must be a mapping (a dictionary) with `tools` or `mcpServers`' },
)

/** A configuration as a file may spell it. */
export type ConfigFile = z.input<typeof configSchema>
/** A configuration file with its defaults filled in. */
export type CheckedConfigFile = z.output<typeof configSchema>
