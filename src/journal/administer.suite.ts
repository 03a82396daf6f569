import { afterEach, expect, test } from 'vitest'
import { tenantChain } from './chain.ts'
import type { ChainStore } from './chain-store.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string, data = {}) => ({ type, at: 1000, data })

/** What every store keeps of administrative acts. `open` opens the same store each time, after the one before was closed. */
export function describeAdministering(open: () => ChainStore): void {
  let store: ChainStore
  const reopen = async () => {
    await store?.close()
    store = open()
  }
  afterEach(async () => await store.close())
  const acts = async (tenant: string, after?: number) =>
    (await store.administered(tenant, after)).map(({ seq, type, data }) => [seq, type, data])

  test('finds what was done to a tenant between the openings and closings of its runs', async () => {
    await reopen()
    await store.administer([fact('user.added', { id: 'u1' })], by)
    await Promise.all([
      store.append('r1', [fact('a')], { ...by, expectedSeq: 0 }),
      store.administer([fact('user.added', { id: 'u2' }), fact('user.added', { id: 'u3' })], by),
      store.append('r2', [fact('a')], { ...by, expectedSeq: 0 }),
      store.administer([fact('key.made')], { ...by, principal: 'eve' }),
      store.administer([fact('user.added', { id: 'theirs' })], { ...by, tenant: 'other' }),
    ])
    await store.halt(by, { at: 5, reason: 'x' })
    const expected = [
      [1, 'user.added', { id: 'u1' }],
      [3, 'user.added', { id: 'u2' }],
      [4, 'user.added', { id: 'u3' }],
      [6, 'key.made', {}],
      [7, 'tenant.halted', { reason: 'x' }],
    ]
    expect(await acts('acme')).toEqual(expected)
    expect(await acts('acme', 4)).toEqual(expected.slice(3))
    expect(await acts('other')).toEqual([[1, 'user.added', { id: 'theirs' }]])
    expect(await acts('nobody')).toEqual([])
    const [, , , key] = await store.administered('acme')
    expect(key).toMatchObject({ run: tenantChain('acme'), tenant: 'acme', principal: 'eve', at: 1000 })
    await reopen()
    expect(await acts('acme')).toEqual(expected)
  })

  test('keeps and forgets credentials together with the fact, and shows them in no chain', async () => {
    await reopen()
    const key = { id: 'key_1', kind: 'apikey', body: { hash: 'abc' } }
    await store.administer([fact('key.made')], by, { keep: [key, { id: 'p', kind: 'password', body: {} }] })
    expect(await store.credentials('apikey')).toEqual([{ ...key, tenant: 'acme' }])
    await store.administer([], by, { keep: [{ ...key, body: { hash: 'def' } }] })
    await reopen()
    expect(await store.credentials('apikey')).toEqual([{ ...key, tenant: 'acme', body: { hash: 'def' } }])
    expect(JSON.stringify(await store.sealed(tenantChain('acme')))).not.toMatch(/abc|def/)
    expect(await store.administered('acme')).toHaveLength(1)
    // Another tenant can neither take over nor end it.
    const other = { tenant: 'other', principal: 'eve' }
    const taken = store.administer([fact('key.made')], other, { keep: [key] })
    await expect(taken).rejects.toMatchObject({ code: 'invalid_value' })
    expect(await store.administered('other')).toEqual([])
    await store.administer([], other, { forget: ['key_1'] })
    expect(await store.credentials('apikey')).toHaveLength(1)
    await store.administer([fact('key.ended')], by, { forget: ['key_1', 'nothing'] })
    expect(await store.credentials('apikey')).toEqual([])
    expect(await store.credentials('password')).toHaveLength(1)
  })

  test('of two writers that know the same last act one writes, and runs in between are no matter', async () => {
    await reopen()
    await store.administer([fact('a.b')], by, { after: 0 })
    await store.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    const keep = [{ id: 'c', kind: 'k', body: {} }]
    const both = await Promise.allSettled([
      store.administer([fact('first.one')], by, { after: 1 }),
      store.administer([fact('second.one')], by, { after: 1, keep }),
    ])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(both[1]).toMatchObject({ reason: { code: 'journal_conflict' } })
    expect(await store.credentials('k')).toEqual([])
    const late = store.administer([fact('third.one')], by, { after: 1 })
    await expect(late).rejects.toMatchObject({ code: 'journal_conflict' })
    await store.administer([fact('third.one')], by, { after: 3 })
    expect((await acts('acme')).map(([, type]) => type)).toEqual(['a.b', 'first.one', 'third.one'])
  })

  test.each([
    ['a tenant', [], { tenant: '\ud800', principal: 'ada' }, {}],
    ['a principal', [], { tenant: 'acme', principal: 7 as unknown as string }, {}],
    ['a fact', [fact('a.b', { no: 1n })], by, {}],
    ['a credential', [], by, { keep: [{ id: 'c', kind: 'k', body: { no: 1n as unknown as string } }] }],
    ['the id of a credential', [], by, { keep: [{ id: '', kind: 'k', body: {} }] }],
  ])('refuses %s that cannot be written down, and writes nothing', async (_, facts, author, options) => {
    await reopen()
    const append = store.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    const refused = store.administer([fact('fine.so_far'), ...facts], author, options)
    await expect(refused).rejects.toMatchObject({ code: 'invalid_value' })
    await append
    expect(await acts('acme')).toEqual([])
  })

  test('writes nothing once it is closed', async () => {
    await reopen()
    await store.close()
    await expect(store.administer([], by)).rejects.toMatchObject({ code: 'journal_closed' })
  })
}
