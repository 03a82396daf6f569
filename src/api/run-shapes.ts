import { z } from 'zod'
import { object, time } from './shape.ts'
import { flowStep } from './text-routes.ts'

export const runMode = z.enum(['dry-run', 'execute'])
/** Where a run stands. `waiting` waits for a person: an approval, or an answer. `unreadable` was erased, or cannot be trusted. */
export const runStatus = z.enum([
  'running',
  'waiting',
  'paused',
  'succeeded',
  'incomplete',
  'failed',
  'cancelled',
  'unreadable',
])

/** A run as lists show it. */
export const runCard = z.object({
  id: z.string(),
  project: z.string().nullable(),
  runbook: z.object({ id: z.string().nullable(), name: z.string(), version: z.int().nullable() }),
  digest: z.string().nullable().describe('The digest of the playbook that the run is pinned to.'),
  mode: runMode,
  status: runStatus,
  reason: z.string().nullable(),
  startedAt: time,
  endedAt: time.nullable(),
  lastAt: time,
  startedBy: z.string(),
  model: z.string().nullable(),
  calls: z.int(),
  denied: z.int(),
  tokens: z.int(),
  cost: z.number().nullable().describe('Dollars; null where a model has no price.'),
  waiting: z.int().describe('The calls that wait for approval.'),
})

const vote = z.object({
  person: z.string(),
  identity: z.string(),
  roles: z.array(z.string()),
  at: time,
  answer: z.enum(['approve', 'deny']),
  reason: z.string().nullable(),
})

const demand = z.object({
  policy: z.string(),
  rule: z.string(),
  roles: z.array(z.string()),
  approvers: z.array(z.string()),
  count: z.int(),
  identity: z.array(z.string()),
  allowSelfApproval: z.boolean(),
})

/** An approval as lists show it. */
export const approvalCard = z.object({
  id: z.string(),
  run: z.string(),
  project: z.string().nullable(),
  runbook: z.string(),
  tool: z.string(),
  step: z.string().nullable(),
  state: z.enum(['waiting', 'granted', 'denied', 'expired', 'used', 'void']),
  askedAt: time,
  askedBy: z.string(),
  expiresAt: time,
  reason: z.string(),
})

/** A call of a run, from the proposal to its outcome. */
export const call = z.object({
  id: z.string().nullable(),
  tool: z.string(),
  args: object.nullable(),
  byModel: z.boolean().describe('Whether a model wrote the arguments.'),
  step: z.string().nullable(),
  state: z.enum(['denied', 'held', 'executing', 'succeeded', 'failed', 'unknown', 'not_executed', 'shown']),
  code: z
    .string()
    .nullable()
    .describe('Why it was denied, or would have been where the playbook is only observed.'),
  rule: z.string().nullable(),
  policy: z.string().nullable(),
  reason: z.string().nullable(),
  at: time,
  settledAt: time.nullable(),
  result: z.json().nullable(),
  error: z.string().nullable(),
  undoes: z.string().nullable(),
  approval: z.string().nullable(),
  seq: z.int().describe('The entry with which it began.'),
})

/** Something that happened and is neither a call nor said by anybody. */
const notice = z.object({ seq: z.int(), at: time, kind: z.string(), text: z.string() })

/** An entry of a run's record, redacted. */
export const entry = z.object({ seq: z.int(), type: z.string(), at: time, by: z.string(), data: object })

const step = flowStep.extend({
  status: z.enum(['pending', 'in_progress', 'completed', 'skipped', 'failed']),
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  note: z.string().nullable(),
})

const message = z.object({
  seq: z.int(),
  from: z.enum(['person', 'playbook', 'model']),
  text: z.string(),
  at: time,
  asks: z.boolean(),
})

/** A run as its page shows it. */
export const run = runCard.extend({
  inputs: object,
  seq: z.int().describe('The last entry that this tells of; events go on after it.'),
  steps: z.array(step),
  callList: z.array(call),
  approvals: z.array(approvalCard.extend({ votes: z.array(vote) })),
  conversation: z.array(message),
  notices: z.array(notice),
  parent: z.string().nullable().describe('The run above, if this one was made under a call of another.'),
  children: z.array(z.object({ run: z.string(), call: z.string(), status: runStatus })),
  waitsFor: z.array(
    z.object({
      kind: z
        .enum(['approval', 'answer', 'target', 'halt', 'time', 'resume', 'outcome'])
        .describe(
          '`resume`: nobody is at work on it until somebody resumes it. `outcome`: nobody knows what became of the call until somebody settles it.',
        ),
      text: z.string(),
    }),
  ),
  enforced: z.boolean(),
})

export const approval = approvalCard.extend({
  args: object,
  byModel: z.boolean(),
  rule: z.string().nullable(),
  policy: z.string().nullable(),
  demands: z.array(demand),
  votes: z.array(vote),
  missing: z.array(z.string()).describe('What it still takes, in words.'),
  mayDecide: z.boolean(),
  whyNot: z.string().nullable(),
  requesters: z.array(z.string()),
  before: z.array(z.string()).describe('The run so far, in lines.'),
})
