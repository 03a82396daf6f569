/**
 * Applies what was done to a tenant.
 *
 * Owns: every change of what the directory knows.
 * Talks to: nothing. Never decides: folding a chain again gives the state that was.
 *
 * Invariants
 * E1  What ended, or whose time had passed when another of its kind was made, is not in the state; credentials follow it. Who is behind what was begun stays: every owner of a key, and who made a hook.
 * E2  Who is disabled has no session and no link.
 * E3  A text keeps every version it ever had.
 */
import type { DirectoryEntry, FactData } from './fact.ts'
import type { ApiKey, PublishedPolicy, Runbook, TenantState, TextVersion } from './state.ts'

/** The state after one more entry. It takes the given state over: use only the one it returns. */
export function evolve(state: TenantState, entry: DirectoryEntry): TenantState {
  const { at, by } = entry
  switch (entry.type) {
    case 'tenant.made':
      state.name = entry.data.name
      state.createdAt = at
      break
    case 'project.made':
      state.projects.set(entry.data.id, { ...entry.data, createdAt: at })
      break
    case 'project.renamed':
      replace(state.projects, entry.data.id, { name: entry.data.name })
      break
    case 'project.removed':
      state.projects.delete(entry.data.id)
      break
    case 'user.added':
      state.users.set(entry.data.id, { ...entry.data, disabled: false, hasPassword: false, createdAt: at })
      state.emails.set(entry.data.email, entry.data.id)
      break
    case 'user.renamed':
      replace(state.users, entry.data.id, { name: entry.data.name })
      break
    case 'user.disabled':
      replace(state.users, entry.data.id, { disabled: true })
      dropWhere(state.sessions, ({ user }) => user === entry.data.id)
      dropWhere(state.links, ({ user }) => user === entry.data.id)
      break
    case 'user.enabled':
      replace(state.users, entry.data.id, { disabled: false })
      break
    case 'role.bound':
      state.bindings.set(entry.data.id, entry.data)
      indexBindings(state, entry.data.subject.id)
      break
    case 'role.unbound': {
      const subject = state.bindings.get(entry.data.id)?.subject.id
      state.bindings.delete(entry.data.id)
      if (subject !== undefined) indexBindings(state, subject)
      break
    }
    case 'apikey.made':
      state.keys.set(entry.data.id, {
        ...entry.data,
        owners: ownersOf(undefined, entry.data.owner),
        createdBy: by,
        createdAt: at,
        revoked: false,
      })
      break
    case 'apikey.rotated':
      replace(state.keys, entry.data.id, {
        ...entry.data,
        owners: ownersOf(state.keys.get(entry.data.id), entry.data.owner),
        createdBy: by,
      })
      break
    case 'apikey.revoked':
      replace(state.keys, entry.data.id, { revoked: true })
      dropWhere(state.bindings, ({ subject }) => subject.kind === 'apikey' && subject.id === entry.data.id)
      indexBindings(state, entry.data.id)
      break
    case 'link.made':
      dropWhere(state.links, ({ expiresAt }) => expiresAt <= at)
      state.links.set(entry.data.id, entry.data)
      break
    case 'link.used':
      state.links.delete(entry.data.id)
      break
    case 'session.started':
      dropWhere(state.sessions, ({ expiresAt }) => expiresAt <= at)
      state.sessions.set(entry.data.id, { ...entry.data, since: at })
      break
    case 'session.ended':
      state.sessions.delete(entry.data.id)
      break
    case 'password.set':
      replace(state.users, entry.data.user, { hasPassword: true })
      break
    case 'passkey.added':
      state.passkeys.set(entry.data.id, { ...entry.data, createdAt: at })
      break
    case 'passkey.removed':
      state.passkeys.delete(entry.data.id)
      break
    case 'runbook.published':
      state.runbooks.set(entry.data.id, publishRunbook(state.runbooks.get(entry.data.id), entry.data, at, by))
      break
    case 'runbook.archived':
      replace(state.runbooks, entry.data.id, { archived: true, updatedAt: at, updatedBy: by })
      break
    case 'runbook.unarchived':
      replace(state.runbooks, entry.data.id, { archived: false, updatedAt: at, updatedBy: by })
      break
    case 'runbook.deleted':
      replace(state.runbooks, entry.data.id, { deleted: true, updatedAt: at, updatedBy: by })
      break
    case 'policy.published':
      state.policies.set(entry.data.id, publishPolicy(state.policies.get(entry.data.id), entry.data, at, by))
      break
    case 'policy.deleted':
      replace(state.policies, entry.data.id, { deleted: true, updatedAt: at, updatedBy: by })
      break
    case 'webhook.made':
      state.webhooks.set(entry.data.id, { ...entry.data, createdAt: at, createdBy: by })
      break
    case 'webhook.changed':
      replace(state.webhooks, entry.data.id, entry.data)
      break
    case 'webhook.removed':
      state.webhooks.delete(entry.data.id)
      break
    case 'hook.made':
      state.hooks.set(entry.data.id, { ...entry.data, createdAt: at, createdBy: by })
      state.hookMakers.set(entry.data.id, makersOf(state, by))
      break
    case 'hook.removed':
      state.hooks.delete(entry.data.id)
      break
    case 'secret.set':
    case 'secret.forgotten':
      // The secrets lie elsewhere; the chain only says who changed them.
      break
    default:
      entry satisfies never
  }
  return state
}

function ownersOf(known: ApiKey | undefined, owner: string | null): readonly string[] {
  return [...new Set([...(known?.owners ?? []), ...(owner === null ? [] : [owner])])]
}

/** Who does something, and the person whose key they do it by at this moment. */
function makersOf({ keys, users }: TenantState, by: string): readonly string[] {
  const owner = by.startsWith('apikey:') ? keys.get(by.slice('apikey:'.length))?.owner : null
  const person = owner == null ? undefined : users.get(owner)?.email
  return person === undefined ? [by] : [by, person]
}

function indexBindings(state: TenantState, subject: string): void {
  const found = [...state.bindings.values()].filter((each) => each.subject.id === subject)
  if (found.length === 0) state.bindingsOf.delete(subject)
  else state.bindingsOf.set(subject, found)
}

function replace<Value extends object>(map: Map<string, Value>, id: string, change: Partial<Value>): void {
  const known = map.get(id)
  if (known !== undefined) map.set(id, { ...known, ...change })
}

function dropWhere<Value>(map: Map<string, Value>, isGone: (value: Value) => boolean): void {
  for (const [id, value] of map) if (isGone(value)) map.delete(id)
}

function publishRunbook(
  known: Runbook | undefined,
  data: FactData<'runbook.published'>,
  at: number,
  by: string,
): Runbook {
  const { id, project, name, format } = data
  const versions = [...(known?.versions ?? []), versionOf(data, at, by)]
  const archived = known?.archived ?? false
  return {
    kind: 'runbook',
    id,
    project,
    name,
    format,
    versions,
    archived,
    deleted: false,
    updatedAt: at,
    updatedBy: by,
  }
}

function publishPolicy(
  known: PublishedPolicy | undefined,
  data: FactData<'policy.published'>,
  at: number,
  by: string,
): PublishedPolicy {
  const { id, project, name, appliesTo, runbook } = data
  const versions = [...(known?.versions ?? []), versionOf(data, at, by)]
  const scope = { project, appliesTo, runbook }
  return {
    kind: 'policy',
    id,
    name,
    ...scope,
    versions,
    archived: false,
    deleted: false,
    updatedAt: at,
    updatedBy: by,
  }
}

function versionOf(data: Omit<TextVersion, 'at' | 'by'>, at: number, by: string): TextVersion {
  const { version, name, digest, note } = data
  return { version, name, digest, by, at, note }
}
