/**
 * Who may do what, and what was published.
 *
 * Owns: nothing that is not in the tenants' chains and the credentials beside them: it can be thrown away and folded again.
 * Talks to: the store.
 *
 * Invariants
 * D1  Every act is a fact in the tenant's chain before it counts.
 * D2  A secret is shown once, when it is made; what is kept is its hash, except where it has to sign something.
 * D3  Who is disabled counts no more at once: sessions and links end, and keys with their owner.
 */
import type { ActLog } from './act-log.ts'
import { ApiKeys } from './api-keys.ts'
import { Bindings } from './bindings.ts'
import { Links } from './links.ts'
import { Passkeys } from './passkeys.ts'
import type { PasswordCost } from './password-hasher.ts'
import { Passwords } from './passwords.ts'
import { People } from './people.ts'
import type { Actor, Principal, RoleGrant } from './principal.ts'
import { Projects } from './projects.ts'
import { PublishedRunbooks, PublishedTexts } from './published-texts.ts'
import { Sessions } from './sessions.ts'
import { Tenants } from './tenants.ts'
import { Hooks, Webhooks } from './webhooks.ts'

/** What can be set. */
export interface DirectorySettings {
  /** How much work the hash of a password is; what is safe today if it is not said. */
  readonly passwordCost?: PasswordCost | undefined
  /** How long a session counts that nobody uses, in milliseconds; 12 hours if it is not said. */
  readonly idleMs?: number | undefined
  /** How long a link counts, in milliseconds; 15 minutes if it is not said. */
  readonly linkMs?: number | undefined
}

/** The directory of all tenants of a store. */
export class Directory {
  readonly tenants: Tenants
  readonly projects: Projects
  readonly people: People
  readonly bindings: Bindings
  readonly keys: ApiKeys
  readonly links: Links
  readonly sessions: Sessions
  readonly passwords: Passwords
  readonly passkeys: Passkeys
  readonly runbooks: PublishedRunbooks
  readonly policies: PublishedTexts<'policy'>
  readonly webhooks: Webhooks
  readonly hooks: Hooks
  readonly #log: ActLog

  constructor(log: ActLog, { passwordCost, idleMs, linkMs }: DirectorySettings = {}) {
    this.#log = log
    this.tenants = new Tenants(log)
    this.projects = new Projects(log)
    this.people = new People(log, linkMs)
    this.bindings = new Bindings(log)
    this.keys = new ApiKeys(log, this.people)
    this.links = new Links(log, linkMs)
    this.sessions = new Sessions(log, idleMs)
    this.passwords = new Passwords(log, this.people, this.sessions, passwordCost)
    this.passkeys = new Passkeys(log, this.people, this.sessions)
    this.runbooks = new PublishedRunbooks(log)
    this.policies = new PublishedTexts(log, 'policy')
    this.webhooks = new Webhooks(log)
    this.hooks = new Hooks(log)
  }

  /** Who a session belongs to, in its own tenant or another one in which it has an account; null if there is no such session or account. */
  principalOfSession(token: string, inTenant: string | null = null): Principal | null {
    const session = this.sessions.use(token)
    if (session === null || !this.people.isActive(session.tenant, session.user)) return null
    const tenant = inTenant ?? session.tenant
    const user = this.tenants.account(session.tenant, session.user, tenant)
    if (user === null || !this.people.isActive(tenant, user.id)) return null
    return {
      tenant,
      subject: { kind: 'user', id: user.id, name: user.name },
      person: user.email,
      user: user.id,
      actor: user.email,
      roles: this.rolesOf(tenant, user.id),
      how: session.how,
      session: session.id,
    }
  }

  /** Who a key stands for; null if it does not count. */
  principalOfKey(token: string): Principal | null {
    const key = this.keys.use(token)
    if (key === null) return null
    const owner = key.owner === null ? null : this.people.find(key.tenant, key.owner)
    return {
      tenant: key.tenant,
      subject: { kind: 'apikey', id: key.id, name: key.name },
      person: owner?.email ?? null,
      user: owner?.id ?? null,
      actor: `apikey:${key.id}`,
      roles: this.rolesOf(key.tenant, key.id),
      how: 'apikey',
      session: null,
    }
  }

  /** The roles that a user or key has at this moment. */
  rolesOf(tenant: string, subject: string): readonly RoleGrant[] {
    return this.#log.find(tenant)?.bindingsOf.get(subject) ?? []
  }

  /** Writes down that a secret of the installation was set or forgotten; the secret itself lies elsewhere. */
  async noteSecret(actor: Actor, type: 'secret.set' | 'secret.forgotten', name: string): Promise<void> {
    await this.#log.act(actor, () => ({ facts: [{ type, data: { name } }], result: () => undefined }))
  }

  /** Reads what other processes did. */
  async refresh(): Promise<void> {
    for (const { id } of this.#log.tenants) await this.#log.refresh(id)
  }
}
