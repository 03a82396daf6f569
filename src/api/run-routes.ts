import { z } from 'zod'
import { route } from './route.ts'
import { approval, approvalCard, run, runCard, runMode, runStatus } from './run-shapes.ts'
import { id, object, page, paging, time } from './shape.ts'

const byId = z.object({ id })
/** Runs below another name their calls with slashes. */
const callId = z
  .string()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}]+$/u)
const reason = z.string().trim().max(2000)
const order = z.object({ reason: reason.optional() })
const proof = z.object({
  verdict: z.enum(['proven', 'consistent', 'broken']),
  problems: z.array(z.object({ chain: z.string(), seq: z.int().nullable(), message: z.string() })),
  decisions: z.int(),
  notRecomputable: z.array(z.string()),
  notProven: z.array(z.string()),
})
const runs = { tag: 'runs' } as const
const tools = { tag: 'tools' } as const
const approvals = { tag: 'approvals' } as const
const toolCall = z.object({
  tool: z.string().min(1).max(200),
  args: object.default({}),
  mode: runMode.default('dry-run'),
  context: object.default({}),
})
const plan = z.object({
  tool: z.string(),
  mode: runMode,
  args: object,
  verdict: z.enum(['allow', 'needs_approval', 'deny']),
  code: z.string(),
  rule: z.string().nullable(),
  reason: z.string(),
  risk: z.enum(['read', 'write', 'irreversible']),
  request: z.json().nullable().describe('What would be sent, where the tool can say; secrets are masked.'),
})

/** Runs. */
export const runRoutes = {
  listRuns: route({
    ...runs,
    method: 'GET',
    path: '/runs',
    summary: 'Lists runs, the newest first.',
    access: 'run:read',
    query: z.object({
      ...paging,
      status: runStatus.optional(),
      mode: runMode.optional(),
      runbook: z.string().max(200).optional(),
      startedBy: z.string().max(200).optional(),
      search: z.string().max(200).optional(),
      from: time.optional(),
      to: time.optional(),
    }),
    response: page(runCard),
  }),
  startRun: route({
    ...runs,
    method: 'POST',
    path: '/runs',
    summary: 'Begins a run.',
    access: 'run:start',
    status: 201,
    body: z.object({
      runbook: z.string().max(200).describe('The id of a playbook, or its name.'),
      version: z.int().min(1).optional(),
      mode: runMode.default('dry-run'),
      inputs: object.default({}),
      context: object.default({}),
      model: z.string().max(200).optional(),
      prompt: z.string().max(20_000).optional(),
    }),
    response: runCard,
  }),
  getRun: route({
    ...runs,
    method: 'GET',
    path: '/runs/{id}',
    summary: 'A run with everything that happened.',
    access: 'run:read',
    params: byId,
    response: run,
  }),
  followRun: route({
    ...runs,
    method: 'GET',
    path: '/runs/{id}/events',
    summary: 'The entries of a run as they are written, as server-sent events; goes on after Last-Event-ID.',
    access: 'run:read',
    params: byId,
    query: z.object({ after: z.coerce.number().int().min(0).optional() }),
    response: null,
    produces: ['text/event-stream'],
  }),
  cancelRun: route({
    ...runs,
    method: 'POST',
    path: '/runs/{id}/cancel',
    summary: 'Cancels a run; what was done is undone where the playbook says so.',
    access: 'run:control',
    params: byId,
    body: order,
    response: runCard,
    status: 202,
  }),
  pauseRun: route({
    ...runs,
    method: 'POST',
    path: '/runs/{id}/pause',
    summary: 'Stops a run before its next call.',
    access: 'run:control',
    params: byId,
    body: order,
    response: runCard,
    status: 202,
  }),
  resumeRun: route({
    ...runs,
    method: 'POST',
    path: '/runs/{id}/resume',
    summary: 'Goes on with a run that is paused or was put down.',
    access: 'run:control',
    params: byId,
    body: order,
    response: runCard,
    status: 202,
  }),
  settleCall: route({
    ...runs,
    method: 'POST',
    path: '/runs/{id}/calls/{call}/settle',
    summary: 'Says what became of a call whose outcome nobody knows; the run goes on by itself.',
    access: 'run:control',
    params: z.object({ id, call: callId }),
    body: z
      .object({
        outcome: z.enum(['succeeded', 'failed']).describe('`failed`: nothing was applied.'),
        result: z.json().optional().describe('What the call returned, if it succeeded.'),
        reason: reason.min(1),
      })
      .refine(({ outcome, result }) => outcome === 'succeeded' || result === undefined, {
        path: ['result'],
        error: 'goes with the outcome succeeded',
      }),
    response: runCard,
    status: 202,
  }),
  answerRun: route({
    ...runs,
    method: 'POST',
    path: '/runs/{id}/messages',
    summary: 'Says something to a playbook that asks.',
    access: 'run:start',
    params: byId,
    body: z.object({ text: z.string().min(1).max(20_000) }),
    response: runCard,
    status: 202,
  }),
  exportRun: route({
    ...runs,
    method: 'GET',
    path: '/runs/{id}/export',
    summary: 'The record of a run: lines of JSON that can be verified, or a page to read.',
    access: 'run:read',
    params: byId,
    query: z.object({
      format: z.enum(['jsonl', 'html']).default('jsonl'),
      whole: z
        .stringbool()
        .default(false)
        .describe('With the payloads that hold a secret; takes an Admin of the tenant.'),
    }),
    response: null,
    produces: ['application/x-ndjson', 'text/html'],
  }),
  verifyRun: route({
    ...runs,
    method: 'GET',
    path: '/runs/{id}/verify',
    summary: 'Decides everything in the record again.',
    access: 'run:read',
    params: byId,
    response: proof,
  }),
} as const

/** Tools, outside of any playbook. */
export const toolRoutes = {
  listTools: route({
    ...tools,
    method: 'GET',
    path: '/tools',
    summary: 'The tools there are.',
    access: 'tool:read',
    response: z.object({
      items: z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          risk: z.enum(['read', 'write', 'irreversible']),
          origin: z.string(),
          input: object.nullable(),
          practice: z.boolean(),
        }),
      ),
    }),
  }),
  planTool: route({
    ...tools,
    method: 'POST',
    path: '/tools/plan',
    summary: 'What would be decided and sent; nothing is called.',
    access: 'tool:read',
    body: toolCall,
    response: plan,
  }),
  invokeTool: route({
    ...tools,
    method: 'POST',
    path: '/tools/invoke',
    summary: 'Makes one call as a run of one step: gate, policy, approval, record.',
    access: 'tool:invoke',
    body: toolCall,
    response: z.object({
      run: z.string(),
      status: runStatus,
      result: z.json().nullable(),
      error: z.string().nullable(),
      approval: z.string().nullable(),
    }),
  }),
} as const

/** Approvals. */
export const approvalRoutes = {
  listApprovals: route({
    ...approvals,
    method: 'GET',
    path: '/approvals',
    summary: 'Calls that wait for approval, or were decided.',
    access: 'approval:read',
    query: z.object({
      ...paging,
      state: z.enum(['waiting', 'decided', 'all']).default('waiting'),
      run: z.string().max(200).optional(),
    }),
    response: page(approvalCard),
  }),
  getApproval: route({
    ...approvals,
    method: 'GET',
    path: '/approvals/{id}',
    summary: 'Everything needed to decide.',
    access: 'approval:read',
    params: byId,
    response: approval,
  }),
  approve: route({
    ...approvals,
    method: 'POST',
    path: '/approvals/{id}/approve',
    summary: 'Approves the call, this once.',
    access: 'approval:decide',
    params: byId,
    body: z.object({ reason: reason.optional() }),
    response: approval,
  }),
  deny: route({
    ...approvals,
    method: 'POST',
    path: '/approvals/{id}/deny',
    summary: 'Denies the call; a reason is required.',
    access: 'approval:decide',
    params: byId,
    body: z.object({ reason: reason.min(1) }),
    response: approval,
  }),
} as const

const halt = z.object({ by: z.string(), at: time, reason: z.string() })

/** The kill switch. */
export const haltRoutes = {
  getHalt: route({
    ...runs,
    method: 'GET',
    path: '/halt',
    summary: 'Whether all runs are halted.',
    access: 'run:read',
    response: z.object({ halt: halt.nullable() }),
  }),
  setHalt: route({
    ...runs,
    method: 'POST',
    path: '/halt',
    summary: 'Stops every run before its next effect.',
    access: 'run:control',
    body: z.object({ reason: reason.min(1) }),
    response: z.object({ halt: halt.nullable() }),
  }),
  liftHalt: route({
    ...runs,
    method: 'DELETE',
    path: '/halt',
    summary: 'Lets runs go on.',
    access: 'tenant:write',
    body: z.object({ reason: reason.min(1) }),
    response: z.object({ halt: halt.nullable() }),
  }),
} as const
