import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Role } from '../api/permission.ts'
import { SoftAuthenticator } from '../directory/soft-authenticator.suite.ts'
import type { JsonObject } from '../shared/json.ts'
import { isLoopback } from './session-cookie.ts'
import { TokenBuckets } from './token-bucket.ts'
import {
  closeTrialGateways,
  openTrialGateway,
  type Sender,
  type TrialGateway,
} from './trial-gateway.suite.ts'

let trial: TrialGateway
afterAll(closeTrialGateways)
let admin: Sender

describe('signing in', () => {
  beforeEach(async () => {
    trial = await openTrialGateway()
  })

  test('a link gives a cookie that no script reads, once, and the page of a session says who one is', async () => {
    const { send, firstLinks } = trial
    const payload = { token: firstLinks[0]!.token }
    const [first, second] = await Promise.all([
      send('POST /auth/link', null, { payload }),
      send('POST /auth/link', null, { payload }),
    ])
    expect([first!.statusCode, second!.statusCode]).toEqual([200, 401])
    const cookie = String(first!.headers['set-cookie'])
    expect(cookie).toMatch(/^lockstep_session=ses_[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/)
    expect(first!.json()).toEqual({ next: '/console/' })
    expect(second!.headers['set-cookie']).toBeUndefined()
    const me = (await send('GET /me', { cookie: cookie.split(';')[0]! })).json<JsonObject>()
    expect(me).toMatchObject({
      kind: 'user',
      email: 'admin@local',
      how: 'link',
      tenant: { id: 'local' },
      tenants: [{ id: 'local' }],
      projects: [{ name: 'default' }],
      roles: [{ role: 'Admin', project: null }],
    })
    expect(me['permissions']).toContain('secret:write')
  })

  test('the cookie is for encrypted connections only, but on this machine itself', async () => {
    const { send, firstLinks } = trial
    const headers = { host: 'lockstep.example' }
    const signed = await send('POST /auth/link', null, { payload: { token: firstLinks[0]!.token }, headers })
    expect(String(signed.headers['set-cookie'])).toContain('; Secure;')
    for (const host of ['localhost', '127.0.0.1', '[::1]', '::1', 'a.localhost'])
      expect(isLoopback(host)).toBe(true)
    for (const host of ['localhost.evil.example', '128.0.0.1', '127.0.0.1.nip.io', '', 'xlocalhost'])
      expect(isLoopback(host)).toBe(false)
  })

  test.each([
    ['a link', 'POST /auth/link', { token: 'lnk_x' }],
    ['a password', 'POST /auth/password', { email: 'admin@local', password: 'x' }],
    ['a passkey', 'POST /auth/passkey', { id: 'x' }],
  ])(
    '%s that is wrong gives 401 and no cookie; from another site’s page nothing is looked at',
    async (_, to, payload) => {
      const { send } = trial
      const wrong = await send(to, null, { payload })
      expect([wrong.statusCode, wrong.json<JsonObject>()['code']]).toEqual([401, 'unauthenticated'])
      expect(wrong.headers['set-cookie']).toBeUndefined()
      const headers = { origin: 'https://evil.example' }
      expect((await send(to, null, { payload, headers })).statusCode).toBe(403)
      expect(
        (await send(to, null, { payload, headers: { 'sec-fetch-site': 'cross-site' } })).statusCode,
      ).toBe(403)
    },
  )

  test('a password is set, signs in, and is guessed at in vain', async () => {
    const { send, signIn, admin: actor } = trial
    const [one, two] = [await signIn(actor.user!), await signIn(actor.user!)]
    const short = await send('PUT /me/password', one, { payload: { password: 'too short' } })
    expect(short.statusCode).toBe(422)
    expect((await send('PUT /me/password', one, { payload: { password: 'correct horse' } })).statusCode).toBe(
      204,
    )
    expect((await send('GET /me', one)).statusCode).toBe(200)
    expect((await send('GET /me', two)).statusCode).toBe(401)
    const right = { email: 'Admin@Local', password: 'correct horse' }
    const signed = await send('POST /auth/password', null, { payload: right })
    expect([signed.statusCode, signed.headers['set-cookie'] !== undefined]).toEqual([200, true])
    const other = { payload: { ...right, tenant: 'acme' } }
    expect((await send('POST /auth/password', null, other)).statusCode).toBe(401)
    const wrong = { payload: { ...right, password: 'wrong' }, remoteAddress: '10.0.0.9' }
    for (let tried = 0; tried < 5; tried++)
      expect((await send('POST /auth/password', null, wrong)).statusCode).toBe(401)
    const waiting = await send('POST /auth/password', null, { ...wrong, payload: right })
    expect([waiting.statusCode, waiting.headers['retry-after']]).toEqual([429, '1'])
    expect((await send('POST /auth/password', null, { payload: right })).statusCode).toBe(200)
    const change = { payload: { current: 'nope', password: 'another horse' } }
    trial.clock.at += 3_600_000
    expect((await send('PUT /me/password', one, change)).statusCode).toBe(403)
  })

  test('a passkey is added, signs in at the same address, and is removed', async () => {
    const { send, signIn, admin: actor } = trial
    const one = await signIn(actor.user!)
    const phone = new SoftAuthenticator()
    const site = 'http://localhost'
    const options = (await send('POST /me/passkeys/options', one, { payload: {} })).json<JsonObject>()
    const payload = { ...phone.register(options, site), name: 'My phone' }
    const added = await send('POST /me/passkeys', one, { payload })
    expect([added.statusCode, added.json()]).toEqual([201, { id: expect.stringMatching(/^psk_/) }])
    expect((await send('GET /me/passkeys', one)).json()).toMatchObject({ items: [{ name: 'My phone' }] })
    const ask = async () =>
      (await send('POST /auth/passkey/options', null, { payload: {} })).json<JsonObject>()
    const answer = phone.signIn(await ask(), site, actor.user!)
    expect((await send('POST /auth/passkey', null, { payload: answer })).statusCode).toBe(200)
    expect((await send('POST /auth/passkey', null, { payload: answer })).statusCode).toBe(401)
    const elsewhere = phone.signIn(await ask(), 'https://evil.example', actor.user!)
    expect((await send('POST /auth/passkey', null, { payload: elsewhere })).statusCode).toBe(401)
    const { id } = added.json<{ id: string }>()
    expect((await send(`DELETE /me/passkeys/${id}`, one)).statusCode).toBe(204)
    expect((await send(`DELETE /me/passkeys/${id}`, one)).statusCode).toBe(404)
  })

  test('sessions are listed and ended; signing out takes the cookie back', async () => {
    const { send, signIn, admin: actor } = trial
    const [one, two] = [await signIn(actor.user!), await signIn(actor.user!)]
    const { items } = (await send('GET /me/sessions', one)).json<{
      items: { id: string; current: boolean }[]
    }>()
    expect(items.map(({ current }) => current)).toEqual([false, true])
    expect((await send(`DELETE /me/sessions/${items[0]!.id}`, one)).statusCode).toBe(204)
    expect((await send('GET /me', two)).statusCode).toBe(401)
    const out = await send('POST /auth/sign-out', one)
    expect([out.statusCode, out.body]).toEqual([204, ''])
    expect(String(out.headers['set-cookie'])).toMatch(/^lockstep_session=; .*Expires=Thu, 01 Jan 1970/)
    expect((await send('GET /me', one)).statusCode).toBe(401)
  })
})

describe('the door', () => {
  beforeAll(async () => {
    trial = await openTrialGateway()
    admin = await trial.signIn(trial.admin.user!)
  })

  test('O1: a credential that is wrong is refused, never taken for nobody', async () => {
    const { send, key } = trial
    const { authorization } = await key('Viewer')
    const secret = authorization!.slice('Bearer '.length)
    for (const by of [
      { authorization: 'Bearer lk_aaaaaaaa_bbbb' },
      { authorization: 'Bearer' },
      { authorization: '' },
      { authorization: `Basic ${secret}` },
      { authorization: secret },
      { 'x-api-key': 'x' },
      { 'x-api-key': '' },
      { 'x-api-key': 'x', authorization: authorization! },
      { authorization: 'Bearer x', ...admin },
      { 'x-api-key': 'x', ...admin },
      { cookie: 'lockstep_session=' },
      { cookie: 'lockstep_session=x' },
      { cookie: `lockstep_session=${secret}` },
      { authorization: `Bearer ${admin['cookie']!.split('=')[1]}` },
    ]) {
      const { statusCode, headers } = await send('GET /me', by)
      expect([by, statusCode, headers['www-authenticate']]).toEqual([by, 401, 'Bearer'])
    }
    for (const by of [
      { authorization: `bearer ${secret}` },
      { 'x-api-key': secret },
      { 'x-api-key': secret, authorization: authorization! },
    ])
      expect((await send('GET /me', by)).statusCode).toBe(200)
  })

  test('O2: with a cookie nothing is changed without the token of its session, nor from another site', async () => {
    const { send } = trial
    const cookie = admin['cookie']!
    const payload = { name: 'Ada' }
    for (const by of [
      { cookie },
      { cookie, 'x-csrf-token': '' },
      { cookie, 'x-csrf-token': 'x'.repeat(43) },
      { ...admin, origin: 'https://evil.example' },
      { ...admin, origin: 'null' },
      { ...admin, origin: 'http://localhost.evil.example' },
      { ...admin, 'sec-fetch-site': 'cross-site' },
      { ...admin, 'sec-fetch-site': 'same-site' },
    ]) {
      const { statusCode } = await send('PATCH /me', by, { payload })
      expect([by, statusCode]).toEqual([by, 403])
    }
    for (const by of [
      admin,
      { ...admin, origin: 'http://localhost' },
      { ...admin, 'sec-fetch-site': 'same-origin' },
    ])
      expect((await send('PATCH /me', by, { payload })).statusCode).toBe(200)
    expect((await send('GET /me', { cookie, origin: 'https://evil.example' })).statusCode).toBe(200)
    // A key is no ambient authority: whoever sends it knows it.
    const key = await trial.key('Admin')
    const by = { ...key, cookie, origin: 'https://evil.example' }
    expect((await send('POST /projects', by, { payload: { name: 'from-ci' } })).statusCode).toBe(201)
  })

  test('other sites count as our own only where they are named', async () => {
    const trusting = await openTrialGateway({
      origins: ['https://ops.example'],
      publicUrl: 'https://lockstep.example/',
    })
    const by = await trusting.signIn(trusting.admin.user!)
    const status = async (origin: string) =>
      (await trusting.send('PATCH /me', { ...by, origin }, { payload: { name: 'x' } })).statusCode
    expect(await status('https://ops.example')).toBe(200)
    expect(await status('https://lockstep.example')).toBe(200)
    expect(await status('https://ops.example.evil.example')).toBe(403)
    const made = await trusting.send('POST /users', by, { payload: { email: 'b@b.example', name: 'B' } })
    expect(made.json()).toMatchObject({
      link: expect.stringMatching(/^https:\/\/lockstep\.example\/console\/sign-in#token=lnk_/),
    })
  })

  test('a project that is not there, or not theirs, is not found; a tenant likewise', async () => {
    const { send, directory } = trial
    const web = await directory.projects.make(trial.admin, 'web')
    const viewer = await trial.key('Viewer', web.id)
    for (const project of ['web', web.id]) {
      expect((await send('GET /runs', { ...viewer, 'x-project': project })).statusCode).toBe(200)
      expect((await send('GET /runs', { ...admin, 'x-project': project })).statusCode).toBe(200)
    }
    for (const [by, project] of [
      [admin, 'nothing'],
      [viewer, 'default'],
      [viewer, 'nothing'],
    ] as const)
      expect((await send('GET /runs', { ...by, 'x-project': project })).statusCode).toBe(404)
    for (const by of [admin, viewer]) {
      expect((await send('GET /me', { ...by, 'x-tenant': 'acme' })).statusCode).toBe(404)
      expect((await send('GET /me', { ...by, 'x-tenant': 'local' })).statusCode).toBe(200)
    }
  })

  test('429 with Retry-After for who sends too much, after a full burst, each for themselves', async () => {
    const slow = await openTrialGateway({ rate: { perSecond: 2, burst: 5 } })
    const { send, key, clock } = slow
    const [one, two] = [await key('Viewer'), await key('Viewer')]
    const statuses = async (by: Sender | null, count: number, url = 'GET /me') => {
      const all = []
      for (let sent = 0; sent < count; sent++) all.push((await send(url, by)).statusCode)
      return all
    }
    expect(await statuses(one, 6)).toEqual([200, 200, 200, 200, 200, 429])
    const refused = await send('GET /me', one)
    expect([refused.headers['retry-after'], refused.json<JsonObject>()['code']]).toEqual([
      '1',
      'rate_limited',
    ])
    expect(await statuses(two, 1)).toEqual([200])
    clock.at += 1000
    expect(await statuses(one, 3)).toEqual([200, 200, 429])
    // O3: who guesses is slowed down by where they are, and health is not counted.
    const guess = { authorization: 'Bearer lk_aaaaaaaa_x' }
    expect(await statuses(guess, 6)).toEqual([401, 401, 401, 401, 401, 429])
    expect(await statuses(null, 1)).toEqual([429])
    expect(await statuses(null, 9, 'GET /healthz')).not.toContain(429)
    expect(await statuses(two, 1)).toEqual([200])
    const elsewhere = await send('GET /me', guess, { remoteAddress: '10.1.1.1' })
    expect(elsewhere.statusCode).toBe(401)
  })

  test('a bucket forgets who is silent, and a clock that goes back gives nothing', () => {
    let now = 0
    const buckets = new TokenBuckets({ perSecond: 1, burst: 2 }, () => now)
    for (let sender = 0; sender < 30_000; sender++) buckets.take(String(sender))
    buckets.take('last')
    buckets.take('last')
    now = -10_000
    expect(() => buckets.take('last')).toThrow(/Too many/)
    now = 1000
    buckets.take('last')
    expect(() => buckets.take('last')).toThrow(/Too many/)
  })
})

describe('administration', () => {
  beforeAll(async () => {
    trial = await openTrialGateway()
    admin = await trial.signIn(trial.admin.user!)
  })
  const code = (response: { json<T>(): T }) => response.json<{ code: string }>().code

  test('somebody is added, signs in by the link in the answer, is disabled and shut out', async () => {
    const { send } = trial
    const payload = { email: 'Grace@Acme.example', name: 'Grace', role: 'SRE' }
    const made = await send('POST /users', admin, { payload })
    expect(made.statusCode).toBe(201)
    const { user, link } = made.json<{ user: { id: string }; link: string }>()
    expect(user).toMatchObject({
      email: 'grace@acme.example',
      disabled: false,
      hasPassword: false,
      passkeys: 0,
    })
    expect(link).toMatch(/^http:\/\/localhost(?::80)?\/console\/sign-in#token=lnk_/)
    expect(code(await send('POST /users', admin, { payload }))).toBe('duplicate')
    const token = link.split('#token=')[1]
    const signed = await send('POST /auth/link', null, { payload: { token } })
    const cookie = String(signed.headers['set-cookie']).split(';')[0]!
    expect((await send('GET /me', { cookie })).json()).toMatchObject({
      roles: [{ role: 'SRE', project: null }],
    })
    const other = await send(`POST /users/${user.id}/links`, admin)
    expect(other.json()).toMatchObject({
      link: expect.stringContaining('#token=lnk_'),
      expiresAt: expect.any(String),
    })
    const disabled = await send(`PATCH /users/${user.id}`, admin, { payload: { disabled: true, name: 'G.' } })
    expect(disabled.json()).toMatchObject({ disabled: true, name: 'G.' })
    expect((await send('GET /me', { cookie })).statusCode).toBe(401)
    expect((await send(`POST /users/${user.id}/links`, admin)).statusCode).toBe(404)
    expect((await send(`PATCH /users/${user.id}`, admin, { payload: { disabled: false } })).statusCode).toBe(
      200,
    )
    const self = await send(`PATCH /users/${trial.admin.user}`, admin, { payload: { disabled: true } })
    expect([self.statusCode, code(self)]).toEqual([409, 'last_admin'])
  })

  test('a key is shown once, rotated and revoked; the record of answers keeps none', async () => {
    const { send } = trial
    const headers = { 'idempotency-key': 'k1' }
    const payload = { name: 'ci', role: 'Viewer', expiresAt: '2027-01-01T00:00:00Z' }
    const made = await send('POST /apikeys', admin, { payload, headers })
    const { key, secret } = made.json<{ key: { id: string }; secret: string }>()
    expect([made.statusCode, secret]).toEqual([201, expect.stringMatching(/^lk_/)])
    const again = await send('POST /apikeys', admin, { payload, headers })
    expect([again.statusCode, code(again), again.headers['idempotent-replayed']]).toEqual([
      409,
      'idempotency_conflict',
      'true',
    ])
    expect(again.body).not.toContain(secret.slice(4))
    const by = { 'x-api-key': secret }
    expect((await send('GET /me', by)).json()).toMatchObject({ kind: 'apikey', email: null, csrfToken: null })
    const listed = await send('GET /apikeys', admin)
    expect(listed.json()).toMatchObject({
      items: [{ id: key.id, active: true, createdBy: 'admin@local', lastUsedAt: expect.any(String) }],
    })
    expect(listed.body).not.toContain(secret.slice(12))
    const rotated = (await send(`POST /apikeys/${key.id}/rotate`, admin)).json<{ secret: string }>()
    expect((await send('GET /me', by)).statusCode).toBe(401)
    expect((await send('GET /me', { 'x-api-key': rotated.secret })).statusCode).toBe(200)
    expect((await send(`DELETE /apikeys/${key.id}`, admin)).statusCode).toBe(204)
    expect((await send('GET /me', { 'x-api-key': rotated.secret })).statusCode).toBe(401)
    expect((await send(`POST /apikeys/${key.id}/rotate`, admin)).statusCode).toBe(404)
    const past = { ...payload, expiresAt: '2001-01-01T00:00:00Z' }
    expect((await send('POST /apikeys', admin, { payload: past })).statusCode).toBe(422)
    expect((await send('POST /apikeys', admin, { payload: { ...payload, project: 'x' } })).statusCode).toBe(
      404,
    )
  })

  test('a key changes nobody’s account', async () => {
    const { send, key } = trial
    const by = await key('Admin')
    for (const [request, payload] of [
      ['PATCH /me', { name: 'x' }],
      ['PUT /me/password', { password: 'correct horse' }],
      ['GET /me/sessions', undefined],
      ['POST /me/passkeys/options', {}],
      ['DELETE /me/passkeys/psk_x', undefined],
    ] as const)
      expect([
        request,
        (await send(request, by, payload === undefined ? {} : { payload })).statusCode,
      ]).toEqual([request, 403])
    expect((await send('POST /auth/sign-out', by)).statusCode).toBe(204)
    expect((await send('GET /me', by)).statusCode).toBe(200)
  })

  test('projects and roles: made, listed in parts, taken away', async () => {
    const { send, directory } = trial
    const web = (await send('POST /projects', admin, { payload: { name: 'web' } })).json<{ id: string }>()
    expect(code(await send('POST /projects', admin, { payload: { name: ' web ' } }))).toBe('duplicate')
    expect((await send('POST /projects', admin, { payload: { name: 'a\nb' } })).statusCode).toBe(422)
    const renamed = await send(`PATCH /projects/${web.id}`, admin, { payload: { name: 'site' } })
    expect(renamed.json()).toMatchObject({ id: web.id, name: 'site' })
    const approver = directory.people.byEmail('local', 'approver@local')!
    const payload = { subject: { kind: 'user', id: approver.id }, role: 'SRE', project: 'site' }
    const bound = await send('POST /role-bindings', admin, { payload })
    expect([bound.statusCode, bound.json()]).toEqual([
      201,
      expect.objectContaining({
        role: 'SRE',
        project: web.id,
        subject: { kind: 'user', id: approver.id, name: 'approver@local' },
      }),
    ])
    expect(code(await send('POST /role-bindings', admin, { payload }))).toBe('duplicate')
    expect(code(await send(`DELETE /projects/${web.id}`, admin))).toBe('in_use')
    const items: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const url: string = `GET /role-bindings?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`
      const part = (await send(url, admin)).json<{ items: unknown[]; next: string | null }>()
      items.push(...part.items)
      cursor = part.next
    }
    expect(items).toHaveLength(directory.bindings.list('local').length)
    expect((await send('GET /role-bindings?cursor=rbd_x', admin)).statusCode).toBe(422)
    expect((await send(`DELETE /role-bindings/${bound.json<{ id: string }>().id}`, admin)).statusCode).toBe(
      204,
    )
    expect((await send(`DELETE /projects/${web.id}`, admin)).statusCode).toBe(204)
    expect((await send(`DELETE /projects/${web.id}`, admin)).statusCode).toBe(404)
  })

  test('secrets are written and never shown, and the record says who did it', async () => {
    const { send, secrets, store } = trial
    expect(
      (await send('PUT /secrets/TOKEN', admin, { payload: { value: 'hunter2-hunter2' } })).statusCode,
    ).toBe(204)
    expect(secrets.values.get('TOKEN')).toBe('hunter2-hunter2')
    const listed = await send('GET /secrets', admin)
    expect([listed.json(), listed.body.includes('hunter2')]).toEqual([{ items: [{ name: 'TOKEN' }] }, false])
    expect((await send('PUT /secrets/TOKEN', admin, { payload: { value: 'x' } })).statusCode).toBe(422)
    expect((await send('PUT /secrets/1-bad', admin, { payload: { value: 'long enough' } })).statusCode).toBe(
      422,
    )
    expect((await send('DELETE /secrets/TOKEN', admin)).statusCode).toBe(204)
    expect((await send('DELETE /secrets/TOKEN', admin)).statusCode).toBe(404)
    const acts = (await store.administered('local')).filter(({ type }) => type.startsWith('secret.'))
    expect(acts.map(({ type, principal, data }) => [type, principal, data])).toEqual([
      ['secret.set', 'admin@local', { name: 'TOKEN' }],
      ['secret.forgotten', 'admin@local', { name: 'TOKEN' }],
    ])
  })

  test('a tenant is made by the first one’s Admin, who acts in it under its name', async () => {
    const { send } = trial
    const made = await send('POST /tenants', admin, { payload: { id: 'acme', name: 'Acme' } })
    expect([made.statusCode, made.json()]).toEqual([
      201,
      expect.objectContaining({ id: 'acme', name: 'Acme' }),
    ])
    expect(code(await send('POST /tenants', admin, { payload: { id: 'acme', name: 'x' } }))).toBe('duplicate')
    for (const id of ['', 'A', '-a', 'a b', 'a/b', 'x'.repeat(64)])
      expect((await send('POST /tenants', admin, { payload: { id, name: 'x' } })).statusCode).toBe(422)
    const there = { ...admin, 'x-tenant': 'acme' }
    expect((await send('GET /me', there)).json()).toMatchObject({
      tenant: { id: 'acme' },
      tenants: [{ id: 'acme' }, { id: 'local' }],
    })
    expect((await send('GET /users', there)).json()).toMatchObject({ items: [{ email: 'admin@local' }] })
    expect((await send('GET /tenants', there)).json()).toMatchObject({
      items: [{ id: 'acme' }, { id: 'local' }],
    })
    const nested = await send('POST /tenants', there, { payload: { id: 'more', name: 'x' } })
    expect(nested.statusCode).toBe(403)
    for (const request of ['GET /secrets', 'DELETE /secrets/TOKEN'])
      expect((await send(request, there)).statusCode).toBe(403)
    // The account at home is what signs in, wherever one is.
    expect((await send('GET /me/sessions', there)).json()).toMatchObject({ items: [{ current: true }] })
    const key = (await send('POST /apikeys', there, { payload: { name: 'k', role: 'Admin' } })).json<{
      secret: string
    }>()
    const by = { 'x-api-key': key.secret }
    expect((await send('GET /tenants', by)).json()).toMatchObject({ items: [{ id: 'acme' }] })
    expect((await send(`PATCH /users/${trial.admin.user}`, by, { payload: { name: 'x' } })).statusCode).toBe(
      404,
    )
  })
})

describe('a role in one project', () => {
  let web: string
  let api: string
  let lead: Sender
  let binding: string
  beforeAll(async () => {
    trial = await openTrialGateway()
    const { directory, admin: actor, signIn, key } = trial
    web = (await directory.projects.make(actor, 'web')).id
    api = (await directory.projects.make(actor, 'api')).id
    const { user } = await directory.people.add(actor, { email: 'lead@x', name: 'Lead' })
    const subject = { kind: 'user', id: user.id } as const
    await directory.bindings.bind(actor, { subject, role: 'Admin', project: web })
    lead = await signIn(user.id)
    await key('SRE', api)
    binding = directory.bindings.list('local').find(({ project }) => project === api)!.id
  })

  test('and what else is in a project is shown alone to who names the project', async () => {
    const { send, signIn, admin: actor } = trial
    const everywhere = await signIn(actor.user!)
    const projects = async (headers: Sender) => {
      const { items } = (await send('GET /role-bindings', headers)).json<{ items: { project: string }[] }>()
      return [...new Set(items.map(({ project }) => project))]
    }
    expect(await projects({ ...everywhere, 'x-project': 'web' })).toEqual([web])
    expect(await projects({ ...everywhere, 'x-project': api })).toEqual([api])
    expect(await projects(everywhere)).toEqual([null, web, api])
    const listed = await send('GET /projects', { ...everywhere, 'x-project': 'web' })
    expect(listed.json()).toMatchObject({ items: [{ id: web }] })
  })

  test('is seen and used in that project, and nowhere else', async () => {
    const { send, directory } = trial
    const me = (await send('GET /me', lead)).json<{ permissions: string[]; projects: { name: string }[] }>()
    expect([me.permissions, me.projects.map(({ name }) => name)]).toEqual([[], ['web']])
    const inside = await send('GET /me', { ...lead, 'x-project': 'web' })
    expect(inside.json<{ permissions: string[] }>().permissions).toContain('member:write')
    expect((await send('GET /projects', lead)).json()).toMatchObject({ items: [{ id: web }] })
    const { items } = (await send('GET /role-bindings', lead)).json<{ items: { project: string }[] }>()
    expect(items.map(({ project }) => project)).toEqual([web])
    expect((await send('GET /apikeys', lead)).json()).toMatchObject({ items: [] })
    expect((await send(`DELETE /role-bindings/${binding}`, lead)).statusCode).toBe(404)
    expect((await send(`PATCH /projects/${api}`, lead, { payload: { name: 'x' } })).statusCode).toBe(404)
    const [theirs] = directory.keys.list('local')
    expect((await send(`POST /apikeys/${theirs!.id}/rotate`, lead)).statusCode).toBe(404)
  })

  test.each(['Admin', 'Viewer'] as Role[])(
    'gives %s there, and neither elsewhere nor in the whole tenant',
    async (role) => {
      const { send } = trial
      const { user } = await trial.directory.people.add(trial.admin, { email: `${role}@x`, name: 'x' })
      const subject = { kind: 'user', id: user.id }
      const status = async (project: string | null) =>
        (await send('POST /role-bindings', lead, { payload: { subject, role, project } })).statusCode
      expect([await status(web), await status(api), await status('nothing'), await status(null)]).toEqual([
        201, 404, 404, 403,
      ])
      const key = async (project: string | null) =>
        (await send('POST /apikeys', lead, { payload: { name: 'k', role, project } })).statusCode
      expect([await key('web'), await key(api), await key(null)]).toEqual([201, 404, 403])
    },
  )

  test.each([
    ['POST /projects', { name: 'x' }],
    ['POST /users', { email: 'z@z', name: 'Z', role: 'Admin' }],
    ['PATCH /users/{admin}', { disabled: true }],
    ['POST /users/{admin}/links', undefined],
    ['POST /tenants', { id: 'mine', name: 'Mine' }],
    ['GET /secrets', undefined],
    ['PUT /secrets/TOKEN', { value: 'hunter2' }],
    ['DELETE /projects/{web}', undefined],
  ])('is not enough for %s', async (request, payload) => {
    const { send } = trial
    const url = request.replace('{admin}', trial.admin.user!).replace('{web}', web)
    for (const by of [lead, { ...lead, 'x-project': 'web' }])
      expect((await send(url, by, payload === undefined ? {} : { payload })).statusCode).toBe(403)
  })
})
