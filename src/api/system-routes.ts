import { z } from 'zod'
import { route } from './route.ts'
import { webhookEvents } from './webhook-event.ts'
import { id, object, page, paging, time, title } from './shape.ts'

const hooks = { tag: 'webhooks' } as const
const system = { tag: 'system' } as const
const byId = z.object({ id })
const webhookBody = z.object({
  name: title,
  url: z.url({ protocol: /^https?$/ }).max(2000),
  events: z.array(z.enum(webhookEvents)).min(1),
  template: z.enum(['json', 'slack']).default('json'),
  active: z.boolean().default(true),
})

export const webhook = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  events: z.array(z.enum(webhookEvents)),
  template: z.enum(['json', 'slack']),
  active: z.boolean(),
  createdAt: time,
  createdBy: z.string(),
})
export const delivery = z.object({
  id: z.string(),
  event: z.string(),
  subject: z.string(),
  at: time,
  attempts: z.int(),
  state: z.enum(['pending', 'delivered', 'failed']),
  status: z.int().nullable(),
  error: z.string().nullable(),
  nextAt: time.nullable(),
})
export const incomingHook = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['generic', 'alertmanager', 'pagerduty']),
  runbook: z.string(),
  mode: z.enum(['dry-run', 'execute']),
  inputs: z.record(z.string(), z.string()).describe('An expression over `body` for each input.'),
  when: z.string().nullable().describe('An expression over `body`; nothing is begun where it does not hold.'),
  url: z.string(),
  active: z.boolean(),
  createdAt: time,
  createdBy: z.string(),
})
const incomingBody = z.object({
  name: title,
  kind: z.enum(['generic', 'alertmanager', 'pagerduty']),
  runbook: z.string().max(200),
  mode: z.enum(['dry-run', 'execute']).default('dry-run'),
  inputs: z.record(z.string().max(100), z.string().max(2000)).default({}),
  when: z.string().max(2000).nullable().default(null),
  active: z.boolean().default(true),
  secret: z
    .string()
    .min(16)
    .max(200)
    .optional()
    .describe(
      'The secret of the sender, where it makes one itself, as PagerDuty does; otherwise one is made.',
    ),
})

/** Webhooks, outgoing and incoming. */
export const webhookRoutes = {
  listWebhooks: route({
    ...hooks,
    method: 'GET',
    path: '/webhooks',
    summary: 'Where events are sent.',
    access: 'webhook:read',
    query: z.object(paging),
    response: page(webhook),
  }),
  createWebhook: route({
    ...hooks,
    method: 'POST',
    path: '/webhooks',
    summary: 'Sends events to an address; the secret that signs them is in the answer, once.',
    access: 'webhook:write',
    body: webhookBody,
    response: z.object({ webhook, secret: z.string() }),
    status: 201,
    shown: 'once',
  }),
  updateWebhook: route({
    ...hooks,
    method: 'PATCH',
    path: '/webhooks/{id}',
    summary: 'Changes where and what is sent.',
    access: 'webhook:write',
    params: byId,
    body: webhookBody.partial(),
    response: webhook,
  }),
  deleteWebhook: route({
    ...hooks,
    method: 'DELETE',
    path: '/webhooks/{id}',
    summary: 'Sends nothing any more.',
    access: 'webhook:write',
    params: byId,
    response: null,
    status: 204,
  }),
  listDeliveries: route({
    ...hooks,
    method: 'GET',
    path: '/webhooks/{id}/deliveries',
    summary: 'What was sent, the newest first.',
    access: 'webhook:read',
    params: byId,
    query: z.object(paging),
    response: page(delivery),
  }),
  testWebhook: route({
    ...hooks,
    method: 'POST',
    path: '/webhooks/{id}/test',
    summary: 'Sends a trial event.',
    access: 'webhook:write',
    params: byId,
    response: delivery,
    status: 202,
  }),
  listHooks: route({
    ...hooks,
    method: 'GET',
    path: '/hooks',
    summary: 'What may begin runs from outside.',
    access: 'webhook:read',
    query: z.object(paging),
    response: page(incomingHook),
  }),
  createHook: route({
    ...hooks,
    method: 'POST',
    path: '/hooks',
    summary: 'Lets another system begin runs of a playbook; its secret is in the answer, once.',
    access: 'webhook:write',
    body: incomingBody,
    response: z.object({ hook: incomingHook, secret: z.string() }),
    status: 201,
    shown: 'once',
  }),
  deleteHook: route({
    ...hooks,
    method: 'DELETE',
    path: '/hooks/{id}',
    summary: 'Lets it begin nothing any more.',
    access: 'webhook:write',
    params: byId,
    response: null,
    status: 204,
  }),
  receiveHook: route({
    ...hooks,
    method: 'POST',
    path: '/hooks/{id}',
    summary: 'Takes a signed event from another system, and begins a run.',
    access: 'signature',
    params: byId,
    body: z.json(),
    response: z.object({ runs: z.array(z.string()), duplicates: z.int(), ignored: z.int() }),
    status: 202,
  }),
} as const

/** The process itself. */
export const systemRoutes = {
  health: route({
    ...system,
    method: 'GET',
    path: '/healthz',
    summary: 'Whether the process answers.',
    access: 'public',
    response: z.object({ ok: z.literal(true) }),
  }),
  ready: route({
    ...system,
    method: 'GET',
    path: '/readyz',
    summary: 'Whether runs can be begun.',
    access: 'public',
    response: z.object({ ready: z.boolean() }),
  }),
  metrics: route({
    ...system,
    method: 'GET',
    path: '/metrics',
    summary: 'Figures for Prometheus.',
    access: 'analytics:read',
    response: null,
    produces: ['text/plain'],
  }),
  listModels: route({
    ...system,
    method: 'GET',
    path: '/models',
    summary: 'The model that runs use, and what models cost.',
    access: 'tool:read',
    response: z.object({
      current: z.string(),
      prices: z.array(
        z.object({ model: z.string(), inputUsd: z.number(), outputUsd: z.number(), source: z.string() }),
      ),
    }),
  }),
  describe: route({
    ...system,
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description.',
    access: 'signed_in',
    response: object,
  }),
} as const
