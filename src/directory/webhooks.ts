import { randomBytes } from 'node:crypto'
import type { ActLog } from './act-log.ts'
import type { FactData } from './fact.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { found } from './refusal.ts'
import type { IncomingHook, Webhook } from './state.ts'

/** A webhook to be made. */
export type NewWebhook = Omit<FactData<'webhook.made'>, 'id'>
/** What of a webhook is to be another; what is undefined stays. */
export type WebhookChange = { readonly [Key in keyof NewWebhook]?: NewWebhook[Key] | undefined }
/** An incoming hook to be made. */
export type NewHook = Omit<FactData<'hook.made'>, 'id'>

/** Where events are sent. The secret that signs them has to be at hand, so that it is kept itself, not its hash. */
export class Webhooks {
  readonly #log: ActLog

  constructor(log: ActLog) {
    this.#log = log
  }

  list(tenant: string): readonly Webhook[] {
    return [...this.#log.state(tenant).webhooks.values()]
  }

  find(tenant: string, id: string): Webhook | null {
    return this.#log.find(tenant)?.webhooks.get(id) ?? null
  }

  /** The secret that signs what is sent; null if there is no such webhook. */
  secret(id: string): string | null {
    return secretOf(this.#log, 'webhook', id)
  }

  async make(
    actor: Actor,
    wanted: NewWebhook,
  ): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const [id, secret] = [newId('wh'), newSecret()]
    return await this.#log.act(actor, () => ({
      facts: [{ type: 'webhook.made', data: { ...wanted, id } }],
      keep: [{ id, kind: 'webhook', body: { secret } }],
      result: ({ webhooks }) => ({ webhook: webhooks.get(id)!, secret }),
    }))
  }

  /** Changes what is given, and leaves the rest. Throws `not_found`. */
  async change(actor: Actor, id: string, change: WebhookChange): Promise<Webhook> {
    return await this.#log.act(actor, (state) => {
      const { createdAt: _, createdBy: __, ...known } = found(state.webhooks.get(id), 'webhook', id)
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      return {
        facts: [{ type: 'webhook.changed', data: { ...known, ...(given as Partial<NewWebhook>), id } }],
        result: ({ webhooks }) => webhooks.get(id)!,
      }
    })
  }

  /** Throws `not_found`. */
  async remove(actor: Actor, id: string): Promise<void> {
    await this.#log.act(actor, (state) => {
      found(state.webhooks.get(id), 'webhook', id)
      return { facts: [{ type: 'webhook.removed', data: { id } }], forget: [id], result: () => undefined }
    })
  }
}

/** What lets other systems begin runs. */
export class Hooks {
  readonly #log: ActLog

  constructor(log: ActLog) {
    this.#log = log
  }

  list(tenant: string): readonly IncomingHook[] {
    return [...this.#log.state(tenant).hooks.values()]
  }

  /** The hook with the id, whichever tenant it belongs to: who calls it is known by the signature alone. Null if there is none. */
  find(id: string): { readonly tenant: string; readonly hook: IncomingHook } | null {
    for (const { id: tenant, hooks } of this.#log.tenants) {
      const hook = hooks.get(id)
      if (hook !== undefined) return { tenant, hook }
    }
    return null
  }

  /** Who made the hook, as the chain names them and as the persons they were then, also if it is no more; empty if there never was one. */
  makers(tenant: string, id: string): readonly string[] {
    return this.#log.find(tenant)?.hookMakers.get(id) ?? []
  }

  /** The secret that signs what comes in; null if there is no such hook. */
  secret(id: string): string | null {
    return secretOf(this.#log, 'hook', id)
  }

  /** Makes a hook; its secret is the one that the sender has already, or a new one. */
  async make(
    actor: Actor,
    wanted: NewHook,
    secret: string = newSecret(),
  ): Promise<{ readonly hook: IncomingHook; readonly secret: string }> {
    const id = newId('hk')
    return await this.#log.act(actor, () => ({
      facts: [{ type: 'hook.made', data: { ...wanted, id } }],
      keep: [{ id, kind: 'hook', body: { secret } }],
      result: ({ hooks }) => ({ hook: hooks.get(id)!, secret }),
    }))
  }

  /** Throws `not_found`. */
  async remove(actor: Actor, id: string): Promise<void> {
    await this.#log.act(actor, (state) => {
      found(state.hooks.get(id), 'hook', id)
      return { facts: [{ type: 'hook.removed', data: { id } }], forget: [id], result: () => undefined }
    })
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

function secretOf(log: ActLog, kind: 'webhook' | 'hook', id: string): string | null {
  const secret = log.credential(kind, id)?.body['secret']
  return typeof secret === 'string' ? secret : null
}
