import { isIP } from 'node:net'
import type { webhookRoutes } from '../api/system-routes.ts'
import { actorOf } from '../directory/principal.ts'
import type { IncomingHook, Webhook } from '../directory/state.ts'
import type { Platform } from '../platform/platform.ts'
import type { Delivery } from '../webhook/delivery-rows.ts'
import { checkMapping } from '../webhook/incoming.ts'
import { isPublicAddress } from '../webhook/public-address.ts'
import type { SignatureBook } from '../webhook/signature-book.ts'
import { iso } from './access-views.ts'
import type { HandlersOf } from './handler.ts'
import { pageOf } from './page-of.ts'
import { assertMay, sees } from './permit.ts'
import { RequestError } from './problem.ts'
import { receiveHook } from './receive-hook.ts'

type WebhookRoute = keyof typeof webhookRoutes

/** Answers about what is sent to other systems, and what they send. All of it takes a role in the whole tenant. */
export function webhookHandlers(platform: Platform, signatures: SignatureBook): HandlersOf<WebhookRoute> {
  return {
    ...outgoing(platform),
    ...incoming(platform),
    receiveHook: (asked) => receiveHook(platform, signatures, asked),
  }
}

function outgoing(
  platform: Platform,
): HandlersOf<
  'listWebhooks' | 'createWebhook' | 'updateWebhook' | 'deleteWebhook' | 'listDeliveries' | 'testWebhook'
> {
  const { directory, outbox, settings } = platform
  const find = (tenant: string, id: string): Webhook => {
    const known = directory.webhooks.find(tenant, id)
    if (known === null) throw new RequestError('not_found', 'There is no such webhook.')
    return known
  }
  const assertAddress = (url: string) => {
    const { hostname, username, password } = new URL(url)
    const host = hostname.replace(/^\[|\]$/g, '')
    if (username !== '' || password !== '')
      throw new RequestError(
        'invalid_request',
        'body.url: holds a name or a password, which would be shown in lists.',
      )
    const here = /^(?:.+\.)?localhost\.?$/i.test(host) || (isIP(host) !== 0 && !isPublicAddress(host))
    if (!settings.webhooks.allowPrivate && here)
      throw new RequestError(
        'invalid_request',
        'body.url: is an address of this machine or of a private network.',
        {
          hint: 'Who runs this server can allow it: webhooks.allow_private.',
        },
      )
  }
  return {
    listWebhooks: (asked) => {
      assertMay(asked.principal, 'webhook:read', null)
      const all = directory.webhooks.list(asked.principal.tenant)
      return pageOf(all.map(showWebhook), asked.query)
    },
    createWebhook: async ({ principal, body }) => {
      assertMay(principal, 'webhook:write', null)
      assertAddress(body.url)
      const { webhook, secret } = await directory.webhooks.make(actorOf(principal), body)
      return { webhook: showWebhook(webhook), secret }
    },
    updateWebhook: async ({ principal, params, body }) => {
      assertMay(principal, 'webhook:write', null)
      find(principal.tenant, params.id)
      if (body.url !== undefined) assertAddress(body.url)
      const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
      return showWebhook(await directory.webhooks.change(actorOf(principal), params.id, change))
    },
    deleteWebhook: async ({ principal, params }) => {
      assertMay(principal, 'webhook:write', null)
      find(principal.tenant, params.id)
      await directory.webhooks.remove(actorOf(principal), params.id)
    },
    listDeliveries: ({ principal, params, query }) => {
      assertMay(principal, 'webhook:read', null)
      find(principal.tenant, params.id)
      const cursor = query.cursor === undefined ? null : Number(query.cursor)
      if (cursor !== null && !Number.isSafeInteger(cursor))
        throw new RequestError('invalid_request', 'query.cursor: is of another list.')
      const { items, next } = outbox.list(principal.tenant, params.id, { cursor, limit: query.limit })
      return { items: items.map(showDelivery), next: next === null ? null : String(next) }
    },
    testWebhook: ({ principal, params }) => {
      assertMay(principal, 'webhook:write', null)
      const webhook = find(principal.tenant, params.id)
      if (!webhook.active) throw new RequestError('not_available', 'The webhook is switched off.')
      return showDelivery(outbox.test({ ...webhook, tenant: principal.tenant }))
    },
  }
}

function incoming(platform: Platform): HandlersOf<'listHooks' | 'createHook' | 'deleteHook'> {
  const { directory, texts } = platform
  const show = (hook: IncomingHook) => showHook(hook, platform.url())
  return {
    listHooks: (asked) => {
      assertMay(asked.principal, 'webhook:read', null)
      return pageOf(directory.hooks.list(asked.principal.tenant).map(show), asked.query)
    },
    createHook: async (asked) => {
      const { principal, body } = asked
      const { tenant } = principal
      assertMay(principal, 'webhook:write', null)
      const runbook = await texts.findRunbook(tenant, body.runbook, asked.project)
      if (runbook === null || !sees(asked, 'runbook:read')(runbook.project))
        throw new RequestError('invalid_request', 'body.runbook: names no playbook.')
      assertMay(principal, 'run:start', runbook.project)
      const playbook = await texts.open(tenant, runbook, runbook.versions.at(-1)!.version)
      const strange = Object.keys(body.inputs).filter((name) => !Object.hasOwn(playbook.inputs, name))
      const missing = Object.entries(playbook.inputs).filter(
        ([name, { required }]) => required && !Object.hasOwn(body.inputs, name),
      )
      const errors = [
        ...checkMapping(body),
        ...strange.map((name) => ({ path: `inputs.${name}`, message: 'is no input of the playbook' })),
        ...missing.map(([name]) => ({ path: `inputs.${name}`, message: 'is required by the playbook' })),
      ].map(({ path, message }) => ({ path: `body.${path}`, message }))
      const [first] = errors
      if (first !== undefined)
        throw new RequestError('invalid_request', `${first.path}: ${first.message}`, { errors })
      const { secret: given, ...wanted } = body
      const { hook, secret } = await directory.hooks.make(
        actorOf(principal),
        { ...wanted, runbook: runbook.id },
        given,
      )
      return { hook: show(hook), secret }
    },
    deleteHook: async ({ principal, params }) => {
      assertMay(principal, 'webhook:write', null)
      if (directory.hooks.find(params.id)?.tenant !== principal.tenant)
        throw new RequestError('not_found', 'There is no such hook.')
      await directory.hooks.remove(actorOf(principal), params.id)
    },
  }
}

function showWebhook({ id, name, url, events, template, active, createdAt, createdBy }: Webhook) {
  return {
    id,
    name,
    url,
    events: [...events] as never,
    template,
    active,
    createdAt: iso(createdAt),
    createdBy,
  }
}

function showHook(hook: IncomingHook, url: string) {
  const { id, name, kind, runbook, mode, inputs, when, active, createdAt, createdBy } = hook
  return {
    id,
    name,
    kind,
    runbook,
    mode,
    inputs: { ...inputs },
    when,
    url: `${url}/hooks/${id}`,
    active,
    createdAt: iso(createdAt),
    createdBy,
  }
}

function showDelivery({ id, event, subject, at, attempts, state, status, error, nextAt }: Delivery) {
  return {
    id,
    event,
    subject,
    at: iso(at),
    attempts,
    state,
    status,
    error,
    nextAt: nextAt === null ? null : iso(nextAt),
  }
}
