import { ActLog, type DirectoryStore } from './act-log.ts'
import { Directory, type DirectorySettings } from './directory.ts'
import type { DirectoryFact } from './fact.ts'
import { firstLinkLifetime, planLink, type NewLink } from './links.ts'
import { newId } from './new-id.ts'
import { systemActor } from './principal.ts'
import type { TenantState, User } from './state.ts'
import { tenantFacts } from './tenants.ts'

/** The tenant that an installation begins with, and that runs of the command line belong to. */
export const localTenant = 'local'

const firstUsers = [
  { email: 'admin@local', name: 'Admin', role: 'Admin' },
  { email: 'approver@local', name: 'Approver', role: 'OnCall' },
] as const

/** How a directory is opened. */
export interface DirectoryOptions extends DirectorySettings {
  readonly store: DirectoryStore
  readonly now?: () => number
}

/** A link for somebody who has no other way in; the token is nowhere else. */
export interface FirstLink extends NewLink {
  readonly email: string
}

/**
 * Opens the directory of a store. Where nobody could sign in as Admin of the first tenant, as at the first start, it makes what is missing and gives links to be
 * shown to who started the process.
 */
export async function openDirectory({
  store,
  now = Date.now,
  ...settings
}: DirectoryOptions): Promise<{ readonly directory: Directory; readonly firstLinks: readonly FirstLink[] }> {
  const log = await ActLog.open(store, now)
  const directory = new Directory(log, settings)
  const firstLinks = await makeFirstLinks(log, directory)
  await sweep(log)
  return { directory, firstLinks }
}

async function makeFirstLinks(log: ActLog, directory: Directory): Promise<readonly FirstLink[]> {
  return await log.act(systemActor(localTenant), (state, at) => {
    const facts: DirectoryFact[] = []
    const firstIds = new Map<string, string>()
    if (state.name === null) {
      facts.push(...tenantFacts(localTenant, 'Local'))
      for (const { email, name, role } of firstUsers) {
        const id = newId('usr')
        firstIds.set(email, id)
        facts.push(
          { type: 'user.added', data: { id, email, name, home: null } },
          {
            type: 'role.bound',
            data: { id: newId('rbd'), subject: { kind: 'user', id }, role, project: null },
          },
        )
      }
    } else {
      if (adminsOf(state).some((user) => canSignIn(directory, state, user)))
        return { facts: [], result: () => [] }
      for (const user of adminsOf(state)) firstIds.set(user.email, user.id)
      const approver = state.users.get(state.emails.get(firstUsers[1].email) ?? '')
      if (approver !== undefined && !approver.disabled && !canSignIn(directory, state, approver))
        firstIds.set(approver.email, approver.id)
    }
    const links = Array.from(firstIds, ([email, id]) => ({ email, ...planLink(id, at, firstLinkLifetime) }))
    // Links that were shown before and not used count no more.
    const old = [...state.links.values()].filter(({ user }) => [...firstIds.values()].includes(user))
    return {
      facts: [
        ...facts,
        ...old.map(({ id }) => ({ type: 'link.used' as const, data: { id } })),
        ...links.map(({ fact }) => fact),
      ],
      keep: links.map(({ credential }) => credential),
      forget: old.map(({ id }) => id),
      result: () => links.map(({ email, made }) => ({ email, ...made })),
    }
  })
}

function adminsOf(state: TenantState): readonly User[] {
  return [...state.bindings.values()]
    .filter(({ subject, role, project }) => subject.kind === 'user' && role === 'Admin' && project === null)
    .map(({ subject }) => state.users.get(subject.id))
    .filter((user) => user !== undefined && !user.disabled)
    .map((user) => user!)
}

function canSignIn(directory: Directory, { id }: TenantState, user: User): boolean {
  return (
    user.hasPassword ||
    user.home !== null ||
    directory.passkeys.list(id, user.id).length > 0 ||
    directory.sessions.list(id, user.id).length > 0
  )
}

/** Forgets what is kept of sessions and links that are no more. */
async function sweep(log: ActLog): Promise<void> {
  for (const { id } of log.tenants) {
    await log.act(systemActor(id), ({ sessions, links }) => ({
      facts: [],
      forget: [...log.credentials()]
        .filter(
          ({ kind, tenant, id: each }) =>
            tenant === id &&
            ((kind === 'session' && !sessions.has(each)) || (kind === 'link' && !links.has(each))),
        )
        .map((each) => each.id),
      result: () => undefined,
    }))
  }
}
