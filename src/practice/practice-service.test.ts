import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { PracticeService } from './practice-service.ts'
import { PracticeStore } from './practice-store.ts'

let folder: string
let service: PracticeService

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'practice-'))
  service = await PracticeService.start({ file: join(folder, 'practice.db') })
})

afterEach(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: JsonObject
}

async function ask(path: string, init: RequestInit = {}, url = service.url): Promise<Answer> {
  const response = await fetch(url + path, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as JsonObject }
}

function post(path: string, body: JsonObject = {}, key?: string, url = service.url): Promise<Answer> {
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  return ask(path, { method: 'POST', headers, body: JSON.stringify(body) }, url)
}

async function effects(): Promise<string[]> {
  const { body } = await ask('/effects')
  return (body['effects'] as JsonObject[]).map(({ tool, target, key }) => `${tool} ${target} ${key}`)
}

describe('PracticeService', () => {
  it('H1: says in every answer that it is practice, also where it refuses', async () => {
    const answers = [
      await ask('/'),
      await ask('/nodes/node-7'),
      await ask('/nodes/node-99'),
      await ask('/nonsense'),
      await post('/nodes/node-7/cordon'),
      await ask('/keys/none'),
      await ask('/state'),
    ]
    for (const { headers, body } of answers) {
      expect([headers.get('x-lockstep-practice'), body['practice']]).toEqual(['true', true])
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 200, 404, 200])
  })

  it('H2: does once what is asked for under one key, and refuses another request under it', async () => {
    const first = await post('/services/web/rollback', {}, 'r_1/rollback')
    expect(first.body).toMatchObject({ from: 'v42', release: 'v41', healthy: true, changed: true })
    const second = await post('/services/web/rollback', {}, 'r_1/rollback')
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await post('/services/web/rollback', { release: 'v40' }, 'r_1/rollback')).status).toBe(409)
    expect((await post('/services/api/rollback', {}, 'r_1/rollback')).status).toBe(409)
    expect(await effects()).toEqual(['practice.rollback service/web r_1/rollback'])
    // Without a key, or under another one, it is another request.
    expect((await post('/services/web/rollback', {}, 'r_2/rollback')).body['release']).toBe('v40')
    expect((await ask(`/keys/${encodeURIComponent('r_1/rollback')}`)).body).toMatchObject({
      state: 'applied',
      answer: first.body,
    })
  })

  it('H2: counts what changed nothing as an effect too, so that nothing that was sent twice is hidden', async () => {
    await post('/nodes/node-7/cordon', {}, 'a')
    expect((await post('/nodes/node-7/cordon', {}, 'b')).body).toMatchObject({ changed: false })
    expect(await effects()).toHaveLength(2)
  })

  it('H2: keeps no answer to what was refused, so that it can be tried again', async () => {
    expect((await post('/nodes/node-7/drain', {}, 'd')).status).toBe(409)
    await post('/nodes/node-7/cordon')
    const { body } = await post('/nodes/node-7/drain', {}, 'd')
    expect(body).toMatchObject({ drained: true, pods: [], changed: true })
    expect(body['moved']).toHaveLength(2)
  })

  it('pays no more back than was paid, to the customer of the order, and counts in cents', async () => {
    const refund = (body: JsonObject) => post('/orders/ORD-42/refunds', body)
    expect((await refund({ amount: 30.01 })).status).toBe(422)
    expect((await refund({ amount: 10, customer_id: 'C-8' })).status).toBe(422)
    for (const amount of [0, -1, 0.001, '10', null]) expect((await refund({ amount })).status).toBe(422)
    for (let part = 0; part < 3; part++) expect((await refund({ amount: 9.7 })).status).toBe(200)
    expect((await refund({ amount: 0.91 })).status).toBe(422)
    expect((await refund({ amount: 0.9, customer_id: 'C-7' })).body).toMatchObject({ refunded: 30 })
  })

  it('goes wrong once as it is told, and says what became of the call by its key', async () => {
    const fault = (body: JsonObject) => post('/faults', body)
    await fault({ tool: 'practice.cordon_node', kind: 'fail' })
    expect((await post('/nodes/node-1/cordon', {}, 'f')).status).toBe(503)
    expect((await ask('/keys/f')).status).toBe(404)
    await fault({ tool: 'practice.cordon_node', kind: 'cut' })
    await expect(post('/nodes/node-1/cordon', {}, 'c')).rejects.toThrow('fetch failed')
    expect((await ask('/keys/c')).body).toMatchObject({ state: 'applied', answer: { node: 'node-1' } })
    await fault({ tool: 'practice.cordon_node', kind: 'delay', ms: 300 })
    const slow = post('/nodes/node-2/cordon', {}, 'd')
    await expect.poll(async () => (await ask('/keys/d')).body['state']).toBe('in_progress')
    expect((await slow).body).toMatchObject({ node: 'node-2', cordoned: true })
    await fault({ tool: 'practice.cordon_node', kind: 'late', ms: 60_000 })
    const late = post('/nodes/node-3/cordon', {}, 'l').catch(() => 'given up')
    await expect.poll(async () => (await ask('/keys/l')).body['state']).toBe('applied')
    expect(await effects()).toHaveLength(3)
    await service.close()
    expect(await late).toBe('given up')
    service = await PracticeService.start({ file: join(folder, 'practice.db') })
  })

  it('takes faults from a text, and refuses those that are none', async () => {
    const file = join(folder, 'other.db')
    const other = await PracticeService.start({ file, faults: 'practice.get_node=fail*2' })
    const statuses = [1, 2, 3].map(async () => (await ask('/nodes/node-1', {}, other.url)).status)
    expect((await Promise.all(statuses)).toSorted()).toEqual([200, 503, 503])
    await other.close()
    for (const faults of ['practice.cordn_node=cut', 'practice.get_node', 'practice.get_node=burn']) {
      await expect(PracticeService.start({ file, faults })).rejects.toThrow(
        expect.objectContaining({ code: 'invalid_value' }) as Error,
      )
    }
    expect((await post('/faults', { tool: 'practice.cordn_node', kind: 'cut' })).body['error']).toMatch(
      'did you mean practice.cordon_node',
    )
    expect((await post('/faults', { tool: 'practice.get_node', kind: 'cut', times: 0 })).status).toBe(422)
  })

  it('serves one file from several places at once, and loses nothing', async () => {
    const other = await PracticeService.start({ file: join(folder, 'practice.db') })
    const sent = Array.from({ length: 20 }, (_, index) =>
      post('/services/api/restart', {}, `k${index % 10}`, index < 10 ? service.url : other.url),
    )
    await Promise.all(sent)
    await other.close()
    expect((await ask('/services/api')).body).toMatchObject({ restarts: 10 })
    expect(await effects()).toHaveLength(10)
    await post('/reset')
    expect((await ask('/services/api')).body).toMatchObject({ restarts: 0 })
    expect(await effects()).toEqual([])
  })

  it('S1: what was answered survives the death of whoever served it', async () => {
    const serve = fileURLToPath(new URL('practice-service.ts', import.meta.url))
    const file = join(folder, 'practice.db')
    const code = `import { PracticeService } from ${JSON.stringify(serve)}
      console.log((await PracticeService.start({ file: ${JSON.stringify(file)} })).url)`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code])
    const [url] = (await once(child.stdout, 'data')) as [Buffer]
    expect((await post('/nodes/node-7/cordon', {}, 'k', String(url).trim())).status).toBe(200)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await ask('/nodes/node-7')).body).toMatchObject({ cordoned: true })
    expect((await ask('/keys/k')).body).toMatchObject({ state: 'applied' })
  })

  it.each<[string, string, RequestInit]>([
    [
      'a page of another site',
      '/nodes/node-7/cordon',
      { method: 'POST', headers: { origin: 'http://x.example' } },
    ],
    ['a body that is no object', '/nodes/node-7/cordon', { method: 'POST', body: '[1]' }],
    ['a body that is no JSON', '/nodes/node-7/cordon', { method: 'POST', body: '{' }],
    ['a body that is too large', '/services/web/deploy', { method: 'POST', body: 'x'.repeat(70_000) }],
    ['a path that is not encoded', '/nodes/%ff', {}],
    [
      'a key that is too long',
      '/nodes/node-7/cordon',
      { method: 'POST', headers: { 'idempotency-key': 'k'.repeat(601) } },
    ],
  ])('refuses %s and does nothing', async (_, path, init) => {
    expect((await ask(path, init)).status).toBe(400)
    expect(await effects()).toEqual([])
  })

  it('H4: refuses a name that leads here', async () => {
    const { port } = new URL(service.url)
    const sent = httpRequest({ port, host: '127.0.0.1', path: '/nodes', headers: { host: 'evil.example' } })
    sent.end()
    const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }]
    response.resume()
    expect(response.statusCode).toBe(400)
  })

  it('says what is wrong with its file, and that it can be made anew', async () => {
    const file = join(folder, 'broken.db')
    writeFileSync(file, 'this is no database, but long enough to be taken for one'.repeat(20))
    await expect(PracticeService.start({ file })).rejects.toThrow(
      expect.objectContaining({
        code: 'practice_unavailable',
        hint: expect.stringContaining('reset'),
      }) as Error,
    )
    PracticeStore.reset(file)
    await expect(PracticeService.start({ file: '/proc/none/practice.db' })).rejects.toThrow(
      expect.objectContaining({ code: 'practice_unavailable' }) as Error,
    )
    const store = new PracticeStore(file)
    expect(store.list('node')).toHaveLength(9)
    store.close()
  })
})
