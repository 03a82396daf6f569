import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contract, type RouteName } from '../../src/api/contract.ts'
import { permissionsOfRole, roles, type Permission, type Role } from '../../src/api/permission.ts'
import type { RouteShape } from '../../src/api/route.ts'
import { systemActor } from '../../src/directory/principal.ts'
import { makePlatformHome, openTrialServer, type TrialServer } from '../../src/gateway/platform-home.suite.ts'
import { rows } from './authorisation-rows.ts'
import { makeThings, type Things } from './authorisation-things.ts'

const routes = Object.entries(contract) as [RouteName, RouteShape][]
const home = makePlatformHome()
let server: TrialServer
let things: Things
/** Keys of strangers: the Admin of another tenant, and the Admin of another project. */
let elsewhere: string
let nextDoor: string
const keys = new Map<Role, string>()

beforeAll(async () => {
  server = await openTrialServer(home)
  things = await makeThings(server)
  await server.platform.directory.tenants.make(systemActor('local'), { id: 'acme', name: 'Acme' })
  for (const role of roles) keys.set(role, await things.key('local', role, null))
  elsewhere = await things.key('acme', 'Admin', null)
  nextDoor = await things.key('local', 'Admin', things.api)
}, 120_000)
afterAll(() => home.remove())

interface Answered {
  readonly status: number
  readonly text: string
  /** What the question itself named. */
  readonly sent: string
  /** Refused for want of a permission, as the door and the handlers say it. */
  readonly notPermitted: boolean
}

async function ask(name: RouteName, headers: Readonly<Record<string, string>>): Promise<Answered> {
  const { method, path } = contract[name] as RouteShape
  const { id, query, body, headers: more } = rows[name]
  const param = (await id?.(things)) ?? 'x'
  const url = path.replace('{version}', '1').replace(/\{\w+\}/, encodeURIComponent(param))
  const payload = body?.(things)
  const { statusCode, body: text } = await server.app.inject({
    method,
    url: query === undefined ? url : `${url}?${query}`,
    headers: { ...more, ...headers },
    ...(payload === undefined ? {} : { payload: payload as object }),
  })
  if (statusCode >= 500) throw new Error(`${name} answered ${statusCode}: ${text.slice(0, 500)}`)
  const sent = `${url} ${JSON.stringify(payload)}`
  return {
    status: statusCode,
    text,
    sent,
    notPermitted: statusCode === 403 && text.includes('do not permit'),
  }
}

const by = (key: string) => ({ 'x-api-key': key })

test('every route has a row, and a row where its things are', () => {
  expect(Object.keys(rows).sort()).toEqual(routes.map(([name]) => name).sort())
  for (const [name, { access, path }] of routes) {
    const { place, id } = rows[name]
    expect([name, place === 'open']).toEqual([name, access === 'public' || access === 'signature'])
    expect([name, id !== undefined]).toEqual([name, path.includes('{')])
    if (place === 'own') expect([name, access]).toEqual([name, 'signed_in'])
  }
})

describe.each(routes)('%s', (name, { access }) => {
  const { place } = rows[name]
  const isOpen = place === 'open'

  test('is closed to nobody in particular and to who says something wrong, unless it is open', async () => {
    const senders = [
      {},
      by('lk_aaaaaaaa_wrong'),
      by(`lk_aaaaaaaa_${'b'.repeat(43)}`),
      { authorization: 'Bearer x' },
      { cookie: 'lockstep_session=x' },
    ]
    for (const headers of senders) {
      const { status } = await ask(name, headers)
      const asksWho = name.startsWith('signInBy') || access === 'signature'
      if (!isOpen) expect([headers, status]).toEqual([headers, 401])
      // Wrong proof of who one is, as a part of the question.
      else
        expect([headers, asksWho ? [400, 401, 422].includes(status) : status === 200]).toEqual([
          headers,
          true,
        ])
    }
  })

  if (isOpen) return

  test.each(roles)('is for %s what the table says', async (role) => {
    const { status, notPermitted, text } = await ask(name, by(keys.get(role)!))
    if (place === 'own') {
      expect([status, text.includes('A key has no account')]).toEqual([403, true])
      return
    }
    const may = access === 'signed_in' || permissionsOfRole[role].includes(access as Permission)
    expect(notPermitted).toBe(!may)
    if (may) expect([401, 404]).not.toContain(status)
  })

  test('shows and does nothing to who is Admin of another tenant', async () => {
    const answered = await ask(name, by(elsewhere))
    if (place === 'thing' || place === 'member') expect(answered.status).toBe(404)
    expectNothingOf(things, answered)
  })

  test('shows and does nothing to who is Admin of another project, beyond what is the tenant’s', async () => {
    const answered = await ask(name, by(nextDoor))
    const { status, notPermitted } = answered
    if (place === 'thing') expect(status).toBe(404)
    if (place === 'tenant') expect([status, notPermitted]).toEqual([403, true])
    if (place === 'member') expect([403, 404]).toContain(status)
    if (place === 'new') expect([403, 404]).toContain(status)
    if (place === 'list' || place === 'known') expect(status).toBeLessThan(300)
    // The people of a tenant know of each other.
    expectNothingOf(things, answered, name === 'listUsers' ? ['user'] : [])
    const named = await ask(name, { ...by(nextDoor), 'x-project': 'web' })
    expect(named.status).toBe(404)
  })

  test('does not know a project that there is not, nor a tenant', async () => {
    const admin = by(keys.get('Admin')!)
    expect((await ask(name, { ...admin, 'x-project': 'nothing' })).status).toBe(404)
    expect((await ask(name, { ...admin, 'x-tenant': 'acme' })).status).toBe(404)
  })
})

/** No answer to a stranger holds a name or id of what is not theirs. */
function expectNothingOf(hidden: Things, { text, sent }: Answered, but: readonly string[] = []): void {
  for (const [what, value] of Object.entries(hidden)) {
    if (typeof value !== 'string' || what === 'api' || but.includes(what) || sent.includes(value)) continue
    expect([what, text.includes(value)]).toEqual([what, false])
  }
  expect(text).not.toMatch(/secret-(?:book|policy|key|rollback)|hunter2/)
}
