import { hash } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { exportChains } from '../journal/export-chains.ts'
import { verifyExport } from '../proof/verify-export.ts'
import type { Role } from '../api/permission.ts'
import type { Actor } from './principal.ts'
import { closeTrials, openTrial, type Trial } from './trial-directory.suite.ts'

let trial: Trial
afterAll(closeTrials)
beforeEach(async () => {
  trial = await openTrial()
})
const refused = async (act: Promise<unknown>, code: string) =>
  await expect(act).rejects.toMatchObject({ name: expect.stringContaining('Error'), code })
const facts = async () => (await trial.store.administered('local')).map(({ type }) => type)

describe('the first start', () => {
  test('makes a tenant, a project, an Admin and an approver, and two links that are nowhere else', async () => {
    const { directory, firstLinks, store } = trial
    expect(directory.people.list('local').map(({ email }) => email)).toEqual([
      'admin@local',
      'approver@local',
    ])
    expect(directory.projects.list('local').map(({ name }) => name)).toEqual(['default'])
    const roles = directory.people.list('local').map(({ id }) => directory.rolesOf('local', id))
    expect(roles).toMatchObject([[{ role: 'Admin', project: null }], [{ role: 'OnCall', project: null }]])
    expect(firstLinks.map(({ email }) => email)).toEqual(['admin@local', 'approver@local'])
    const lines = (await exportChains(store, [], { tenants: ['local'] })).join('\n')
    expect(lines).toContain('admin@local')
    for (const { token } of firstLinks) expect(lines).not.toContain(token.split('.')[1])
  })

  test('gives other links while nobody has signed in, and none once an Admin can', async () => {
    const { firstLinks, reopen } = trial
    const second = await reopen()
    expect(second.firstLinks).toHaveLength(2)
    await refused(second.directory.links.use(firstLinks[0]!.token, ''), 'unauthenticated')
    await second.directory.links.use(second.firstLinks[0]!.token, '')
    const third = await reopen()
    expect(third.firstLinks).toEqual([])
    trial.clock.at += 8 * 24 * 3_600_000
    expect((await reopen()).firstLinks.map(({ email }) => email)).toEqual(['admin@local', 'approver@local'])
  })
})

describe('projects', () => {
  test('have names of their own, by which and by ids they are found', async () => {
    const { directory, admin } = trial
    const web = await directory.projects.make(admin, 'web')
    expect(directory.projects.find('local', 'web')).toEqual(web)
    expect(directory.projects.find('local', web.id)).toEqual(web)
    expect(directory.projects.find('local', 'nothing')).toBeNull()
    await refused(directory.projects.make(admin, 'web'), 'duplicate')
    await refused(directory.projects.make(admin, web.id), 'duplicate')
    await refused(directory.projects.rename(admin, web.id, 'default'), 'duplicate')
    expect(await directory.projects.rename(admin, web.id, 'site')).toMatchObject({ id: web.id, name: 'site' })
    await refused(directory.projects.rename(admin, 'prj_x', 'y'), 'not_found')
  })

  test('are removed only when they are empty, and never the default one', async () => {
    const { directory, admin } = trial
    const { id } = await directory.projects.make(admin, 'web')
    const wanted = { name: 'a', text: 'x', note: null, format: 'yaml' } as const
    const book = await directory.runbooks.publish(admin, id, wanted)
    await refused(directory.projects.remove(admin, id), 'in_use')
    await directory.runbooks.remove(admin, book.id, null)
    await refused(directory.projects.remove(admin, id, ['runs']), 'in_use')
    const subject = { kind: 'user', id: admin.user! } as const
    const role = await directory.bindings.bind(admin, { subject, role: 'SRE', project: id })
    await refused(directory.projects.remove(admin, id), 'in_use')
    await directory.bindings.unbind(admin, role.id)
    await directory.projects.remove(admin, id)
    await refused(directory.projects.remove(admin, id), 'not_found')
    const { id: first } = directory.projects.default('local')
    await refused(directory.projects.remove(admin, first), 'in_use')
    await refused(directory.projects.rename(admin, first, 'other'), 'in_use')
  })

  test('of two who make one of the same name at once, one does', async () => {
    const { directory, admin, reopen } = trial
    const other = (await reopen()).directory
    const made = await Promise.allSettled([
      directory.projects.make(admin, 'web'),
      directory.projects.make(admin, 'web'),
      other.projects.make(admin, 'web'),
      other.projects.make(admin, 'api'),
    ])
    expect(made.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
    for (const each of made)
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'duplicate' })
    await directory.refresh()
    expect(directory.projects.list('local').map(({ name }) => name)).toEqual(
      (await reopen()).directory.projects.list('local').map(({ name }) => name),
    )
  })
})

describe('people and roles', () => {
  test('an address is one person, whatever its case', async () => {
    const { directory, admin } = trial
    const { user } = await directory.people.add(admin, {
      email: 'Ada@Acme.example',
      name: 'Ada',
      role: 'SRE',
    })
    expect(directory.people.byEmail('local', 'ADA@acme.example')).toEqual(user)
    await refused(directory.people.add(admin, { email: 'ada@ACME.example', name: 'x' }), 'duplicate')
    expect(directory.rolesOf('local', user.id)).toMatchObject([{ role: 'SRE', project: null }])
    expect(await directory.people.rename(admin, user.id, 'Ada L.')).toMatchObject({ name: 'Ada L.' })
    await refused(directory.people.rename(admin, 'usr_x', 'y'), 'not_found')
  })

  test('a role is given once, to who is there, in a project that is there', async () => {
    const { directory, admin } = trial
    const subject = { kind: 'user', id: admin.user! } as const
    const bound = await directory.bindings.bind(admin, { subject, role: 'SRE', project: null })
    await refused(directory.bindings.bind(admin, { subject, role: 'SRE', project: null }), 'duplicate')
    await refused(directory.bindings.bind(admin, { subject, role: 'SRE', project: 'prj_x' }), 'not_found')
    for (const kind of ['user', 'apikey'] as const) {
      const nobody = { subject: { kind, id: 'x' }, role: 'SRE' as Role, project: null }
      await refused(directory.bindings.bind(admin, nobody), 'not_found')
    }
    await directory.bindings.unbind(admin, bound.id)
    await refused(directory.bindings.unbind(admin, bound.id), 'not_found')
    expect(directory.rolesOf('local', admin.user!)).toHaveLength(1)
  })

  test('the last Admin stays, however it is tried', async () => {
    const { directory, admin } = trial
    const own = directory.bindings.list('local').find(({ role }) => role === 'Admin')!
    await refused(directory.bindings.unbind(admin, own.id), 'last_admin')
    await refused(directory.people.disable(admin, admin.user!), 'last_admin')
    const { user } = await directory.people.add(admin, { email: 'b@b', name: 'B', role: 'Admin' })
    await directory.people.disable(admin, user.id)
    await refused(directory.people.disable(admin, admin.user!), 'last_admin')
    await directory.people.enable(admin, user.id)
    await directory.people.disable(admin, admin.user!)
    expect(directory.people.find('local', admin.user!)!.disabled).toBe(true)
  })

  test('of two Admins who take each other’s role away at once, one stays', async () => {
    const { directory, admin } = trial
    await directory.people.add(admin, { email: 'b@b', name: 'B', role: 'Admin' })
    const both = directory.bindings.list('local').filter(({ role }) => role === 'Admin')
    const done = await Promise.allSettled(both.map(({ id }) => directory.bindings.unbind(admin, id)))
    expect(done.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  })
})

describe('tenants', () => {
  test('who makes one is its Admin, by the account at home alone', async () => {
    const { directory, admin } = trial
    const acme = await directory.tenants.make(admin, { id: 'acme', name: 'Acme' })
    const [user] = [...acme.users.values()]
    expect(user).toMatchObject({ email: 'admin@local', home: { tenant: 'local', user: admin.user } })
    expect(directory.rolesOf('acme', user!.id)).toMatchObject([{ role: 'Admin' }])
    expect(directory.tenants.of('local', admin.user!).map(({ state }) => state.id)).toEqual(['acme', 'local'])
    // The other way there is nothing: who gets in there does not get in here.
    expect(directory.tenants.of('acme', user!.id).map(({ state }) => state.id)).toEqual(['acme'])
    await refused(directory.tenants.make(admin, { id: 'acme', name: 'x' }), 'duplicate')
    await refused(directory.tenants.make(admin, { id: 'local', name: 'x' }), 'duplicate')
  })

  test('a tenant that has runs already belongs to somebody', async () => {
    const { directory, admin, store } = trial
    const theirs = { tenant: 'theirs', principal: 'eve', expectedSeq: 0 }
    await store.append('r1', [{ type: 'a', at: 1, data: {} }], theirs)
    await refused(directory.tenants.make(admin, { id: 'theirs', name: 'x' }), 'duplicate')
    expect(directory.tenants.find('theirs')).toBeNull()
  })

  test('a name, an address and a playbook of one tenant are free in another', async () => {
    const { directory, admin } = trial
    await directory.tenants.make(admin, { id: 'acme', name: 'Acme' })
    const there: Actor = { tenant: 'acme', principal: 'admin@local', user: null }
    const wanted = { name: 'a', text: 'x', note: null, format: 'yaml' } as const
    await directory.people.add(admin, { email: 'b@b', name: 'B' })
    await directory.people.add(there, { email: 'b@b', name: 'B' })
    const here = await directory.runbooks.publish(admin, directory.projects.default('local').id, wanted)
    await directory.runbooks.publish(there, directory.projects.default('acme').id, wanted)
    expect(directory.runbooks.find('acme', here.id)).toBeNull()
    await refused(directory.runbooks.remove(there, here.id, null), 'not_found')
    await refused(directory.people.disable(there, admin.user!), 'not_found')
  })
})

describe('published texts', () => {
  const text = (name: string, more = {}) => ({
    name,
    text: `# ${name}`,
    note: null,
    format: 'yaml' as const,
    ...more,
  })

  test('have versions from 1 on, each with its text, and say nothing new twice', async () => {
    const { directory, admin } = trial
    const { id: project } = directory.projects.default('local')
    const first = await directory.runbooks.publish(admin, project, text('a', { note: 'begun' }))
    expect(first).toMatchObject({
      name: 'a',
      project,
      archived: false,
      versions: [{ version: 1, note: 'begun' }],
    })
    const second = await directory.runbooks.revise(admin, first.id, 1, text('b', { format: 'markdown' }))
    expect(second.versions).toHaveLength(2)
    expect(await directory.runbooks.text(second, 1)).toBe('# a')
    expect(await directory.runbooks.text(second, 2)).toBe('# b')
    await refused(directory.runbooks.text(second, 3), 'not_found')
    const same = await directory.runbooks.revise(
      admin,
      first.id,
      2,
      text('b', { format: 'markdown', note: 'x' }),
    )
    expect(same.versions).toHaveLength(2)
    expect(directory.runbooks.byName('local', project, 'b')?.id).toBe(first.id)
    expect(directory.runbooks.byName('local', project, 'a')).toBeNull()
  })

  test('of two who write the next version at once one does, and the other is told', async () => {
    const { directory, admin, reopen } = trial
    const { id: project } = directory.projects.default('local')
    const { id } = await directory.runbooks.publish(admin, project, text('a'))
    const other = (await reopen()).directory
    const done = await Promise.allSettled([
      directory.runbooks.revise(admin, id, 1, text('a', { text: 'x' })),
      other.runbooks.revise(admin, id, 1, text('a', { text: 'y' })),
    ])
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(done.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'version_conflict' },
    })
    await refused(directory.runbooks.remove(admin, id, 1), 'version_conflict')
  })

  test('have a name of their own in their project until they are deleted; what was deleted stays readable', async () => {
    const { directory, admin } = trial
    const { id: project } = directory.projects.default('local')
    const web = await directory.projects.make(admin, 'web')
    const one = await directory.runbooks.publish(admin, project, text('a'))
    await refused(directory.runbooks.publish(admin, project, text('a')), 'duplicate')
    await directory.runbooks.publish(admin, web.id, text('a'))
    const two = await directory.runbooks.publish(admin, project, text('b'))
    await refused(directory.runbooks.revise(admin, two.id, 1, text('a')), 'duplicate')
    await refused(directory.runbooks.publish(admin, 'prj_x', text('c')), 'not_found')
    await directory.runbooks.remove(admin, one.id, 1)
    expect(directory.runbooks.find('local', one.id)).toBeNull()
    const gone = directory.runbooks.find('local', one.id, { deleted: true })!
    expect(await directory.runbooks.text(gone, 1)).toBe('# a')
    for (const act of [
      () => directory.runbooks.remove(admin, one.id, null),
      () => directory.runbooks.revise(admin, one.id, null, text('z')),
      () => directory.runbooks.archive(admin, one.id, true),
    ])
      await refused(act(), 'not_found')
    await directory.runbooks.publish(admin, project, text('a'))
    expect(directory.runbooks.list('local').map(({ name }) => name)).toEqual(['a', 'b', 'a'])
  })

  test('playbooks are put away and taken out; policies say what they apply to', async () => {
    const { directory, admin } = trial
    const { id: project } = directory.projects.default('local')
    const book = await directory.runbooks.publish(admin, project, text('a'))
    expect(await directory.runbooks.archive(admin, book.id, true)).toMatchObject({ archived: true })
    expect(await directory.runbooks.revise(admin, book.id, 1, text('a', { text: 'y' }))).toMatchObject({
      archived: true,
    })
    expect(await directory.runbooks.archive(admin, book.id, false)).toMatchObject({ archived: false })
    const wanted = { name: 'a', text: 'p', note: null, appliesTo: 'runbook', runbook: book.id } as const
    const policy = await directory.policies.publish(admin, project, wanted)
    expect(policy).toMatchObject({ kind: 'policy', appliesTo: 'runbook', runbook: book.id })
    const wider = await directory.policies.revise(admin, policy.id, 1, {
      ...wanted,
      appliesTo: 'tenant',
      runbook: null,
    })
    expect(wider).toMatchObject({ appliesTo: 'tenant', versions: [{}, {}] })
    await directory.policies.remove(admin, policy.id, 2)
    expect(directory.policies.list('local')).toEqual([])
  })
})

describe('webhooks', () => {
  const hook = {
    name: 'page',
    kind: 'generic',
    runbook: 'rb_1',
    mode: 'dry-run',
    inputs: { host: 'body.host' },
    when: null,
    active: true,
  } as const
  const webhook = {
    name: 'chat',
    url: 'https://chat.example',
    events: ['run.finished'],
    template: 'slack' as const,
    active: true,
  }

  test('keep their secrets out of the record, and end with them', async () => {
    const { directory, admin, store, reopen } = trial
    const out = await directory.webhooks.make(admin, webhook)
    const incoming = await directory.hooks.make(admin, hook)
    for (const again of [directory, (await reopen()).directory]) {
      expect(again.webhooks.secret(out.webhook.id)).toBe(out.secret)
      expect(again.hooks.secret(incoming.hook.id)).toBe(incoming.secret)
      expect(again.hooks.find(incoming.hook.id)).toEqual({ tenant: 'local', hook: incoming.hook })
    }
    expect(out.webhook).toMatchObject({ createdBy: 'admin@local', ...webhook })
    const lines = (await exportChains(store, [], { tenants: ['local'] })).join('\n')
    expect(lines).toContain('https://chat.example')
    for (const { secret } of [out, incoming]) expect(lines).not.toContain(secret)
    const changed = await directory.webhooks.change(admin, out.webhook.id, { active: false, name: undefined })
    expect(changed).toEqual({ ...out.webhook, active: false })
    await refused(directory.webhooks.change(admin, 'wh_x', {}), 'not_found')
    await directory.webhooks.remove(admin, out.webhook.id)
    await directory.hooks.remove(admin, incoming.hook.id)
    expect(directory.webhooks.secret(out.webhook.id)).toBeNull()
    expect(directory.hooks.find(incoming.hook.id)).toBeNull()
    await refused(directory.webhooks.remove(admin, out.webhook.id), 'not_found')
    await refused(directory.hooks.remove(admin, incoming.hook.id), 'not_found')
  })
})

describe('the record', () => {
  test('D1: every act is in the tenant’s chain, by who did it, and a refused one is not', async () => {
    const { directory, admin, store } = trial
    const before = await facts()
    await directory.projects.make(admin, 'web')
    await directory.projects.make(admin, 'web').catch(() => undefined)
    await directory.noteSecret(admin, 'secret.set', 'TOKEN')
    expect((await facts()).slice(before.length)).toEqual(['project.made', 'secret.set'])
    expect((await store.administered('local')).at(-1)).toMatchObject({
      principal: 'admin@local',
      data: { name: 'TOKEN' },
    })
  })

  test('is proven like every other', async () => {
    const { directory, admin, store, firstLinks } = trial
    await directory.links.use(firstLinks[0]!.token, 'x')
    await directory.keys.make(admin, { name: 'k', role: 'SRE', project: null, expiresAt: null })
    const lines = await exportChains(store, [], { tenants: ['local'] })
    const verdict = verifyExport(lines, {
      publicKeys: store.publicKeys(),
      hash: (text) => `sha256:${hash('sha256', text)}`,
      verifySignature: () => false,
    })
    expect(verdict).toMatchObject({ verdict: 'consistent', findings: [] })
  })

  test('an entry that says what nobody knows is not guessed at', async () => {
    const { store, reopen } = trial
    const by = { tenant: 'local', principal: 'x' }
    await store.administer([{ type: 'something.else', at: 1, data: {} }], by)
    await reopen()
    await store.administer([{ type: 'user.disabled', at: 1, data: { id: 'usr_1', reason: 'new here' } }], by)
    await refused(reopen(), 'journal_unreadable')
  })

  test('what cannot be written is refused, and the next act goes on', async () => {
    const { directory, admin } = trial
    await refused(directory.projects.make(admin, 'x'.repeat(201)), 'internal')
    await directory.projects.make(admin, 'web')
    expect(directory.projects.list('local')).toHaveLength(2)
  })
})
