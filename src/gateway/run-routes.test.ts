import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemActor } from '../directory/principal.ts'
import { publishSamples } from '../platform/samples.ts'
import { makePlatformHome, openTrialServer, until, type TrialServer } from './platform-home.suite.ts'

const home = makePlatformHome()
let server: TrialServer
let sample: string
beforeAll(async () => {
  server = await openTrialServer(home)
  sample = await publishSamples(server.platform)
})
afterAll(() => home.remove())

const inputs = (node: string) => ({ node, service: 'web' })

async function begin(runbook: string, more: object = {}): Promise<string> {
  const answer = await server.send('POST /runs', 'SRE', { runbook, mode: 'execute', ...more })
  expect([answer.status, answer.body.code]).toEqual([201, undefined])
  return answer.body.id
}

async function standing(run: string, wanted: string) {
  return await until(async () => {
    const { body } = await server.send(`GET /runs/${run}`, 'Viewer')
    return body.status === wanted && body
  })
}

function nested(depth: number): object {
  return depth === 0 ? {} : { a: nested(depth - 1) }
}

/** The entries that a stream of a run that has ended holds. */
async function streamed(run: string, query = '', headers: Record<string, string> = {}) {
  const { text } = await server.send(`GET /runs/${run}/events${query}`, 'Viewer', undefined, headers)
  const events = text.split('\n\n').filter((each) => each !== '')
  return {
    ends: events.at(-1)?.startsWith('event: end') === true,
    seqs: events.flatMap((each) => /^id: (\d+)$/m.exec(each)?.[1] ?? []).map(Number),
  }
}

describe('runs over HTTP', () => {
  it('are started, wait, are approved by one of two who come at once, end, and are read again', async () => {
    const { send } = server
    const run = await begin('rollback-release', { inputs: inputs('node-3') })
    const page = await standing(run, 'waiting')
    expect(page).toMatchObject({
      runbook: { name: 'rollback-release', version: 1 },
      inputs: inputs('node-3'),
      waiting: 1,
      waitsFor: [{ kind: 'approval' }],
      steps: [{ id: 'look', status: 'completed' }, { status: 'completed' }, { id: 'rollback' }, {}],
    })
    const { items } = (await send(`GET /approvals?run=${run}`, 'OnCall')).body
    expect(items).toMatchObject([{ run, tool: 'practice.rollback', state: 'waiting' }])
    const at = `/approvals/${items[0].id}`
    const whole = (await send(`GET ${at}`, 'OnCall')).body
    expect(whole).toMatchObject({ mayDecide: true, whyNot: null, args: { service: 'web' }, byModel: false })
    expect(whole.missing[0]).toContain('1 more with role OnCall')
    expect(whole.before.join('\n')).toContain('practice.cordon_node')
    expect((await send(`GET ${at}`, 'SRE')).body).toMatchObject({ mayDecide: false })
    // Whoever may read and not decide; whoever asked for the run; then two at once.
    expect((await send(`POST ${at}/approve`, 'SRE', {})).status).toBe(403)
    const asked = await send(`POST ${at}/deny`, 'OnCall', {})
    expect([asked.status, asked.body.code]).toEqual([422, 'invalid_request'])
    const votes = await Promise.all([
      send(`POST ${at}/approve`, 'OnCall', { reason: 'go' }),
      send(`POST ${at}/approve`, 'Admin', {}),
    ])
    const done = await standing(run, 'succeeded')
    // One was enough; the other is told that it is decided, and neither breaks anything. Saying it again changes nothing.
    expect(votes.map(({ status }) => status).toSorted()[0]).toBe(200)
    for (const { status } of votes) expect([200, 409]).toContain(status)
    const winner = votes[0]!.status === 200 ? 'OnCall' : 'Admin'
    expect((await send(`POST ${at}/approve`, winner, {})).status).toBe(200)
    const late = await send(`POST ${at}/deny`, 'OnCall', { reason: 'no' })
    expect([late.status, late.body.code]).toEqual([409, 'not_available'])
    expect(done.callList.find((call: { tool: string }) => call.tool === 'practice.rollback')).toMatchObject({
      state: 'succeeded',
      approval: items[0].id,
    })
    expect(done.approvals[0].votes).toHaveLength(1)
    const again = await send(`GET /runs/${run}`, 'Viewer')
    expect(again.body).toEqual(done)
    expect((await send(`GET /runs/${run}/verify`, 'Viewer')).body).toMatchObject({
      verdict: 'consistent',
      problems: [],
    })
    const { seqs, ends } = await streamed(run)
    expect([ends, seqs]).toEqual([true, Array.from({ length: done.seq }, (_, index) => index + 1)])
    expect((await streamed(run, '?after=3')).seqs[0]).toBe(4)
    expect((await streamed(run, '', { 'last-event-id': String(done.seq) })).seqs).toEqual([])
    const lines = await send(`GET /runs/${run}/export`, 'Viewer')
    expect(lines.text.split('\n').length).toBeGreaterThan(done.seq)
    expect((await send(`GET /runs/${run}/export?whole=true`, 'SRE')).status).toBe(403)
    expect((await send(`GET /runs/${run}/export?whole=true`, 'Admin')).status).toBe(200)
    const html = await send(`GET /runs/${run}/export?format=html`, 'Viewer')
    expect(html.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining('sandbox'),
    })
    expect(html.text).toContain('rollback-release')
  })

  it('are listed by what they are, page by page, and nobody sees those of another tenant', async () => {
    const { send, platform } = server
    const ids = async (query: string) =>
      (await send(`GET /runs?${query}`, 'Viewer')).body.items.map(({ id }: { id: string }) => id)
    expect(await ids('status=waiting')).toEqual([sample])
    expect(await ids('runbook=rollback-release')).toContain(sample)
    expect(await ids('search=rollb')).toContain(sample)
    expect(await ids('startedBy=lockstep')).toEqual([sample])
    expect(await ids('to=2020-01-01T00:00:00Z')).toEqual([])
    const first = (await send('GET /runs?limit=1', 'Viewer')).body
    const second = (await send(`GET /runs?limit=1&cursor=${first.next}`, 'Viewer')).body
    expect(second.items[0].id).not.toBe(first.items[0].id)
    for (const query of [
      'limit=0',
      'limit=x',
      'cursor=!',
      'status=dead',
      'from=yesterday',
      'cursor=zzzzzzzzzzz',
    ])
      expect([query, (await send(`GET /runs?${query}`, 'Viewer')).status]).toEqual([query, 422])
    const { id } = await platform.directory.tenants.make(
      { ...systemActor('local'), principal: 'admin@local' },
      { id: 'other', name: 'Other' } as never,
    )
    const wanted = { name: 'k', role: 'Admin', project: null, expiresAt: null } as const
    const { secret } = await platform.directory.keys.make(systemActor(id), wanted)
    const elsewhere = { 'x-api-key': secret }
    for (const path of [
      `/runs/${sample}`,
      `/runs/${sample}/events`,
      `/runs/${sample}/export`,
      `/runs/${sample}/verify`,
    ])
      expect([path, (await send(`GET ${path}`, null, undefined, elsewhere)).status]).toEqual([path, 404])
    for (const path of ['cancel', 'pause', 'resume'])
      expect((await send(`POST /runs/${sample}/${path}`, null, {}, elsewhere)).status).toBe(404)
    expect((await send('GET /runs', null, undefined, elsewhere)).body.items).toEqual([])
    expect((await send('GET /approvals?state=all', null, undefined, elsewhere)).body.items).toEqual([])
    const { items } = (await send('GET /approvals', 'OnCall')).body
    expect((await send(`POST /approvals/${items[0].id}/approve`, null, {}, elsewhere)).status).toBe(404)
  })

  it('are not begun with what does not fit, by who may not, or of what is put away', async () => {
    const { send } = server
    const refused = async (body: object, by: 'SRE' | 'Viewer' = 'SRE') => {
      const answer = await send('POST /runs', by, body)
      return [answer.status, answer.body.code]
    }
    expect(await refused({ runbook: 'nothing' })).toEqual([404, 'not_found'])
    expect(await refused({ runbook: 'rollback-release', version: 7 })).toEqual([404, 'not_found'])
    expect(await refused({ runbook: 'rollback-release', inputs: { nod: 1 } })).toEqual([422, 'invalid_input'])
    for (const odd of [{ context: { a: '\ud800' } }, { prompt: '\ud800' }, { context: nested(100) }])
      expect(await refused({ runbook: 'rollback-release', ...odd })).toEqual([422, 'invalid_request'])
    expect(await refused({ runbook: 'rollback-release', inputs: { node: nested(100) } })).toEqual([
      422,
      'invalid_input',
    ])
    expect(await refused({ runbook: 'rollback-release', mode: 'shadow' })).toEqual([422, 'invalid_request'])
    expect(await refused({ runbook: 'rollback-release', model: 'scripted:/etc/passwd' })).toEqual([
      422,
      'unknown_model',
    ])
    expect(await refused({ runbook: 'rollback-release' }, 'Viewer')).toEqual([403, 'forbidden'])
    const before = (await send('GET /runs?limit=200', 'Viewer')).body.items.length
    // The same key and body begin one run.
    const key = { 'idempotency-key': 'once' }
    const one = await send('POST /runs', 'SRE', { runbook: 'rollback-release' }, key)
    const two = await send('POST /runs', 'SRE', { runbook: 'rollback-release' }, key)
    expect([two.body.id, two.headers['idempotent-replayed']]).toEqual([one.body.id, 'true'])
    expect((await send('GET /runs?limit=200', 'Viewer')).body.items).toHaveLength(before + 1)
    // By default nothing is changed.
    expect(one.body.mode).toBe('dry-run')
    expect(
      (await standing(one.body.id, 'succeeded')).callList.some(
        (call: { state: string }) => call.state === 'shown',
      ),
    ).toBe(true)
  })

  it('are paused, go on, and are cancelled with what was done undone', async () => {
    const { send } = server
    const text = readFileSync('examples/platform/rollback-release.yaml', 'utf8')
      .replace('name: rollback-release', 'name: careful')
      .replace('on_failure: compensate', 'on_cancel: compensate')
    expect((await send('POST /runbooks', 'SRE', { text, format: 'yaml' })).status).toBe(201)
    const run = await begin('careful', { inputs: inputs('node-4') })
    await standing(run, 'waiting')
    expect((await send(`POST /runs/${run}/pause`, 'Viewer', {})).status).toBe(403)
    expect((await send(`POST /runs/${run}/pause`, 'OnCall', { reason: 'lunch' })).body).toMatchObject({
      status: 'paused',
      reason: 'lunch',
    })
    expect((await send(`POST /runs/${run}/resume`, 'OnCall', {})).body.status).toBe('waiting')
    expect((await send(`POST /runs/${run}/cancel`, 'OnCall', { reason: 'no need' })).status).toBe(202)
    const page = await standing(run, 'cancelled')
    expect(page.callList.at(-1)).toMatchObject({ tool: 'practice.uncordon_node', undoes: 'cordon' })
    expect(page.approvals).toMatchObject([{ state: 'void' }])
    const again = await send(`POST /runs/${run}/cancel`, 'OnCall', {})
    expect([again.status, again.body.code]).toEqual([409, 'not_available'])
  })

  it('ask whoever is there, and hear the answers', async () => {
    const { send } = server
    const run = await begin('triage')
    const say = async (text: string) => await send(`POST /runs/${run}/messages`, 'SRE', { text })
    expect(await standing(run, 'waiting')).toMatchObject({
      waitsFor: [{ kind: 'answer', text: 'Which service is it?' }],
    })
    expect((await send(`POST /runs/${run}/messages`, 'Viewer', { text: 'x' })).status).toBe(403)
    expect((await say('web')).status).toBe(202)
    await until(async () => (await standing(run, 'waiting')).conversation.length === 3)
    await say('no')
    await until(async () => (await standing(run, 'waiting')).conversation.length === 5)
    await say('yes')
    const page = await standing(run, 'succeeded')
    expect(page.conversation.at(-1).text).toContain('working hours')
    expect((await say('more')).status).toBe(409)
  })

  it('are halted all together, and only an Admin lets them go on', async () => {
    const { send } = server
    expect((await send('GET /halt', 'Viewer')).body).toEqual({ halt: null })
    expect((await send('POST /halt', 'Viewer', { reason: 'x' })).status).toBe(403)
    const { halt } = (await send('POST /halt', 'OnCall', { reason: 'the cluster burns' })).body
    expect(halt).toMatchObject({ reason: 'the cluster burns' })
    const run = await begin('rollback-release', { inputs: inputs('node-5') })
    await until(async () => {
      const { waitsFor } = (await send(`GET /runs/${run}`, 'Viewer')).body
      return waitsFor.some(({ kind }: { kind: string }) => kind === 'halt')
    })
    expect((await send('DELETE /halt', 'OnCall', { reason: 'over' })).status).toBe(403)
    expect((await send('DELETE /halt', 'Admin', { reason: 'over' })).body).toEqual({ halt: null })
    await standing(run, 'waiting')
    await send(`POST /runs/${run}/cancel`, 'SRE', {})
    await standing(run, 'cancelled')
  })
})

describe('tools over HTTP', () => {
  it('are listed, planned without a call, and called through the gate', async () => {
    const { send } = server
    const { items } = (await send('GET /tools', 'Viewer')).body
    expect(items).toContainEqual(expect.objectContaining({ name: 'practice.refund', practice: true }))
    const refund = { tool: 'practice.refund', args: { order_id: 'ORD-42', amount: 20 } }
    const plan = await send('POST /tools/plan', 'Viewer', { ...refund, mode: 'execute' })
    expect(plan.body).toMatchObject({ verdict: 'needs_approval', rule: 'approvals.on-call-refund' })
    expect(plan.body.request).not.toBeNull()
    const large = { tool: 'practice.refund', args: { order_id: 'ORD-42', amount: 900 } }
    expect((await send('POST /tools/plan', 'Viewer', large)).body).toMatchObject({ verdict: 'deny' })
    for (const bad of [
      { tool: 'practice.refund', args: { order_id: 1 } },
      { tool: 'no.such', args: {} },
      { tool: '__proto__', args: {} },
      { tool: 'practice.get_node', args: { node: '\ud800' } },
      { tool: 'practice.get_node', args: { node: 'node-1' }, context: nested(100) },
    ])
      for (const path of ['plan', 'invoke'])
        expect((await send(`POST /tools/${path}`, 'SRE', bad)).status).toBe(422)
    expect((await send('POST /tools/invoke', 'Viewer', refund)).status).toBe(403)
    // Only shown, unless somebody asks for more.
    const shown = await send('POST /tools/invoke', 'SRE', refund)
    expect([shown.status, shown.body.status, shown.body.approval]).toEqual([200, 'succeeded', null])
    expect(shown.body.result).toMatchObject({ dry_run: true })
    const held = await send('POST /tools/invoke', 'SRE', { ...refund, mode: 'execute' })
    expect([held.status, held.body.result]).toEqual([202, null])
    expect(held.headers['location']).toBe(`/runs/${held.body.run}`)
    expect((await send(`POST /approvals/${held.body.approval}/approve`, 'OnCall', {})).status).toBe(200)
    await standing(held.body.run, 'succeeded')
    const denied = await send('POST /tools/invoke', 'SRE', { ...large, mode: 'execute' })
    expect([denied.status, denied.body.code]).toEqual([403, 'forbidden'])
    expect(denied.body.detail).toContain('500')
    // Arguments are values: what looks like a template is a text.
    const braces = { tool: 'practice.get_node', args: { node: '{inputs.a0}' }, mode: 'execute' }
    const odd = await send('POST /tools/invoke', 'SRE', braces)
    expect((await send(`GET /runs/${odd.body.run}`, 'SRE')).body.callList[0].args).toEqual({
      node: '{inputs.a0}',
    })
  })
})

describe('the record over HTTP', () => {
  it('is listed, looked through, verified, signed and taken away', async () => {
    const { send } = server
    const all = (await send('GET /audit?limit=200', 'Viewer')).body
    expect(all.items[0].seq).toBeGreaterThan(all.items[1].seq)
    const halted = (await send('GET /audit?type=tenant.halted', 'Viewer')).body.items
    expect(halted).toMatchObject([{ type: 'tenant.halted', data: { reason: 'the cluster burns' } }])
    expect((await send('GET /audit?search=cluster+BURNS', 'Viewer')).body.items).toEqual(halted)
    expect((await send('GET /audit?search=nobody-said-this', 'Viewer')).body).toEqual({
      items: [],
      next: null,
    })
    expect((await send('GET /audit?to=2020-01-01T00:00:00Z', 'Viewer')).body.items).toEqual([])
    const page = (await send('GET /audit?limit=2', 'Viewer')).body
    const next = (await send(`GET /audit?limit=2&cursor=${page.next}`, 'Viewer')).body
    expect(next.items[0].seq).toBe(page.items[1].seq - 1)
    const verdict = (await send('GET /audit/verify', 'Viewer')).body
    expect(verdict).toMatchObject({ verdict: 'consistent', missing: [], problems: [] })
    expect(verdict.checked).toBe(verdict.runsOpened)
    expect(verdict.runsClosed).toBeLessThan(verdict.runsOpened)
    expect((await send('GET /audit/checkpoints?limit=1', 'Viewer')).body.items).toMatchObject([
      { v: 1, tenant: 'local' },
    ])
    const zip = await send('GET /audit/export', 'Viewer')
    expect([zip.status, zip.headers['content-type']]).toEqual([200, 'application/zip'])
    expect(zip.text.startsWith('PK')).toBe(true)
  })

  it('comes to figures, also as a table', async () => {
    const { send } = server
    const { body } = await send('GET /analytics?range=24h', 'Viewer')
    const { items } = (await send('GET /runs?limit=200', 'Viewer')).body
    expect(body.totals.runs).toBe(items.length)
    expect(body.series.reduce((sum: number, { runs }: { runs: number }) => sum + runs, 0)).toBe(items.length)
    expect(body.bucket).toBe('hour')
    expect(body.runbooks.map(({ name }: { name: string }) => name)).toContain('rollback-release')
    expect(
      (await send('GET /analytics?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'Viewer')).status,
    ).toBe(422)
    expect((await send('GET /analytics?from=1990-01-02T00:00:00Z', 'Viewer')).status).toBe(422)
    const csv = await send('GET /analytics.csv?range=7d', 'Viewer')
    expect(csv.headers['content-type']).toContain('text/csv')
    expect(csv.text.split('\r\n')[1]).toMatch(new RegExp(`^total,,${items.length},`))
  })
})
