import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { exportChains } from '../journal/export-chains.ts'
import { csrfToken, idleLimit, sessionLifetime } from './sessions.ts'
import { SignInBackoff } from './sign-in-backoff.ts'
import { SoftAuthenticator } from './soft-authenticator.suite.ts'
import { closeTrials, openTrial, type Trial } from './trial-directory.suite.ts'

const minute = 60_000
const hour = 60 * minute
let trial: Trial
afterAll(closeTrials)
beforeEach(async () => {
  trial = await openTrial()
})
const refused = async (act: Promise<unknown>, code: string) =>
  await expect(act).rejects.toMatchObject({ code })
const signIn = async (index = 0) => await trial.directory.links.use(trial.firstLinks[index]!.token, 'Firefox')

describe('links', () => {
  test('count once, also when two use one at the same moment, in this process or another', async () => {
    const { directory, firstLinks, reopen, admin } = trial
    const [first] = firstLinks
    const done = await Promise.allSettled(
      Array.from({ length: 3 }, () => directory.links.use(first!.token, '')),
    )
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect((await trial.store.credentials('link')).map(({ id }) => id)).toEqual([firstLinks[1]!.id])
    const other = (await reopen()).directory
    const { token } = await directory.links.make(admin, admin.user!)
    const both = await Promise.allSettled([directory.links.use(token, ''), other.links.use(token, '')])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (const each of [...done, ...both])
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'unauthenticated' })
  })

  test('count for a day at the first start, and for 15 minutes later', async () => {
    const { directory, firstLinks, clock, admin } = trial
    clock.at += 24 * hour - 1
    await directory.links.use(firstLinks[0]!.token, '')
    const [soon, late] = [
      await directory.links.make(admin, admin.user!),
      await directory.links.make(admin, admin.user!),
    ]
    clock.at += 1
    await refused(directory.links.use(firstLinks[1]!.token, ''), 'unauthenticated')
    clock.at += 15 * minute - 2
    await directory.links.use(soon.token, '')
    clock.at += 1
    await refused(directory.links.use(late.token, ''), 'unauthenticated')
  })

  test.each(['', 'x', 'lnk_aaaaaaaaaaaaaaaa.', `lnk_${'a'.repeat(16)}.${'b'.repeat(43)}`, '../lnk'])(
    'are refused when they are none: %s',
    async (token) => await refused(trial.directory.links.use(token, ''), 'unauthenticated'),
  )

  test('are refused with another secret, and stay good', async () => {
    const { directory, firstLinks } = trial
    const { token } = firstLinks[0]!
    const last = token.endsWith('A') ? 'B' : 'A'
    await refused(directory.links.use(token.slice(0, -1) + last, ''), 'unauthenticated')
    await refused(directory.links.use(`${firstLinks[1]!.id}.${token.split('.')[1]}`, ''), 'unauthenticated')
    await directory.links.use(token, '')
  })

  test('are made for people who are there and not disabled, and end when they are disabled', async () => {
    const { directory, admin } = trial
    await refused(directory.links.make(admin, 'usr_x'), 'not_found')
    const { user, link } = await directory.people.add(admin, { email: 'b@b', name: 'B' })
    await directory.people.disable(admin, user.id)
    await refused(directory.links.make(admin, user.id), 'not_found')
    await directory.people.enable(admin, user.id)
    await refused(directory.links.use(link.token, ''), 'unauthenticated')
  })

  test('of a command beside the running process count at once', async () => {
    const { directory, admin, reopen } = trial
    const command = (await reopen()).directory
    const { token } = await command.links.make(admin, admin.user!)
    expect((await directory.links.use(token, '')).user).toBe(admin.user)
  })
})

describe('sessions', () => {
  test('say who somebody is, with the roles of this moment', async () => {
    const { directory, admin } = trial
    const { token, session } = await signIn()
    expect(directory.principalOfSession(token)).toMatchObject({
      tenant: 'local',
      subject: { kind: 'user', id: admin.user, name: 'Admin' },
      person: 'admin@local',
      actor: 'admin@local',
      roles: [{ role: 'Admin', project: null }],
      how: 'link',
      session,
    })
    const subject = { kind: 'user', id: admin.user! } as const
    await directory.bindings.bind(admin, { subject, role: 'OnCall', project: null })
    expect(directory.principalOfSession(token)!.roles.map(({ role }) => role)).toEqual(['Admin', 'OnCall'])
    expect(csrfToken(token)).not.toBe(csrfToken(`${token}x`))
    expect(token).not.toContain(csrfToken(token))
  })

  test('end after twelve hours of silence, and after seven days in any case, also over a restart', async () => {
    const { directory, clock, reopen } = trial
    const { token } = await signIn()
    clock.at += idleLimit - 1
    expect(directory.principalOfSession(token)).not.toBeNull()
    clock.at += idleLimit - 1
    expect(directory.principalOfSession(token)).not.toBeNull()
    await directory.refresh()
    const again = (await reopen()).directory
    clock.at += idleLimit - 1
    expect(again.principalOfSession(token)).not.toBeNull()
    expect(directory.principalOfSession(token)).not.toBeNull()
    const begun = directory.sessions.list('local', trial.admin.user!)[0]!.since
    while (clock.at + hour < begun + sessionLifetime) {
      clock.at += hour
      expect(directory.principalOfSession(token)).not.toBeNull()
    }
    clock.at = begun + sessionLifetime
    expect(directory.principalOfSession(token)).toBeNull()
    const second = (await trial.directory.links.use(trial.firstLinks[1]!.token, '').catch(() => null))?.token
    expect(second).toBeUndefined()
  })

  test('that nobody used for twelve hours are over', async () => {
    const { directory, clock, reopen } = trial
    const { token } = await signIn()
    clock.at += idleLimit
    expect(directory.principalOfSession(token)).toBeNull()
    expect(directory.sessions.list('local', trial.admin.user!)).toEqual([])
    expect((await reopen()).directory.principalOfSession(token)).toBeNull()
  })

  test('and links count as long as it is set', async () => {
    const set = await openTrial({ idleMs: hour, linkMs: 2 * minute })
    const { directory, clock, admin } = set
    const { token } = await directory.links.use((await directory.links.make(admin, admin.user!)).token, '')
    const { link } = await directory.people.add(admin, { email: 'b@b', name: 'B' })
    clock.at += 2 * minute
    await refused(directory.links.use(link.token, ''), 'unauthenticated')
    clock.at += 57 * minute
    expect(directory.principalOfSession(token)).not.toBeNull()
    clock.at += hour
    expect(directory.principalOfSession(token)).toBeNull()
  })

  test('are listed and ended by their owner alone', async () => {
    const { directory, admin } = trial
    const [mine, theirs] = [await signIn(0), await signIn(1)]
    expect(directory.sessions.list('local', admin.user!)).toMatchObject([
      { id: mine.session, agent: 'Firefox' },
    ])
    await refused(directory.sessions.end(admin, admin.user!, theirs.session), 'not_found')
    await refused(directory.sessions.end(admin, admin.user!, 'ses_x'), 'not_found')
    await directory.sessions.end(admin, admin.user!, mine.session)
    expect(directory.principalOfSession(mine.token)).toBeNull()
    expect(directory.principalOfSession(theirs.token)).not.toBeNull()
  })

  test('D3: end at once when somebody is disabled, and do not come back', async () => {
    const { directory, admin, reopen } = trial
    const { token, user } = await signIn(1)
    expect(directory.principalOfSession(token)).not.toBeNull()
    await directory.people.disable(admin, user)
    expect(directory.principalOfSession(token)).toBeNull()
    await directory.people.enable(admin, user)
    expect(directory.sessions.list('local', user)).toEqual([])
    expect(directory.principalOfSession(token)).toBeNull()
    expect((await reopen()).directory.principalOfSession(token)).toBeNull()
  })

  test('reach other tenants by an account there, while that and the one at home are not disabled', async () => {
    const { directory, admin } = trial
    const { token } = await signIn()
    await directory.tenants.make(admin, { id: 'acme', name: 'Acme' })
    const there = directory.principalOfSession(token, 'acme')!
    expect(there).toMatchObject({ tenant: 'acme', actor: 'admin@local', roles: [{ role: 'Admin' }] })
    expect(directory.principalOfSession(token, 'nowhere')).toBeNull()
    const guest = await signIn(1)
    expect(directory.principalOfSession(guest.token, 'acme')).toBeNull()
    const actor = { tenant: 'acme', principal: 'x', user: there.user }
    await directory.people.add(actor, { email: 'c@c', name: 'C', role: 'Admin' })
    await directory.people.disable(actor, there.user!)
    expect(directory.principalOfSession(token, 'acme')).toBeNull()
    expect(directory.principalOfSession(token)).not.toBeNull()
  })

  test.each(['', 'x', `ses_${'a'.repeat(16)}.${'b'.repeat(43)}`, `${'x'.repeat(10_000)}`])(
    'are none for what is none',
    (token) => expect(trial.directory.principalOfSession(token)).toBeNull(),
  )

  test('what a browser calls itself is shown as one line', async () => {
    const { directory, firstLinks, admin } = trial
    await directory.links.use(firstLinks[0]!.token, `a\nb\u0000${'c'.repeat(300)}`)
    expect(directory.sessions.list('local', admin.user!)[0]!.agent).toBe(`a b ${'c'.repeat(196)}`)
  })
})

describe('keys', () => {
  const wanted = { name: 'ci', role: 'SRE', project: null, expiresAt: null } as const

  test('D2: are shown once, stand for themselves, and are in no record', async () => {
    const { directory, admin, store, reopen } = trial
    const { key, secret } = await directory.keys.make(admin, wanted)
    expect(secret).toMatch(/^lk_[a-z2-7]{8}_[\w-]{43}$/)
    for (const each of [directory, (await reopen()).directory])
      expect(each.principalOfKey(secret)).toMatchObject({
        tenant: 'local',
        subject: { kind: 'apikey', id: key.id, name: 'ci' },
        person: 'admin@local',
        actor: `apikey:${key.id}`,
        roles: [{ role: 'SRE', project: null }],
        how: 'apikey',
        session: null,
      })
    expect(directory.keys.lastUsed(key.id)).toBe(trial.clock.at)
    const lines = (await exportChains(store, [], { tenants: ['local'] })).join('\n')
    expect(lines).toContain(key.prefix)
    expect(lines).not.toContain(secret.slice(12))
    expect(JSON.stringify(await store.credentials('apikey'))).not.toContain(secret.slice(12))
  })

  test('end when they are rotated, revoked or too old', async () => {
    const { directory, admin, clock } = trial
    const first = await directory.keys.make(admin, { ...wanted, expiresAt: clock.at + hour })
    const second = await directory.keys.rotate(admin, first.key.id)
    expect(directory.principalOfKey(first.secret)).toBeNull()
    expect(directory.principalOfKey(second.secret)?.subject.id).toBe(first.key.id)
    clock.at += hour
    expect(directory.principalOfKey(second.secret)).toBeNull()
    await refused(directory.keys.make(admin, { ...wanted, expiresAt: clock.at }), 'invalid_request')
    await refused(directory.keys.make(admin, { ...wanted, expiresAt: Number.NaN }), 'invalid_request')
    await refused(directory.keys.make(admin, { ...wanted, project: 'prj_x' }), 'not_found')
    const third = await directory.keys.make(admin, wanted)
    await directory.keys.revoke(admin, third.key.id)
    expect(directory.principalOfKey(third.secret)).toBeNull()
    expect(directory.bindings.list('local').some(({ subject }) => subject.id === third.key.id)).toBe(false)
    await refused(directory.keys.revoke(admin, third.key.id), 'not_found')
    await refused(directory.keys.rotate(admin, third.key.id), 'not_found')
    const subject = { kind: 'apikey', id: third.key.id } as const
    await refused(directory.bindings.bind(admin, { subject, role: 'Admin', project: null }), 'not_found')
  })

  test('of two who rotate one at once, one secret counts', async () => {
    const { directory, admin } = trial
    const { key } = await directory.keys.make(admin, wanted)
    const [one, two] = await Promise.all([
      directory.keys.rotate(admin, key.id),
      directory.keys.rotate(admin, key.id),
    ])
    expect([one, two].map(({ secret }) => directory.principalOfKey(secret) !== null)).toEqual([false, true])
  })

  test('D3: count no longer than who made them, until somebody else takes them over', async () => {
    const { directory, admin } = trial
    const { user } = await directory.people.add(admin, { email: 'b@b', name: 'B', role: 'Admin' })
    const theirs = { tenant: 'local', principal: 'b@b', user: user.id }
    const { key, secret } = await directory.keys.make(theirs, wanted)
    await directory.people.disable(admin, user.id)
    expect(directory.principalOfKey(secret)).toBeNull()
    expect(directory.keys.isActive('local', key)).toBe(false)
    const rotated = await directory.keys.rotate(admin, key.id)
    expect(directory.principalOfKey(rotated.secret)).toMatchObject({ person: 'admin@local' })
  })

  test.each([
    ['nothing', () => ''],
    ['another secret', (secret: string) => secret.slice(0, -2) + (secret.endsWith('AA') ? 'BB' : 'AA')],
    ['another prefix', (secret: string) => secret.replace(/^lk_.{8}/, 'lk_aaaaaaaa')],
    ['more', (secret: string) => `${secret}x`],
    ['a hash', () => `lk_${'a'.repeat(64)}`],
  ])('%s is no key', async (_, change) => {
    const { directory, admin } = trial
    const { secret } = await directory.keys.make(admin, wanted)
    expect(directory.principalOfKey(change(secret))).toBeNull()
  })
})

describe('passwords', () => {
  const attempt = (password: string, more = {}) => ({
    tenant: 'local',
    email: 'admin@local',
    password,
    address: '10.0.0.1',
    agent: '',
    ...more,
  })
  const set = async (password: string, current?: string, session: string | null = null) =>
    await trial.directory.passwords.set(trial.admin, trial.admin.user!, {
      current,
      password,
      session,
      address: 'x',
    })

  test('sign in after they were set; setting one ends other sessions and links, and takes the one before', async () => {
    const { directory, firstLinks, admin, store } = trial
    await refused(directory.passwords.signIn(attempt('correct horse')), 'unauthenticated')
    const other = await signIn()
    const link = await directory.links.make(admin, admin.user!)
    const mine = await directory.links.use(link.token, '')
    const unused = await directory.links.make(admin, admin.user!)
    await set('correct horse', undefined, mine.session)
    expect(directory.principalOfSession(other.token)).toBeNull()
    expect(directory.principalOfSession(mine.token)).not.toBeNull()
    await refused(directory.links.use(unused.token, ''), 'unauthenticated')
    expect(directory.people.find('local', admin.user!)!.hasPassword).toBe(true)
    const { token } = await directory.passwords.signIn(attempt('correct horse', { email: 'ADMIN@local' }))
    expect(directory.principalOfSession(token)).toMatchObject({ how: 'password' })
    await refused(set('another one 12', 'wrong'), 'forbidden')
    await refused(set('another one 12'), 'forbidden')
    await set('another one 12', 'correct horse')
    await refused(directory.passwords.signIn(attempt('correct horse')), 'unauthenticated')
    // Who has just come in by a link need not know the one before; a while later they must.
    const again = await directory.links.use((await directory.links.make(admin, admin.user!)).token, '')
    await set('third password', undefined, again.session)
    trial.clock.at += 15 * minute
    await refused(set('fourth password', undefined, again.session), 'forbidden')
    expect(JSON.stringify(await exportChains(store, [], { tenants: ['local'] }))).not.toContain('scrypt')
    expect(firstLinks).toHaveLength(2)
  })

  test('of nobody, of who is disabled and of another tenant are refused alike', async () => {
    const { directory, admin } = trial
    await set('correct horse')
    const answers = await Promise.allSettled([
      directory.passwords.signIn(attempt('correct horse', { email: 'nobody@local' })),
      directory.passwords.signIn(attempt('correct horse', { tenant: 'acme' })),
      directory.passwords.signIn(attempt('correct house')),
      directory.passwords.signIn(attempt('', { email: 'approver@local' })),
    ])
    const reasons = answers.map((each) => (each.status === 'rejected' ? String(each.reason) : 'in'))
    expect(new Set(reasons).size).toBe(1)
    const { user } = await directory.people.add(admin, { email: 'b@b', name: 'B', role: 'Admin' })
    await directory.people.disable({ ...admin, user: user.id }, admin.user!)
    await refused(directory.passwords.signIn(attempt('correct horse')), 'unauthenticated')
  })

  test('that are guessed at wait longer and longer, also when many guess at once; others do not', async () => {
    const { directory, clock } = trial
    await set('correct horse')
    const guesses = await Promise.allSettled(
      Array.from({ length: 8 }, () => directory.passwords.signIn(attempt('wrong'))),
    )
    const codes = guesses.map((each) =>
      each.status === 'rejected' ? (each.reason as { code: string }).code : 'in',
    )
    expect(codes).toEqual([
      ...Array<string>(5).fill('unauthenticated'),
      ...Array<string>(3).fill('rate_limited'),
    ])
    await expect(directory.passwords.signIn(attempt('correct horse'))).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 1000,
    })
    await directory.passwords.signIn(attempt('correct horse', { address: '10.0.0.2' }))
    clock.at += 1000
    await refused(directory.passwords.signIn(attempt('wrong')), 'unauthenticated')
    await expect(directory.passwords.signIn(attempt('wrong'))).rejects.toMatchObject({ retryAfterMs: 2000 })
    clock.at += 2000
    await directory.passwords.signIn(attempt('correct horse'))
    await refused(directory.passwords.signIn(attempt('wrong')), 'unauthenticated')
  })
})

test('many who sign in rightly from one address do not make each other wait, and who guesses there does', () => {
  let now = 0
  const backoff = new SignInBackoff(() => now)
  const attempt = (account: string, right: boolean) => {
    backoff.check(account, 'office')
    backoff.failed(account, 'office')
    if (right) backoff.succeeded(account, 'office')
  }
  for (let person = 0; person < 200; person++) attempt(`p${person}`, true)
  for (let guess = 0; guess < 30; guess++) attempt(`victim${guess}`, false)
  expect(() => attempt('another', true)).toThrow(/too many/)
  now += 1000
  attempt('another', true)
  now += 1000
  attempt('victim', false)
  now += 1000
  expect(() => attempt('another', true)).toThrow(/too many/)
  now += 3_600_001
  attempt('another', true)
})

test('an account that is guessed at from everywhere waits seconds, not minutes', () => {
  let now = 0
  const backoff = new SignInBackoff(() => now)
  for (let guess = 0; guess < 200; guess++) backoff.failed('victim', `address ${guess}`)
  expect(() => backoff.check('victim', 'home')).toThrow(/too many/)
  now += 30_000
  backoff.check('victim', 'home')
  backoff.check('somebody else', 'home')
})

describe('passkeys', () => {
  const origin = 'https://lockstep.example'
  const site = { origin }

  async function withPasskey() {
    const { directory, admin } = trial
    const phone = new SoftAuthenticator()
    const options = await directory.passkeys.beginAdding('local', admin.user!, site)
    const passkey = await directory.passkeys.add(
      admin,
      admin.user!,
      phone.register(options, origin),
      'Phone',
      site,
    )
    return { phone, passkey }
  }

  test('sign in whom they were made for, and no answer counts twice', async () => {
    const { directory, admin, reopen, store } = trial
    const { phone, passkey } = await withPasskey()
    expect(directory.passkeys.list('local', admin.user!)).toMatchObject([{ id: passkey.id, name: 'Phone' }])
    const answer = phone.signIn(await directory.passkeys.beginSignIn(site), origin, admin.user!)
    const { token } = await directory.passkeys.signIn(answer, 'Safari', site)
    expect(directory.principalOfSession(token)).toMatchObject({ how: 'passkey', actor: 'admin@local' })
    await refused(directory.passkeys.signIn(answer, '', site), 'unauthenticated')
    // What was counted stays counted after a restart.
    const again = (await reopen()).directory
    const next = phone.signIn(await again.passkeys.beginSignIn(site), origin, admin.user!)
    await again.passkeys.signIn(next, '', site)
    expect((await store.credentials('passkey'))[0]!.body['counter']).toBe(2)
    await directory.refresh()
    await directory.passkeys.remove(admin, admin.user!, passkey.id)
    const late = phone.signIn(await directory.passkeys.beginSignIn(site), origin, admin.user!)
    await refused(directory.passkeys.signIn(late, '', site), 'unauthenticated')
  })

  test('are bound to the site, to the challenge and to who asked', async () => {
    const { directory, admin, clock } = trial
    const { phone } = await withPasskey()
    const options = await directory.passkeys.beginSignIn(site)
    for (const wrong of [
      phone.signIn(options, 'https://evil.example', admin.user!),
      phone.signIn({ challenge: 'AAAA' }, origin, admin.user!),
      new SoftAuthenticator().signIn(options, origin, admin.user!),
      { ...phone.signIn(options, origin, admin.user!), response: {} },
      { id: 7 },
      {},
    ])
      await refused(directory.passkeys.signIn(wrong as never, '', site), 'unauthenticated')
    const late = phone.signIn(await directory.passkeys.beginSignIn(site), origin, admin.user!)
    clock.at += 5 * minute
    await refused(directory.passkeys.signIn(late, '', site), 'unauthenticated')
    const other = directory.people.byEmail('local', 'approver@local')!
    const mine = await directory.passkeys.beginAdding('local', admin.user!, site)
    const made = new SoftAuthenticator().register(mine, origin)
    await refused(directory.passkeys.add(admin, other.id, made, 'x', site), 'invalid_request')
    await refused(directory.passkeys.add(admin, admin.user!, {}, 'x', site), 'invalid_request')
    const again = await directory.passkeys.beginAdding('local', admin.user!, site)
    await refused(
      directory.passkeys.add(admin, admin.user!, phone.register(again, origin), 'x', site),
      'duplicate',
    )
    await refused(
      directory.passkeys.remove(admin, other.id, directory.passkeys.list('local', admin.user!)[0]!.id),
      'not_found',
    )
    await refused(directory.passkeys.beginAdding('local', 'usr_x', site), 'not_found')
  })

  test('that count nothing sign in again and again, each time with another answer', async () => {
    const { directory, admin } = trial
    const tablet = new SoftAuthenticator({ counts: false })
    const options = await directory.passkeys.beginAdding('local', admin.user!, site)
    const made = tablet.register(options, origin)
    await directory.passkeys.add(admin, admin.user!, made, 'Tablet', site)
    await refused(directory.passkeys.add(admin, admin.user!, made, 'Tablet', site), 'invalid_request')
    for (let time = 0; time < 2; time++) {
      const answer = tablet.signIn(await directory.passkeys.beginSignIn(site), origin, admin.user!)
      await directory.passkeys.signIn(answer, '', site)
      await refused(directory.passkeys.signIn(answer, '', site), 'unauthenticated')
    }
  })

  test.each(['http://127.0.0.1:8000', 'http://[::1]:8000', 'https://10.0.0.7'])(
    'are bound to names, so that at %s one is told where to go',
    async (address) => {
      const { directory, admin } = trial
      const begun = directory.passkeys.beginAdding('local', admin.user!, { origin: address })
      await expect(begun).rejects.toMatchObject({
        code: 'not_available',
        hint: expect.stringContaining('localhost'),
      })
      await refused(directory.passkeys.beginSignIn({ origin: address }), 'not_available')
    },
  )

  test('of somebody who is disabled sign nobody in', async () => {
    const { directory, admin } = trial
    const { phone } = await withPasskey()
    await directory.people.add(admin, { email: 'b@b', name: 'B', role: 'Admin' })
    await directory.people.disable(admin, admin.user!)
    const answer = phone.signIn(await directory.passkeys.beginSignIn(site), origin, admin.user!)
    await refused(directory.passkeys.signIn(answer, '', site), 'unauthenticated')
  })
})
