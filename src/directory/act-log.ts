/**
 * The administrative acts of all tenants, as the directory writes and folds them.
 *
 * Owns: the states, and the credentials in memory.
 * Talks to: the store.
 *
 * Invariants
 * A1  An act is decided in the state that all acts before it left, in this process or another: the store refuses a writer that missed one.
 * A2  The state changes only by what was read back from the store; an act that was not written changes nothing.
 * A3  A fact and the credentials it makes or ends are written together.
 */
import type { Authorship } from '../journal/journal.ts'
import type { ChainStore, Credential } from '../journal/chain-store.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { evolve } from './evolve.ts'
import { checkFact, readFact, type DirectoryFact } from './fact.ts'
import { createState, type TenantState } from './state.ts'

/** The kinds of credentials that the directory keeps. */
export const credentialKinds = [
  'apikey',
  'link',
  'session',
  'password',
  'passkey',
  'webhook',
  'hook',
] as const
export type CredentialKind = (typeof credentialKinds)[number]

/** What an act comes to: nothing is written where there are no facts and no credentials. */
export interface Act<Result> {
  readonly facts: readonly DirectoryFact[]
  readonly keep?: readonly { readonly id: string; readonly kind: CredentialKind; readonly body: JsonObject }[]
  readonly forget?: readonly string[]
  /** What the act gives, asked when it is done. */
  readonly result: (state: TenantState) => Result
}

/** What of a store the directory needs. */
export type DirectoryStore = Pick<
  ChainStore,
  'administer' | 'administered' | 'credentials' | 'tenants' | 'keep' | 'kept'
>

interface Tenant {
  state: TenantState
  /** The last administrative entry that was read. */
  seq: number
  queue: Promise<unknown>
}

const mostTries = 8

/** Decides, writes and folds acts, one at a time in each tenant. */
export class ActLog {
  readonly store: DirectoryStore
  readonly now: () => number
  readonly #tenants = new Map<string, Tenant>()
  readonly #credentials = new Map<string, Credential>()

  private constructor(store: DirectoryStore, now: () => number) {
    this.store = store
    this.now = now
  }

  /** Reads everything there is. Throws `journal_unreadable` if that cannot be trusted. */
  static async open(store: DirectoryStore, now: () => number): Promise<ActLog> {
    const log = new ActLog(store, now)
    for (const id of await store.tenants()) await log.#catchUp(id, log.#tenant(id))
    await log.#loadCredentials()
    return log
  }

  /** The tenants that were made. */
  get tenants(): readonly TenantState[] {
    return Array.from(this.#tenants.values(), ({ state }) => state).filter(({ name }) => name !== null)
  }

  /** What is known of a tenant; null if it was not made. */
  find(tenant: string): TenantState | null {
    const state = this.#tenants.get(tenant)?.state
    return state === undefined || state.name === null ? null : state
  }

  /** What is known of a tenant. Throws `not_found` if it was not made. */
  state(tenant: string): TenantState {
    const state = this.find(tenant)
    if (state === null) throw new LockstepError('not_found', `There is no tenant ${tenant}.`)
    return state
  }

  /** The credential with the id; null if there is none of that kind. */
  credential(kind: CredentialKind, id: string): Credential | null {
    const credential = this.#credentials.get(id)
    return credential?.kind === kind ? credential : null
  }

  /** Every credential, in no order. */
  credentials(): Iterable<Credential> {
    return this.#credentials.values()
  }

  /** Decides an act in the tenant's newest state (A1) and writes it down. What `decide` throws is thrown, and nothing is written. */
  async act<Result>(
    author: Authorship,
    decide: (state: TenantState, at: number) => Act<Result>,
  ): Promise<Result> {
    const tenant = this.#tenant(author.tenant)
    const done = tenant.queue.then(async () => await this.#act(author, tenant, decide))
    tenant.queue = done.catch(() => undefined)
    return await done
  }

  /** Reads what other processes did to the tenant. */
  async refresh(id: string): Promise<void> {
    const tenant = this.#tenants.get(id)
    if (tenant === undefined) return
    const read = tenant.queue.then(async () => {
      if ((await this.#catchUp(id, tenant)) > 0) await this.#loadCredentials()
    })
    tenant.queue = read.catch(() => undefined)
    await read
  }

  async #act<Result>(
    author: Authorship,
    tenant: Tenant,
    decide: (state: TenantState, at: number) => Act<Result>,
  ): Promise<Result> {
    const at = this.now()
    for (let tried = 1; ; tried++) {
      const { facts, keep = [], forget = [], result } = decide(tenant.state, at)
      facts.forEach(checkFact)
      if (facts.length + keep.length + forget.length === 0) return result(tenant.state)
      try {
        const written = facts.map(({ type, data }) => ({ type, at, data: data as JsonObject }))
        await this.store.administer(written, author, { keep, forget, after: tenant.seq })
      } catch (error) {
        const isMissed = LockstepError.isInstance(error) && error.code === 'journal_conflict'
        if (!isMissed || tried === mostTries) throw error
        await this.#catchUp(author.tenant, tenant)
        await this.#loadCredentials()
        continue
      }
      for (const each of keep) this.#credentials.set(each.id, { ...each, tenant: author.tenant })
      for (const id of forget) this.#credentials.delete(id)
      const read = await this.#catchUp(author.tenant, tenant)
      if (read > facts.length) await this.#loadCredentials()
      return result(tenant.state)
    }
  }

  #tenant(id: string): Tenant {
    const known = this.#tenants.get(id)
    if (known !== undefined) return known
    const tenant = { state: createState(id), seq: 0, queue: Promise.resolve() }
    this.#tenants.set(id, tenant)
    return tenant
  }

  /** Folds what was written since, and says how many entries that were. */
  async #catchUp(id: string, tenant: Tenant): Promise<number> {
    const entries = await this.store.administered(id, tenant.seq)
    for (const entry of entries) {
      const fact = readFact(entry)
      if (fact !== null) tenant.state = evolve(tenant.state, fact)
      tenant.seq = entry.seq
    }
    return entries.length
  }

  async #loadCredentials(): Promise<void> {
    const all = (await Promise.all(credentialKinds.map((kind) => this.store.credentials(kind)))).flat()
    this.#credentials.clear()
    for (const each of all) this.#credentials.set(each.id, each)
  }
}
