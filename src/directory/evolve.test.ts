import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { roles } from '../api/permission.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { ActLog } from './act-log.ts'
import type { Directory } from './directory.ts'
import type { Actor } from './principal.ts'
import { closeTrials, openTrial } from './trial-directory.suite.ts'

/** What is known of a directory while acts are tried on it: the ids and tokens that came out of them. */
interface Known {
  readonly directory: Directory
  readonly actor: Actor
  readonly users: string[]
  readonly projects: string[]
  readonly keys: string[]
  readonly bindings: string[]
  readonly texts: string[]
  readonly hooks: string[]
  readonly tokens: string[]
  readonly sessions: { readonly session: string; readonly user: string }[]
}

afterAll(closeTrials)
const pick = (from: readonly string[], number: number) => from[number % Math.max(1, from.length)] ?? 'nothing'
const names = ['a', 'b', 'c']

/** Acts by their names; whatever they are tried on may be there or not. */
const acts: Readonly<Record<string, (known: Known, n: number, m: number) => Promise<unknown>>> = {
  addUser: async ({ directory, actor, users, tokens }, n, m) => {
    const email = `${pick(names, n)}@x`
    const { user, link } = await directory.people.add(actor, { email, name: 'x', role: roles[m % 4] })
    users.push(user.id)
    tokens.push(link.token)
  },
  renameUser: ({ directory, actor, users }, n, m) =>
    directory.people.rename(actor, pick(users, n), pick(names, m)),
  disableUser: ({ directory, actor, users }, n) => directory.people.disable(actor, pick(users, n)),
  enableUser: ({ directory, actor, users }, n) => directory.people.enable(actor, pick(users, n)),
  makeProject: async ({ directory, actor, projects }, n) =>
    projects.push((await directory.projects.make(actor, pick(names, n))).id),
  renameProject: ({ directory, actor, projects }, n, m) =>
    directory.projects.rename(actor, pick(projects, n), pick(names, m)),
  removeProject: ({ directory, actor, projects }, n) => directory.projects.remove(actor, pick(projects, n)),
  bind: async ({ directory, actor, users, keys, projects, bindings }, n, m) => {
    const kind = n % 2 === 0 ? 'user' : 'apikey'
    const subject = { kind, id: pick(kind === 'user' ? users : keys, n) } as const
    const project = m % 3 === 0 ? null : pick(projects, m)
    bindings.push((await directory.bindings.bind(actor, { subject, role: roles[m % 4]!, project })).id)
  },
  unbind: ({ directory, actor, bindings }, n) => directory.bindings.unbind(actor, pick(bindings, n)),
  makeKey: async ({ directory, actor, keys, projects }, n, m) => {
    const project = n % 2 === 0 ? null : pick(projects, n)
    const made = await directory.keys.make(actor, {
      name: 'k',
      role: roles[m % 4]!,
      project,
      expiresAt: null,
    })
    keys.push(made.key.id)
  },
  rotateKey: ({ directory, actor, keys }, n) => directory.keys.rotate(actor, pick(keys, n)),
  revokeKey: ({ directory, actor, keys }, n) => directory.keys.revoke(actor, pick(keys, n)),
  makeLink: async ({ directory, actor, users, tokens }, n) =>
    tokens.push((await directory.links.make(actor, pick(users, n))).token),
  useLink: async ({ directory, tokens, sessions }, n) =>
    sessions.push(await directory.links.use(pick(tokens, n), 'test')),
  endSession: ({ directory, actor, sessions }, n) => {
    const { user, session } = sessions[n % Math.max(1, sessions.length)] ?? {
      user: 'nobody',
      session: 'none',
    }
    return directory.sessions.end(actor, user, session)
  },
  setPassword: ({ directory, actor, users }, n, m) =>
    directory.passwords.set(actor, pick(users, n), { password: 'x', session: null, address: String(m) }),
  publish: async ({ directory, actor, projects, texts }, n, m) => {
    const wanted = { name: pick(names, m), text: String(m), note: null, format: 'yaml' } as const
    texts.push((await directory.runbooks.publish(actor, pick(projects, n), wanted)).id)
  },
  revise: ({ directory, actor, texts }, n, m) =>
    directory.runbooks.revise(actor, pick(texts, n), m % 3 === 0 ? null : m % 4, {
      name: pick(names, m),
      text: String(m % 5),
      note: 'n',
      format: 'markdown',
    }),
  archive: ({ directory, actor, texts }, n, m) =>
    directory.runbooks.archive(actor, pick(texts, n), m % 2 === 0),
  deleteText: ({ directory, actor, texts }, n) => directory.runbooks.remove(actor, pick(texts, n), null),
  makeWebhook: async ({ directory, actor, hooks }) => {
    const wanted = {
      name: 'w',
      url: 'http://x',
      events: ['run.finished'],
      template: 'json',
      active: true,
    } as const
    hooks.push((await directory.webhooks.make(actor, { ...wanted, events: [...wanted.events] })).webhook.id)
  },
  changeWebhook: ({ directory, actor, hooks }, n, m) =>
    directory.webhooks.change(actor, pick(hooks, n), { active: m % 2 === 0 }),
  removeWebhook: ({ directory, actor, hooks }, n) => directory.webhooks.remove(actor, pick(hooks, n)),
}

/** Every act once, as it succeeds: the property says nothing of one that is always refused. */
const prologue: readonly (readonly [string, number, number])[] = [
  ['addUser', 0, 0],
  ['useLink', 0, 0],
  ['endSession', 0, 0],
  ['makeLink', 1, 0],
  ['useLink', 1, 0],
  ['renameUser', 1, 1],
  ['makeProject', 0, 0],
  ['renameProject', 1, 1],
  ['makeKey', 1, 1],
  ['bind', 1, 3],
  ['rotateKey', 0, 0],
  ['publish', 0, 0],
  ['revise', 0, 0],
  ['archive', 0, 0],
  ['makeWebhook', 0, 0],
  ['changeWebhook', 0, 1],
  ['setPassword', 1, 0],
  ['disableUser', 1, 0],
  ['enableUser', 1, 0],
  ['unbind', 0, 0],
  ['revokeKey', 0, 0],
  ['deleteText', 0, 0],
  ['removeWebhook', 0, 0],
  ['removeProject', 1, 0],
]

const refusals = new Set([
  'not_found',
  'duplicate',
  'last_admin',
  'in_use',
  'version_conflict',
  'unauthenticated',
  'forbidden',
])

test('the prologue holds every act', () => {
  expect([...new Set(prologue.map(([name]) => name))].sort()).toEqual(Object.keys(acts).sort())
})

test('whatever is done, folding the chain again gives the same state, and the same credentials', async () => {
  const number = fc.nat(11)
  const act = fc.record({
    name: fc.constantFrom(...Object.keys(acts)),
    n: number,
    m: number,
    wait: fc.nat(4),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (list) => {
      const trial = await openTrial()
      const { store, clock, admin } = trial
      const log = await ActLog.open(store, clock.now)
      const { directory } = await trial.reopen()
      const known: Known = {
        directory,
        actor: admin,
        users: [admin.user!],
        projects: [directory.projects.default('local').id],
        keys: [],
        bindings: [],
        texts: [],
        hooks: [],
        tokens: [],
        sessions: [],
      }
      for (const [name, n, m] of prologue) await acts[name]!(known, n, m)
      // Two at a time, so that they meet.
      for (let index = 0; index < list.length; index += 2) {
        const both = list.slice(index, index + 2).map(async ({ name, n, m }) => {
          await acts[name]!(known, n, m)
        })
        for (const result of await Promise.allSettled(both)) {
          if (result.status === 'fulfilled') continue
          if (!LockstepError.isInstance(result.reason) || !refusals.has(result.reason.code))
            throw result.reason
        }
        clock.at += list[index]!.wait * 300_000
      }
      // The one that was there from before the acts learns of them; the other one reads them from the beginning.
      await log.refresh('local')
      const again = await ActLog.open(store, clock.now)
      expect(log.state('local')).toEqual(again.state('local'))
      const held = (each: ActLog) => Array.from(each.credentials(), ({ id }) => id).sort()
      expect(held(log)).toEqual(held(again))
      const { directory: third } = await trial.reopen()
      expect(third.people.list('local')).toEqual(directory.people.list('local'))
      expect(third.bindings.list('local')).toEqual(directory.bindings.list('local'))
    }),
    { numRuns: 12 },
  )
}, 60_000)
