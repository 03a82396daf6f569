import type { Role } from '../api/permission.ts'
import type { FactData, signInWays } from './fact.ts'

/** How it was established who somebody is. */
export type SignInWay = (typeof signInWays)[number]

export interface Project {
  readonly id: string
  readonly name: string
  readonly createdAt: number
}

/** Somebody with an account in the tenant. `home` is the account that signs in for it, where that is another tenant's. */
export interface User {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly disabled: boolean
  readonly hasPassword: boolean
  readonly home: { readonly tenant: string; readonly user: string } | null
  readonly createdAt: number
}

/** Whom a role is given to. */
export interface Subject {
  readonly kind: 'user' | 'apikey'
  readonly id: string
}

/** A role that somebody has in a project; in the whole tenant where `project` is null. */
export interface Binding {
  readonly id: string
  readonly subject: Subject
  readonly role: Role
  readonly project: string | null
}

/** A key; it counts no longer than its owner, the user who made or rotated it last. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly owner: string | null
  /** Every user whose it ever was, the first one first. */
  readonly owners: readonly string[]
  readonly createdBy: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revoked: boolean
}

export interface Link {
  readonly id: string
  readonly user: string
  readonly expiresAt: number
}

export interface Session {
  readonly id: string
  readonly user: string
  readonly how: SignInWay
  readonly agent: string
  readonly since: number
  readonly expiresAt: number
}

export interface Passkey {
  readonly id: string
  readonly user: string
  readonly name: string
  readonly createdAt: number
}

/** A version of a published text; `digest` finds the text in the store. */
export interface TextVersion {
  readonly version: number
  readonly name: string
  readonly digest: string
  readonly by: string
  readonly at: number
  readonly note: string | null
}

interface PublishedText {
  readonly id: string
  readonly project: string
  readonly name: string
  /** From 1 on, the newest last. */
  readonly versions: readonly TextVersion[]
  readonly archived: boolean
  /** What is deleted stays readable for the runs that were begun with it, and is in no list. */
  readonly deleted: boolean
  /** When it was last changed in any way, and by whom. */
  readonly updatedAt: number
  readonly updatedBy: string
}

export interface Runbook extends PublishedText {
  readonly kind: 'runbook'
  readonly format: FactData<'runbook.published'>['format']
}

export interface PublishedPolicy extends PublishedText {
  readonly kind: 'policy'
  readonly appliesTo: FactData<'policy.published'>['appliesTo']
  readonly runbook: string | null
}

/** Where events are sent. */
export interface Webhook extends FactData<'webhook.made'> {
  readonly createdAt: number
  readonly createdBy: string
}

/** What lets another system begin runs. */
export interface IncomingHook extends FactData<'hook.made'> {
  readonly createdAt: number
  readonly createdBy: string
}

/** All that is known of a tenant. Only `evolve` changes it; the values in it are never changed but replaced. */
export interface TenantState {
  readonly id: string
  /** Null until the tenant was made. */
  name: string | null
  createdAt: number
  readonly projects: Map<string, Project>
  readonly users: Map<string, User>
  /** The ids of users by their addresses. */
  readonly emails: Map<string, string>
  readonly bindings: Map<string, Binding>
  /** The bindings of a subject, by its id. */
  readonly bindingsOf: Map<string, readonly Binding[]>
  readonly keys: Map<string, ApiKey>
  readonly links: Map<string, Link>
  readonly sessions: Map<string, Session>
  readonly passkeys: Map<string, Passkey>
  readonly runbooks: Map<string, Runbook>
  readonly policies: Map<string, PublishedPolicy>
  readonly webhooks: Map<string, Webhook>
  readonly hooks: Map<string, IncomingHook>
  /** Who made a hook, as the chain names them and as the persons they were then: also of one that is no more, since runs that it began may still wait. */
  readonly hookMakers: Map<string, readonly string[]>
}

/** A tenant of which nothing is known. */
export function createState(id: string): TenantState {
  return {
    id,
    name: null,
    createdAt: 0,
    projects: new Map(),
    users: new Map(),
    emails: new Map(),
    bindings: new Map(),
    bindingsOf: new Map(),
    keys: new Map(),
    links: new Map(),
    sessions: new Map(),
    passkeys: new Map(),
    runbooks: new Map(),
    policies: new Map(),
    webhooks: new Map(),
    hooks: new Map(),
    hookMakers: new Map(),
  }
}
