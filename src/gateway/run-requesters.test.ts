import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Role } from '../api/permission.ts'
import { systemActor, type Actor } from '../directory/principal.ts'
import { runRequesters } from '../platform/run-requesters.ts'
import { publishSamples } from '../platform/samples.ts'
import type { JsonObject } from '../shared/json.ts'
import { signBody } from '../webhook/signature.ts'
import {
  makePlatformHome,
  openTrialServer,
  until,
  type PlatformHome,
  type TrialServer,
} from './platform-home.suite.ts'

const rollback = { runbook: 'rollback-release', mode: 'execute' }
const inputs = { node: 'node-7', service: 'web' }

let home: PlatformHome
let server: TrialServer
beforeEach(async () => {
  home = makePlatformHome()
  server = await openTrialServer(home)
  await publishSamples(server.platform)
})
afterEach(() => home.remove())

async function aPerson(email: string): Promise<Actor> {
  const { people } = server.platform.directory
  const { user } = await people.add(systemActor('local'), { email, name: email })
  return { tenant: 'local', principal: email, user: user.id }
}

/** A key of a person, and the header that sends it. */
async function aKey(owner: Actor, role: Role) {
  const wanted = { name: role, role, project: null, expiresAt: null }
  const { key, secret } = await server.platform.directory.keys.make(owner, wanted)
  return { id: key.id, headers: { 'x-api-key': secret } }
}
type Headers = Awaited<ReturnType<typeof aKey>>['headers']

async function heldCall(run: string): Promise<string> {
  return await until(async () => {
    const { body } = await server.send(`GET /approvals?run=${run}`, 'Viewer')
    return body.items[0]?.id
  })
}

async function approve(approval: string, headers: Headers): Promise<readonly unknown[]> {
  const { status, body } = await server.send(`POST /approvals/${approval}/approve`, null, {}, headers)
  return [status, body.detail ?? body.state]
}

const refused = [403, 'This does not count: whoever asks cannot approve']

/** What the record says, and what whoever checks it says to that. */
async function verified(run: string) {
  await until(async () => (await server.send(`GET /runs/${run}`, 'Viewer')).body.status === 'succeeded')
  return (await server.send(`GET /runs/${run}/verify`, 'Viewer')).body
}

async function tell({ hook, secret }: { hook: { id: string }; secret: string }): Promise<string> {
  const raw = JSON.stringify(inputs)
  const headers = {
    'content-type': 'application/json',
    'lockstep-signature': signBody(raw, secret, Date.now()),
  }
  const { body } = await server.send(`POST /hooks/${hook.id}`, null, raw, headers)
  return body.runs[0]
}

const hook = {
  name: 'alerts',
  kind: 'generic',
  ...rollback,
  inputs: { node: 'body.node', service: 'body.service' },
}

describe('whoever asked for a run cannot approve its calls', () => {
  it('also after the hook that they made is no more, or the key that they made it with is another’s', async () => {
    const [ann, eve] = [await aPerson('ann@example.org'), await aPerson('eve@example.org')]
    const [admin, voter] = [await aKey(ann, 'Admin'), await aKey(ann, 'OnCall')]
    const made = (await server.send('POST /hooks', null, hook, admin.headers)).body
    const { keys } = server.platform.directory
    // Ann has the hook's secret still, whoever has the key by which it was made.
    await keys.rotate(eve, admin.id)
    const run = await tell(made)
    const approval = await heldCall(run)
    expect(await approve(approval, voter.headers)).toEqual(refused)
    expect((await server.send(`DELETE /hooks/${made.hook.id}`, 'Admin')).status).toBe(204)
    expect(await approve(approval, voter.headers)).toEqual(refused)
    const shown = await server.send(`GET /approvals/${approval}`, null, undefined, voter.headers)
    expect(shown.body).toMatchObject({ mayDecide: false, whyNot: 'whoever asks cannot approve' })
    expect(shown.body.requesters).toEqual(expect.arrayContaining(['ann@example.org', `hook:${made.hook.id}`]))
    expect(shown.body.requesters).not.toContain('eve@example.org')
    expect(await approve(approval, (await aKey(eve, 'OnCall')).headers)).toEqual([200, 'granted'])
    expect(await verified(run)).toMatchObject({ verdict: 'consistent', problems: [] })
  })

  it('also after the key by which they began it has changed hands, and over a restart', async () => {
    const [ann, eve] = [await aPerson('ann@example.org'), await aPerson('eve@example.org')]
    const [own, voter, other] = [await aKey(ann, 'SRE'), await aKey(ann, 'OnCall'), await aKey(eve, 'OnCall')]
    const { body } = await server.send('POST /runs', null, { ...rollback, inputs }, own.headers)
    const approval = await heldCall(body.id)
    expect(await approve(approval, voter.headers)).toEqual(refused)
    await server.platform.directory.keys.rotate(eve, own.id)
    expect(await approve(approval, voter.headers)).toEqual(refused)
    await server.platform.directory.keys.revoke(eve, own.id)
    await server.app.close()
    await server.platform.close({ graceMs: 1000 })
    server = await openTrialServer(home)
    await server.platform.recover()
    expect(await approve(approval, voter.headers)).toEqual(refused)
    const shown = await server.send(`GET /approvals/${approval}`, null, undefined, voter.headers)
    expect(shown.body.requesters.toSorted()).toEqual(['ann@example.org', `apikey:${own.id}`])
    // Who had the key only afterwards asked for nothing.
    expect(await approve(approval, other.headers)).toEqual([200, 'granted'])
    expect(await verified(body.id)).toMatchObject({ verdict: 'consistent', problems: [] })
    const prompted = (await server.platform.store.read(body.id)).find(({ type }) => type === 'agent.prompted')
    expect(prompted!.data['origin']).toMatchObject({ requesters: [`apikey:${own.id}`, 'ann@example.org'] })
  })

  it('also by a record from before it was written down who they are: then everybody counts who may have been', async () => {
    const [ann, eve] = [await aPerson('ann@example.org'), await aPerson('eve@example.org')]
    const [own, admin] = [await aKey(ann, 'SRE'), await aKey(ann, 'Admin')]
    const made = (await server.send('POST /hooks', null, hook, admin.headers)).body
    const { body } = await server.send('POST /runs', null, { ...rollback, inputs }, own.headers)
    const byHook = await tell(made)
    const { store, directory } = server.platform
    await directory.keys.rotate(eve, own.id)
    await directory.keys.rotate(eve, admin.id)
    await server.send(`DELETE /hooks/${made.hook.id}`, 'Admin')
    const older = async (run: string) => {
      await heldCall(run)
      const entries = (await store.read(run)).map((entry) => {
        if (entry.type !== 'agent.prompted') return entry
        const { requesters: _, ...origin } = entry.data['origin'] as JsonObject
        return { ...entry, data: { ...entry.data, origin } }
      })
      return runRequesters(server.platform, 'local', entries)
    }
    expect(await older(body.id)).toEqual([`apikey:${own.id}`, 'ann@example.org', 'eve@example.org'])
    expect(await older(byHook)).toEqual([`hook:${made.hook.id}`, `apikey:${admin.id}`, 'ann@example.org'])
  })
})
