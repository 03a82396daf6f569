import { z } from 'zod'
import { permissions, roles } from './permission.ts'
import { time } from './shape.ts'

/** A role. */
export const role = z.enum(roles)
/** An e-mail address. */
export const email = z
  .string()
  .trim()
  .toLowerCase()
  .min(3)
  .max(254)
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, { error: 'must be an e-mail address' })

export const user = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  disabled: z.boolean(),
  hasPassword: z.boolean(),
  passkeys: z.int(),
  createdAt: time,
})
export const project = z.object({ id: z.string(), name: z.string(), createdAt: time })
export const tenant = z.object({ id: z.string(), name: z.string(), createdAt: time })
export const binding = z.object({
  id: z.string(),
  subject: z.object({ kind: z.enum(['user', 'apikey']), id: z.string(), name: z.string() }),
  role,
  project: z.string().nullable().describe('Null: in the whole tenant.'),
})
export const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  createdAt: time,
  createdBy: z.string(),
  expiresAt: time.nullable(),
  lastUsedAt: time.nullable(),
  active: z.boolean(),
})
export const session = z.object({
  id: z.string(),
  how: z.string(),
  since: time,
  expiresAt: time,
  agent: z.string(),
  current: z.boolean(),
})
/** Who one is, and what one may do. */
export const me = z.object({
  kind: z.enum(['user', 'apikey']),
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  how: z.string().describe('How it was established who this is.'),
  tenant,
  tenants: z.array(tenant),
  projects: z.array(project),
  roles: z.array(z.object({ role, project: z.string().nullable() })),
  permissions: z
    .array(z.enum(permissions))
    .describe('In the project that the request names, or in the tenant.'),
  csrfToken: z.string().nullable(),
})
