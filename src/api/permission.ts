/** What can be permitted: `noun:verb`. */
export const permissions = [
  'runbook:read',
  'runbook:write',
  'policy:read',
  'policy:write',
  'run:read',
  'run:start',
  'run:control',
  'tool:read',
  'tool:invoke',
  'approval:read',
  'approval:decide',
  'audit:read',
  'analytics:read',
  'project:read',
  'project:write',
  'member:read',
  'member:write',
  'apikey:read',
  'apikey:write',
  'webhook:read',
  'webhook:write',
  'secret:read',
  'secret:write',
  'tenant:read',
  'tenant:write',
] as const

export type Permission = (typeof permissions)[number]

/** The roles that people and keys can have, tenant-wide or in a project. */
export const roles = ['Admin', 'SRE', 'OnCall', 'Viewer'] as const

export type Role = (typeof roles)[number]

const reading = [
  'runbook:read',
  'policy:read',
  'run:read',
  'tool:read',
  'approval:read',
  'audit:read',
  'analytics:read',
  'project:read',
  'member:read',
  'tenant:read',
] as const satisfies readonly Permission[]

/** What each role permits. What is not here is denied. */
export const permissionsOfRole: Readonly<Record<Role, readonly Permission[]>> = {
  Admin: permissions,
  SRE: [...reading, 'runbook:write', 'policy:write', 'run:start', 'run:control', 'tool:invoke'],
  OnCall: [...reading, 'approval:decide', 'run:control'],
  Viewer: reading,
}
