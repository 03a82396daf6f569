import { z } from 'zod'
import { roles } from '../api/permission.ts'
import { messageOf } from '../shared/message-of.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { JournalEntry } from '../journal/journal.ts'

const id = z.string().min(1).max(100)
const line = z.string().min(1).max(254)
const name = z.string().min(1).max(200)
const moment = z.number()
const version = z.int().min(1)
const ofOne = z.strictObject({ id })
const named = z.strictObject({ id, name })
const subject = z.strictObject({ kind: z.enum(['user', 'apikey']), id })

/** How it can be established who somebody is. */
export const signInWays = ['link', 'password', 'passkey'] as const

const text = { id, project: id, name, version, digest: z.string(), note: z.string().max(500).nullable() }
const webhook = {
  id,
  name,
  url: z.string().max(2000),
  events: z.array(z.string().max(100)).min(1).max(50),
  template: z.enum(['json', 'slack']),
  active: z.boolean(),
}

/** What can be done to a tenant, by the type of its fact: what each of them says. No secret, and no hash of one, is in any of them. */
export const factShapes = {
  'tenant.made': named,
  'project.made': named,
  'project.renamed': named,
  'project.removed': ofOne,
  'user.added': z.strictObject({
    id,
    email: line,
    name,
    home: z.strictObject({ tenant: id, user: id }).nullable(),
  }),
  'user.renamed': named,
  'user.disabled': ofOne,
  'user.enabled': ofOne,
  'role.bound': z.strictObject({ id, subject, role: z.enum(roles), project: id.nullable() }),
  'role.unbound': ofOne,
  'apikey.made': z.strictObject({
    id,
    name,
    prefix: id,
    owner: id.nullable(),
    expiresAt: moment.nullable(),
  }),
  'apikey.rotated': z.strictObject({ id, prefix: id, owner: id.nullable() }),
  'apikey.revoked': ofOne,
  'link.made': z.strictObject({ id, user: id, expiresAt: moment }),
  'link.used': ofOne,
  'session.started': z.strictObject({
    id,
    user: id,
    how: z.enum(signInWays),
    agent: z.string().max(200),
    expiresAt: moment,
  }),
  'session.ended': ofOne,
  'password.set': z.strictObject({ user: id }),
  'passkey.added': z.strictObject({ id, user: id, name }),
  'passkey.removed': ofOne,
  'runbook.published': z.strictObject({ ...text, format: z.enum(['yaml', 'markdown', 'json']) }),
  'runbook.archived': ofOne,
  'runbook.unarchived': ofOne,
  'runbook.deleted': ofOne,
  'policy.published': z.strictObject({
    ...text,
    appliesTo: z.enum(['tenant', 'project', 'runbook']),
    runbook: id.nullable(),
  }),
  'policy.deleted': ofOne,
  'webhook.made': z.strictObject(webhook),
  'webhook.changed': z.strictObject(webhook),
  'webhook.removed': ofOne,
  'hook.made': z.strictObject({
    id,
    name,
    kind: z.enum(['generic', 'alertmanager', 'pagerduty']),
    runbook: z.string().min(1).max(200),
    mode: z.enum(['dry-run', 'execute']),
    inputs: z.record(z.string().max(100), z.string().max(2000)),
    when: z.string().max(2000).nullable(),
    active: z.boolean(),
  }),
  'hook.removed': ofOne,
  'secret.set': z.strictObject({ name: line }),
  'secret.forgotten': z.strictObject({ name: line }),
} as const

export type FactType = keyof typeof factShapes
/** What a fact of the type says. */
export type FactData<Type extends FactType> = Readonly<z.infer<(typeof factShapes)[Type]>>
/** Something that was done to a tenant. */
export type DirectoryFact = {
  [Type in FactType]: { readonly type: Type; readonly data: FactData<Type> }
}[FactType]
/** A fact with when it was done and by whom. */
export type DirectoryEntry = DirectoryFact & { readonly at: number; readonly by: string }

/** Throws `internal` for a fact that nobody could read again. */
export function checkFact({ type, data }: DirectoryFact): void {
  const { error } = factShapes[type].safeParse(data)
  if (error !== undefined)
    throw new LockstepError('internal', `${type} cannot be written: ${messageOf(error)}`)
}

/** The entry of a tenant's chain as the directory knows it; null for one of another's. Throws `journal_unreadable` for one it cannot read. */
export function readFact(entry: JournalEntry): DirectoryEntry | null {
  const { type, data, at, principal } = entry
  if (!Object.hasOwn(factShapes, type)) return null
  const read = factShapes[type as FactType].safeParse(data)
  if (read.success) return { type, data: read.data, at, by: principal } as DirectoryEntry
  throw new LockstepError(
    'journal_unreadable',
    `Entry ${entry.seq} of ${entry.run} says of ${type} what this version does not know.`,
    {
      cause: read.error,
      consequence: 'pause',
      hint: 'Use the newer version of Lockstep that wrote it.',
    },
  )
}
