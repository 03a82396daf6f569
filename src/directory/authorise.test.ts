import fc from 'fast-check'
import { expect, test } from 'vitest'
import { permissions, permissionsOfRole, roles, type Permission, type Role } from '../api/permission.ts'
import { authorise, permissionsIn, projectsWith } from './authorise.ts'

const role = fc.constantFrom(...roles)
const permission = fc.constantFrom(...permissions)
const project = fc.constantFrom('p1', 'p2', 'p3')
const grants = fc.array(fc.record({ role, project: fc.option(project) }), { maxLength: 5 })
const place = fc.record({ tenant: fc.constantFrom('acme', 'other'), project: fc.option(project) })

test('Z1, Z2: allowed is exactly what a role of the project or of the tenant permits', () => {
  fc.assert(
    fc.property(grants, permission, place, (given, wanted, scope) => {
      const said = authorise({ tenant: 'acme', roles: given }, wanted, scope)
      const counting = given.filter((each) => each.project === null || each.project === scope.project)
      const granted = counting.some((each) => permissionsOfRole[each.role].includes(wanted))
      expect(said === 'allowed').toBe(scope.tenant === 'acme' && granted)
    }),
  )
})

test('Z3: another tenant, and a project without a role, are hidden whatever one is elsewhere', () => {
  fc.assert(
    fc.property(grants, permission, place, (given, wanted, scope) => {
      const said = authorise({ tenant: 'acme', roles: given }, wanted, scope)
      const isStranger =
        scope.project !== null &&
        !given.some((each) => each.project === null || each.project === scope.project)
      expect(said === 'hidden').toBe(scope.tenant !== 'acme' || isStranger)
    }),
  )
})

test('a further role never takes anything away', () => {
  fc.assert(
    fc.property(grants, grants, permission, place, (some, more, wanted, scope) => {
      const before = authorise({ tenant: 'acme', roles: some }, wanted, scope)
      const after = authorise({ tenant: 'acme', roles: [...some, ...more] }, wanted, scope)
      if (before === 'allowed') expect(after).toBe('allowed')
    }),
  )
})

test('lists agree with single questions', () => {
  fc.assert(
    fc.property(grants, permission, project, (given, wanted, of) => {
      const holder = { tenant: 'acme', roles: given }
      const scope = { tenant: 'acme', project: of }
      const where = projectsWith(holder, wanted)
      const said = authorise(holder, wanted, scope) === 'allowed'
      expect(where === 'all' || where.has(of)).toBe(said)
      expect(permissionsIn(holder, scope).includes(wanted)).toBe(said)
    }),
  )
})

test.each(['run:delete', 'run:*', '*', '', 'toString', '__proto__'])(
  'Z1: nobody is permitted %s, which is no permission',
  (unknown) => {
    const holder = { tenant: 'acme', roles: roles.map((each) => ({ role: each, project: null })) }
    expect(authorise(holder, unknown as Permission, { tenant: 'acme', project: null })).toBe('forbidden')
  },
)

test.each(['Root', 'toString', '__proto__', 'admin', ''])(
  'Z1: the role %s, which is none, permits nothing',
  (no) => {
    const holder = { tenant: 'acme', roles: [{ role: no as Role, project: null }] }
    const scope = { tenant: 'acme', project: null }
    expect(permissions.filter((each) => authorise(holder, each, scope) === 'allowed')).toEqual([])
  },
)

test('the roles are what the documentation says of them', () => {
  const may = (of: Role, wanted: Permission) => permissionsOfRole[of].includes(wanted)
  expect(permissionsOfRole.Admin).toEqual(permissions)
  expect(['SRE', 'OnCall', 'Viewer'].filter((each) => may(each as Role, 'approval:decide'))).toEqual([
    'OnCall',
  ])
  for (const hidden of ['secret:read', 'apikey:read', 'webhook:read'] as const)
    expect(roles.filter((each) => may(each, hidden))).toEqual(['Admin'])
  expect(permissionsOfRole.Viewer.every((each) => each.endsWith(':read'))).toBe(true)
  expect(may('SRE', 'run:start') && may('SRE', 'runbook:write') && may('SRE', 'policy:write')).toBe(true)
  expect(may('OnCall', 'run:start') || may('OnCall', 'runbook:write')).toBe(false)
})
