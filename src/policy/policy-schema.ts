/**
 * The one definition of a policy file: the parser, the JSON Schema for editors and the types come from here. Every
 * `error` completes "`key` …".
 */
import { z } from 'zod'
import { identityKinds, risks } from './policy-request.ts'

const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/
const ruleOfNames = 'must be 1 to 128 ASCII letters, digits or _ . / - and begin with a letter, a digit or _'
const mustBeMapping = 'must be a mapping (a dictionary)'

const text = z.string({ error: 'must be a string' })
const name = text.max(128, { error: ruleOfNames }).regex(namePattern, { error: ruleOfNames })
const names = (what: string) =>
  z
    .array(name, { error: `must be a list of ${what}` })
    .min(1, { error: `must be a list of ${what}, at least one` })
const mustBePattern = 'must be a tool name of at most 128 characters, in which * stands for any characters'
const glob = text
  .max(128, { error: mustBePattern })
  .regex(/^[A-Za-z0-9_*][A-Za-z0-9_./*-]*$/, { error: mustBePattern })
const globs = z
  .union([glob, z.array(glob).min(1, { error: 'must name at least one tool' })], {
    error: 'must be a tool name or a list of them; * stands for any characters',
  })
  .describe('The tools it is about, by name; * stands for any characters. All of them when absent.')
const condition = z.string({ error: 'must be a condition, as text' }).min(1, { error: 'must not be empty' })
const message = text.min(1, { error: 'must not be empty' }).describe('The reason that people are given.')
const whole = (least: number) =>
  z
    .int({ error: `must be a whole number, ${least} or more` })
    .min(least, { error: `must be a whole number, ${least} or more` })
const amount = z
  .number({ error: 'must be a number, 0 or more' })
  .min(0, { error: 'must be a number, 0 or more' })
const mustBeDuration = 'must be a duration such as 30s, 15m, 1h or 7d'
const duration = text.regex(/^[1-9]\d{0,5}[smhd]$/, { error: mustBeDuration })
const effect = z.enum(['allow', 'block', 'require_approval'], {
  error: 'must be allow, block or require_approval',
})
const strictEffect = z.enum(['block', 'require_approval'], { error: 'must be block or require_approval' })

const id = name.optional().describe('The name of the entry in decisions; its number when absent.')
const step = name.optional().describe('The step it is about; all of them when absent.')
const when = condition
  .optional()
  .describe('A condition: the entry applies where it holds. One that cannot be judged is a denial.')
const scope = { id, tool: globs.optional(), step, when, message: message.optional() }

const terms = {
  required_roles: names('roles').optional().describe('An approver must have one of these roles.'),
  approvers: names('persons').optional().describe('The only persons who may approve.'),
  count: whole(1).optional().describe('How many different persons must approve; 1 when absent.'),
  expires_after: duration
    .optional()
    .describe('How long the approval may be waited for and used; 1h when absent.'),
  identity: z
    .array(z.enum(identityKinds, { error: `must be ${identityKinds.join(', ')}` }), {
      error: 'must be a list',
    })
    .min(1, { error: 'must name at least one kind' })
    .optional()
    .describe("How an approver's identity may have been established; all but `asserted` when absent."),
}

const weeklySchema = z.strictObject(
  {
    from: text.describe('When it begins: `Fri 18:00`, or with `days` a time such as `22:00`.'),
    to: text.describe(
      'When it ends: `Mon 06:00`, or with `days` a time; one not after `from` is the next day.',
    ),
    days: z
      .array(
        z.enum(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], { error: 'must be Mon, Tue, … or Sun' }),
        {
          error: 'must be a list of days',
        },
      )
      .min(1, { error: 'must name at least one day' })
      .optional()
      .describe('The days on which it begins.'),
    offset: text
      .regex(/^(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/, { error: 'must be an offset from UTC such as +01:00' })
      .default('Z')
      .describe('The offset from UTC of the times; UTC when absent.'),
  },
  { error: mustBeMapping },
)

const freezeSchema = z.strictObject(
  {
    ...scope,
    risk: z
      .array(z.enum(risks, { error: `must be ${risks.join(', ')}` }), { error: 'must be a list of risks' })
      .min(1, { error: 'must name at least one risk' })
      .default(['write', 'irreversible'])
      .describe('The risks of the calls it is about.'),
    weekly: weeklySchema.optional().describe('A window that comes back every week.'),
    from: text.optional().describe('When a single window begins: 2026-12-20T00:00:00Z.'),
    to: text.optional().describe('When a single window ends.'),
    // oxlint-disable-next-line unicorn/no-thenable -- the word of policy files, never a function
    then: strictEffect.default('block').describe('What becomes of calls inside the window.'),
  },
  { error: mustBeMapping },
)

const limitSchema = z.strictObject(
  {
    ...scope,
    max_calls: whole(1).optional().describe('The most calls in the time.'),
    max_targets: whole(1).optional().describe('The most different targets in the time.'),
    per: duration.optional().describe('The time: the last hour is `1h`. Only a limit per run has none.'),
    scope: z
      .enum(['tenant', 'principal', 'run'], { error: 'must be tenant, principal or run' })
      .default('tenant')
      .describe('Whose calls are counted together.'),
    // oxlint-disable-next-line unicorn/no-thenable -- the word of policy files, never a function
    then: strictEffect.default('block').describe('What becomes of a call beyond the limit.'),
  },
  { error: mustBeMapping },
)

const preconditionSchema = z.strictObject(
  // oxlint-disable-next-line unicorn/no-thenable -- the word of policy files, never a function
  { ...scope, then: effect.describe('What becomes of calls it is about.') },
  { error: mustBeMapping },
)

const list = <Item extends z.ZodType>(item: Item) => z.array(item, { error: 'must be a list' }).default([])

/** The schema of a policy file. */
export const policySchema = z
  .strictObject(
    {
      $schema: text.optional().describe('Where editors find the JSON Schema of this file.'),
      id: name.describe('The name of the policy among others.'),
      version: text
        .min(1, { error: 'must not be empty' })
        .default('1.0.0')
        .describe('The version of the policy.'),
      description: text.default('').describe('What the policy is for.'),
      roles: names('roles').optional().describe('The roles there are; when given, no other may be named.'),
      tool_allowlist: z
        .record(name, z.array(glob, { error: 'must be a list of tool names' }), {
          error: 'must be a mapping of roles to lists of tool names',
        })
        .optional()
        .describe('The tools that each role may call; when given, nothing else may be called.'),
      budgets: z
        .strictObject(
          {
            max_cost_per_run_usd: amount.optional().describe('The most dollars of one run.'),
            max_tokens_per_run: whole(0).optional().describe('The most tokens of one run.'),
            max_calls_per_run: whole(0).optional().describe('The most calls of one run.'),
            max_minutes_per_run: amount.optional().describe('The most minutes of one run.'),
            max_cost_per_day_usd: amount.optional().describe('The most dollars of all runs in a UTC day.'),
            max_tokens_per_day: whole(0).optional().describe('The most tokens of all runs in a UTC day.'),
            max_calls_per_day: whole(0).optional().describe('The most calls of all runs in a UTC day.'),
          },
          { error: mustBeMapping },
        )
        .default({})
        .describe('What may be spent. A call is denied once it is used up.'),
      approvals: list(z.strictObject({ ...scope, ...terms }, { error: mustBeMapping })).describe(
        'Calls that need approval, and whose.',
      ),
      approval_defaults: z
        .strictObject(terms, { error: mustBeMapping })
        .default({})
        .describe('What an approval takes where no entry of `approvals` says more.'),
      allow_self_approval: z
        .boolean({ error: 'must be true or false' })
        .default(false)
        .describe('Whether whoever asked for the call may approve it.'),
      preconditions: list(preconditionSchema).describe(
        'What becomes of a call; the first that matches speaks.',
      ),
      rules: list(
        z.strictObject(
          { ...scope, require: condition.describe('A condition that must hold, or the call is denied.') },
          { error: mustBeMapping },
        ),
      ).describe('What every call must satisfy, all of them.'),
      freeze: list(freezeSchema).describe('Times in which calls are held back.'),
      limits: list(limitSchema).describe('How many calls, or different targets, in how much time.'),
      risk: z
        .strictObject(
          {
            read: effect.default('allow'),
            write: effect.default('allow'),
            irreversible: effect.default('require_approval'),
          },
          { error: mustBeMapping },
        )
        .default({ read: 'allow', write: 'allow', irreversible: 'require_approval' })
        .describe('What becomes of a call of which no precondition speaks.'),
      break_glass: z
        .strictObject(
          {
            roles: names('roles').describe('Who may break the glass.'),
            tool: globs.describe('The tools for which it may be broken; * stands for any characters.'),
            lifts: z
              .array(
                z.enum(['approval', 'freeze', 'limits', 'preconditions'], {
                  error: 'must be approval, freeze, limits or preconditions',
                }),
                { error: 'must be a list' },
              )
              .min(1, { error: 'must name at least one thing' })
              .default(['approval', 'freeze'])
              .describe('What it lifts; rules, budgets, the allowlist and errors are never lifted.'),
          },
          { error: mustBeMapping },
        )
        .optional()
        .describe('Who may pass this policy in an emergency, for which tools, always with a reason.'),
    },
    { error: 'must be a mapping (a dictionary) with `id`' },
  )
  .describe('A Lockstep policy: which calls are allowed, denied, or need approval.')

/** A policy file with its defaults filled in. */
export type PolicyFile = z.output<typeof policySchema>
/** What an approval takes, as a file says it. */
export type ApprovalTermsFile = Pick<
  PolicyFile['approvals'][number],
  'required_roles' | 'approvers' | 'count' | 'expires_after' | 'identity'
>
/** A freeze window as a file says it. */
export type FreezeFile = PolicyFile['freeze'][number]
/** A window that comes back every week, as a file says it. */
export type WeeklyFile = z.output<typeof weeklySchema>
