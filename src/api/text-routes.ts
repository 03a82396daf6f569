import { z } from 'zod'
import { route } from './route.ts'
import { id, object, page, paging, time, title } from './shape.ts'

// Whatever is read of a text is read while others wait.
const text = z.string().max(200_000)
const note = z.string().trim().max(500).optional()
/** How a playbook is spelled. */
export const playbookFormat = z.enum(['yaml', 'markdown', 'json'])

/** A finding about a text, with its place; lines and columns count from 1. */
export const diagnostic = z.object({
  severity: z.enum(['error', 'warning']),
  code: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
  line: z.int().nullable(),
  column: z.int().nullable(),
  endLine: z.int().nullable(),
  endColumn: z.int().nullable(),
})

const origin = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('console') }),
    z.object({ kind: z.literal('git'), commit: z.string().nullable(), path: z.string() }),
  ])
  .describe('Where the text is edited; what comes from Git is read only here.')

const version = z.object({
  version: z.int(),
  digest: z.string(),
  by: z.string(),
  at: time,
  note: z.string().nullable(),
  commit: z.string().nullable(),
})

const card = {
  id: z.string(),
  name: z.string(),
  project: z.string(),
  version: z.int(),
  digest: z.string(),
  updatedAt: time,
  updatedBy: z.string(),
  archived: z.boolean(),
  origin,
}

/** A step of a playbook as a drawing shows it; `after` names the steps before it. */
export const flowStep = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string().describe('act, call, or the kind of a program’s bullet'),
  after: z.array(z.string()),
  depth: z.int(),
  tools: z.array(z.string()),
  mark: z.enum(['guaranteed', 'left to the model', 'asks a person']).nullable(),
  says: z.string(),
  required: z.boolean(),
})

/** What a playbook is, read back. */
export const reading = z.object({
  name: z.string(),
  description: z.string(),
  inputs: object.describe('A JSON Schema of the inputs.'),
  tools: z.array(z.string()),
  needsModel: z.boolean(),
  conversation: z.boolean(),
  flow: z.array(flowStep),
  says: z.array(z.string()).describe('The read-back in plain sentences.'),
})

export const runbookCard = z.object({ ...card, format: playbookFormat, description: z.string() })
export const runbook = runbookCard.extend({ text: z.string(), reading, warnings: z.array(diagnostic) })
export const policyCard = z.object({
  ...card,
  appliesTo: z.enum(['tenant', 'project', 'runbook']),
  runbook: z.string().nullable(),
})
export const policy = policyCard.extend({ text: z.string(), warnings: z.array(diagnostic) })

const diff = z.object({
  from: z.int(),
  to: z.int(),
  lines: z.array(z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() })),
})

const byId = z.object({ id })
const ofVersion = z.object({ id, version: z.coerce.number().int().min(1) })
const list = z.object({
  ...paging,
  search: z.string().max(200).optional(),
  archived: z.stringbool().default(false),
})
const between = z.object({ from: z.coerce.number().int().min(1), to: z.coerce.number().int().min(1) })
const runbookBody = z.object({
  name: title.optional().describe('The name in the text, if it is not said.'),
  text,
  format: playbookFormat,
  note,
})
const policyScope = {
  appliesTo: z.enum(['tenant', 'project', 'runbook']).default('tenant'),
  runbook: z.string().nullable().default(null),
}
const policyBody = z.object({ name: title, text, note, ...policyScope })
const checked = z.object({ diagnostics: z.array(diagnostic), reading: reading.nullable() })
const decision = z.object({
  verdict: z.enum(['allow', 'needs_approval', 'deny']),
  code: z.string(),
  rule: z.string().nullable(),
  policy: z.string().nullable(),
  reason: z.string(),
  explanation: z.array(z.string()),
})
const asked = z.object({
  tool: z.string().min(1).max(200),
  args: object.default({}),
  step: z.string().nullable().default(null),
  mode: z.enum(['dry-run', 'execute']).default('execute'),
  principal: z
    .object({ id: z.string(), roles: z.array(z.string()) })
    .optional()
    .describe('Whoever asks, if it is not said.'),
  context: object.default({}),
})

const runbooks = { tag: 'runbooks' } as const
const policies = { tag: 'policies' } as const

/** Playbooks in all forms, under the path that the seed of the platform gave them. */
export const runbookRoutes = {
  listRunbooks: route({
    ...runbooks,
    method: 'GET',
    path: '/runbooks',
    summary: 'Lists playbooks.',
    access: 'runbook:read',
    query: list,
    response: page(runbookCard),
  }),
  createRunbook: route({
    ...runbooks,
    method: 'POST',
    path: '/runbooks',
    summary: 'Publishes a playbook.',
    access: 'runbook:write',
    body: runbookBody,
    response: runbook,
    status: 201,
  }),
  checkRunbook: route({
    ...runbooks,
    method: 'POST',
    path: '/runbooks/check',
    summary: 'Checks a text, and reads it back.',
    access: 'runbook:read',
    body: z.object({ text, format: playbookFormat }),
    response: checked,
  }),
  getRunbook: route({
    ...runbooks,
    method: 'GET',
    path: '/runbooks/{id}',
    summary: 'A playbook as it is now.',
    access: 'runbook:read',
    params: byId,
    response: runbook,
  }),
  updateRunbook: route({
    ...runbooks,
    method: 'PUT',
    path: '/runbooks/{id}',
    summary: 'Publishes the next version.',
    access: 'runbook:write',
    params: byId,
    body: runbookBody,
    response: runbook,
    match: 'required',
  }),
  deleteRunbook: route({
    ...runbooks,
    method: 'DELETE',
    path: '/runbooks/{id}',
    summary: 'Deletes a playbook; runs keep the version they were begun with.',
    access: 'runbook:write',
    params: byId,
    response: null,
    status: 204,
    match: 'optional',
  }),
  duplicateRunbook: route({
    ...runbooks,
    method: 'POST',
    path: '/runbooks/{id}/duplicate',
    summary: 'Publishes a copy under another name.',
    access: 'runbook:write',
    params: byId,
    body: z.object({ name: title }),
    response: runbook,
    status: 201,
  }),
  archiveRunbook: route({
    ...runbooks,
    method: 'POST',
    path: '/runbooks/{id}/archive',
    summary: 'Puts a playbook away: no run can be begun.',
    access: 'runbook:write',
    params: byId,
    response: runbookCard,
  }),
  unarchiveRunbook: route({
    ...runbooks,
    method: 'POST',
    path: '/runbooks/{id}/unarchive',
    summary: 'Takes a playbook out again.',
    access: 'runbook:write',
    params: byId,
    response: runbookCard,
  }),
  listRunbookVersions: route({
    ...runbooks,
    method: 'GET',
    path: '/runbooks/{id}/versions',
    summary: 'Every version there was, the newest first.',
    access: 'runbook:read',
    params: byId,
    query: z.object(paging),
    response: page(version),
  }),
  getRunbookVersion: route({
    ...runbooks,
    method: 'GET',
    path: '/runbooks/{id}/versions/{version}',
    summary: 'A version with its text.',
    access: 'runbook:read',
    params: ofVersion,
    response: version.extend({ text: z.string() }),
  }),
  diffRunbook: route({
    ...runbooks,
    method: 'GET',
    path: '/runbooks/{id}/diff',
    summary: 'What changed between two versions.',
    access: 'runbook:read',
    params: byId,
    query: between,
    response: diff,
  }),
} as const

/** Policies. */
export const policyRoutes = {
  listPolicies: route({
    ...policies,
    method: 'GET',
    path: '/policies',
    summary: 'Lists policies.',
    access: 'policy:read',
    query: list,
    response: page(policyCard),
  }),
  createPolicy: route({
    ...policies,
    method: 'POST',
    path: '/policies',
    summary: 'Publishes a policy.',
    access: 'policy:write',
    body: policyBody,
    response: policy,
    status: 201,
  }),
  checkPolicy: route({
    ...policies,
    method: 'POST',
    path: '/policies/check',
    summary: 'Checks a text.',
    access: 'policy:read',
    body: z.object({ text }),
    response: z.object({ diagnostics: z.array(diagnostic) }),
  }),
  explainPolicies: route({
    ...policies,
    method: 'POST',
    path: '/policies/explain',
    summary: 'Says what the policies in force would say to a call, and why.',
    access: 'policy:read',
    body: asked,
    response: decision,
  }),
  getPolicy: route({
    ...policies,
    method: 'GET',
    path: '/policies/{id}',
    summary: 'A policy as it is now.',
    access: 'policy:read',
    params: byId,
    response: policy,
  }),
  updatePolicy: route({
    ...policies,
    method: 'PUT',
    path: '/policies/{id}',
    summary: 'Publishes the next version.',
    access: 'policy:write',
    params: byId,
    body: policyBody,
    response: policy,
    match: 'required',
  }),
  deletePolicy: route({
    ...policies,
    method: 'DELETE',
    path: '/policies/{id}',
    summary: 'Deletes a policy: it is asked no more.',
    access: 'policy:write',
    params: byId,
    response: null,
    status: 204,
    match: 'optional',
  }),
  listPolicyVersions: route({
    ...policies,
    method: 'GET',
    path: '/policies/{id}/versions',
    summary: 'Every version there was, the newest first.',
    access: 'policy:read',
    params: byId,
    query: z.object(paging),
    response: page(version),
  }),
  getPolicyVersion: route({
    ...policies,
    method: 'GET',
    path: '/policies/{id}/versions/{version}',
    summary: 'A version with its text.',
    access: 'policy:read',
    params: ofVersion,
    response: version.extend({ text: z.string() }),
  }),
  diffPolicy: route({
    ...policies,
    method: 'GET',
    path: '/policies/{id}/diff',
    summary: 'What changed between two versions.',
    access: 'policy:read',
    params: byId,
    query: between,
    response: diff,
  }),
  testPolicy: route({
    ...policies,
    method: 'POST',
    path: '/policies/test',
    summary: 'Tries a text against test cases.',
    access: 'policy:read',
    body: z.object({ text, cases: text.describe('YAML, as `lockstep policy test` takes them.') }),
    response: z.object({
      passed: z.int(),
      failed: z.int(),
      cases: z.array(z.object({ name: z.string(), passed: z.boolean(), message: z.string().nullable() })),
    }),
  }),
} as const
