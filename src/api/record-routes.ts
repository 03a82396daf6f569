import { z } from 'zod'
import { route } from './route.ts'
import { runMode } from './run-shapes.ts'
import { object, page, paging, time } from './shape.ts'

const audit = { tag: 'audit' } as const
const analytics = { tag: 'analytics' } as const
const range = z.object({
  range: z.enum(['24h', '7d', '30d', '90d']).default('7d'),
  from: time.optional(),
  to: time.optional(),
  mode: runMode.optional().describe('Only dry runs, or only real ones.'),
})
const figures = {
  runs: z.int(),
  succeeded: z.int(),
  failed: z.int().describe('Those that failed or ended incomplete.'),
  cancelled: z.int(),
  open: z.int().describe('Those that have not ended.'),
  cost: z.number().describe('Dollars, of the runs whose cost is known.'),
  unpriced: z.int().describe('How many runs used a model without a price.'),
  tokens: z.int(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
}

/** An entry of the tenant's chain. */
export const auditEntry = z.object({
  seq: z.int(),
  at: time,
  by: z.string(),
  type: z.string(),
  data: object.nullable().describe('Null where it was erased.'),
  hash: z.string(),
})

/** The record of the tenant. */
export const auditRoutes = {
  listAudit: route({
    ...audit,
    method: 'GET',
    path: '/audit',
    summary: 'What was done, the newest first.',
    access: 'audit:read',
    query: z.object({
      ...paging,
      type: z.string().max(100).optional(),
      by: z.string().max(200).optional(),
      search: z.string().max(200).optional(),
      from: time.optional(),
      to: time.optional(),
    }),
    response: page(auditEntry),
  }),
  verifyAudit: route({
    ...audit,
    method: 'GET',
    path: '/audit/verify',
    summary: 'Checks the chain of the tenant and of all its runs.',
    access: 'audit:read',
    query: z.object({
      runs: z.coerce
        .number()
        .int()
        .min(0)
        .max(10_000)
        .default(1000)
        .describe('How many runs are decided again, the newest first; that each is there is checked of all.'),
    }),
    response: z.object({
      at: time.describe('When it was checked; a check that takes long is not made again at once.'),
      verdict: z.enum(['proven', 'consistent', 'broken']),
      entries: z.int(),
      checked: z.int().describe('How many runs were decided again.'),
      runsOpened: z.int(),
      runsClosed: z.int(),
      missing: z.array(z.string()),
      problems: z.array(z.object({ chain: z.string(), seq: z.int().nullable(), message: z.string() })),
    }),
  }),
  listCheckpoints: route({
    ...audit,
    method: 'GET',
    path: '/audit/checkpoints',
    summary: 'Signed statements of where the chain stood, the newest first.',
    access: 'audit:read',
    query: z.object(paging),
    response: page(object),
  }),
  exportAudit: route({
    ...audit,
    method: 'GET',
    path: '/audit/export',
    summary: 'The archive for auditors.',
    access: 'audit:read',
    query: z.object({ from: time.optional(), to: time.optional() }),
    response: null,
    produces: ['application/zip'],
  }),
} as const

/** Figures over runs. */
export const analyticsRoutes = {
  getAnalytics: route({
    ...analytics,
    method: 'GET',
    path: '/analytics',
    summary: 'Runs, success, duration, cost and tokens over a time.',
    access: 'analytics:read',
    query: range,
    response: z.object({
      from: time,
      to: time,
      bucket: z.enum(['hour', 'day']),
      totals: z.object(figures),
      series: z.array(z.object({ at: time, ...figures })),
      runbooks: z.array(z.object({ name: z.string(), runbook: z.string().nullable(), ...figures })),
    }),
  }),
  exportAnalytics: route({
    ...analytics,
    method: 'GET',
    path: '/analytics.csv',
    summary: 'The same as a table.',
    access: 'analytics:read',
    query: range,
    response: null,
    produces: ['text/csv'],
  }),
} as const
