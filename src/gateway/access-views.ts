import type { z } from 'zod'
import type { apiKey, binding, project, session, tenant, user } from '../api/access-shapes.ts'
import type { Directory } from '../directory/directory.ts'
import type { ApiKey, Binding, Project, Session, TenantState, User } from '../directory/state.ts'

/** A moment as it is sent. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}

export function showTenant({ id, name, createdAt }: TenantState): z.input<typeof tenant> {
  return { id, name: name ?? id, createdAt: iso(createdAt) }
}

export function showProject({ id, name, createdAt }: Project): z.input<typeof project> {
  return { id, name, createdAt: iso(createdAt) }
}

export function showUser(directory: Directory, of: string, known: User): z.input<typeof user> {
  const { id, email, name, disabled, hasPassword, createdAt } = known
  const passkeys = directory.passkeys.list(of, id).length
  return { id, email, name, disabled, hasPassword, passkeys, createdAt: iso(createdAt) }
}

export function showBinding(directory: Directory, of: string, known: Binding): z.input<typeof binding> {
  const { id, subject, role, project } = known
  const name =
    subject.kind === 'user'
      ? directory.people.find(of, subject.id)?.email
      : directory.keys.find(of, subject.id)?.name
  return { id, subject: { ...subject, name: name ?? subject.id }, role, project }
}

export function showKey(directory: Directory, of: string, known: ApiKey): z.input<typeof apiKey> {
  const { id, name, prefix, createdAt, createdBy, expiresAt } = known
  const lastUsed = directory.keys.lastUsed(id)
  return {
    id,
    name,
    prefix: `lk_${prefix}`,
    createdAt: iso(createdAt),
    createdBy,
    expiresAt: expiresAt === null ? null : iso(expiresAt),
    lastUsedAt: lastUsed === null ? null : iso(lastUsed),
    active: directory.keys.isActive(of, known),
  }
}

export function showSession(known: Session, current: string | null): z.input<typeof session> {
  const { id, how, since, expiresAt, agent } = known
  return { id, how, since: iso(since), expiresAt: iso(expiresAt), agent, current: id === current }
}
