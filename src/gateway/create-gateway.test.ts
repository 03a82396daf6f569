import { afterEach, describe, expect, test } from 'vitest'
import { contract, type RouteName } from '../api/contract.ts'
import { paramsOf, type RouteShape } from '../api/route.ts'
import type { Principal } from '../directory/principal.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { AnswerBook } from './answer-book.ts'
import { createGateway } from './create-gateway.ts'
import type { Door } from './door.ts'
import { Answer, type Handlers } from './handler.ts'
import { openApi } from './open-api.ts'

const ada: Principal = {
  tenant: 'acme',
  subject: { kind: 'user', id: 'usr_1', name: 'Ada' },
  person: 'ada@acme.example',
  user: 'usr_1',
  actor: 'ada@acme.example',
  roles: [{ role: 'Admin', project: null }],
  how: 'link',
  session: 's',
}
const door: Door = {
  identify: async ({ headers }) => (headers['x-api-key'] === 'ada' ? ada : null),
  admit: () => undefined,
  project: () => null,
  assertPermitted(_, permission) {
    if (permission === 'policy:write') throw new LockstepError('forbidden', 'not you')
  },
}
const me = { 'x-api-key': 'ada' }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A gateway with the given handlers; every other route answers that it was reached. */
async function gateway(some: Partial<Handlers> = {}, origins: readonly string[] = []) {
  const answers = new AnswerBook(':memory:')
  const handlers = new Proxy(some, {
    get: (known, name: RouteName) =>
      known[name] ?? (() => new Answer(undefined, { headers: { 'x-reached': name } })),
  }) as Handlers
  const app = await createGateway({ handlers, door, answers, checkAnswers: false, origins })
  closing.push(
    () => app.close(),
    () => answers.close(),
  )
  return app
}

describe('every route of the contract', () => {
  const routes = Object.entries(contract) as [RouteName, RouteShape][]
  test.each(routes)('%s names its parameters, its access and its answer', (_, shape) => {
    expect(Object.keys(shape.params?.shape ?? {})).toEqual(paramsOf(shape.path))
    expect(shape.summary).toMatch(/^[A-Z].*\.$/)
    expect(shape.response === null ? shape.produces !== undefined || shape.status === 204 : true).toBe(true)
  })

  test('W1: reaches no handler without a sender, but for what is public or signed', async () => {
    const app = await gateway()
    for (const [name, { method, path, access }] of routes) {
      const url = path.replace(/\{version\}/, '1').replace(/\{\w+\}/g, 'x')
      const { statusCode, headers } = await app.inject({ method, url })
      const open = access === 'public' || access === 'signature'
      expect([name, statusCode === 401]).toEqual([name, !open])
      if (!open) expect(headers['x-reached']).toBeUndefined()
    }
  })

  test('is in the description, with every shape in it', () => {
    const { paths } = openApi('1') as unknown as {
      paths: Record<string, Record<string, { operationId: string }>>
    }
    const named = Object.values(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    expect(named.toSorted()).toEqual(routes.map(([name]) => name).sort())
  })
})

describe('what goes wrong', () => {
  test.each([
    [
      'no JSON',
      { method: 'POST', url: '/runs', payload: '{', headers: { ...me, 'content-type': 'application/json' } },
      400,
      'invalid_request',
    ],
    [
      'a prototype in disguise',
      {
        method: 'POST',
        url: '/runs',
        payload: '{"__proto__":{}}',
        headers: { ...me, 'content-type': 'application/json' },
      },
      400,
      'invalid_request',
    ],
    [
      'a type nobody reads',
      {
        method: 'POST',
        url: '/runs',
        payload: 'a=1',
        headers: { ...me, 'content-type': 'application/x-www-form-urlencoded' },
      },
      415,
      'invalid_request',
    ],
    [
      'a wrong body',
      { method: 'POST', url: '/runs', payload: { runbook: 7 }, headers: me },
      422,
      'invalid_request',
    ],
    ['a wrong query', { method: 'GET', url: '/runs?limit=1000', headers: me }, 422, 'invalid_request'],
    ['an address that is none', { method: 'GET', url: '/nowhere', headers: me }, 404, 'not_found'],
    [
      'a name that cannot be one',
      { method: 'GET', url: `/runs/${'x'.repeat(250)}`, headers: me },
      404,
      'not_found',
    ],
    [
      'no version',
      { method: 'PUT', url: '/runbooks/a', payload: { text: '', format: 'yaml' }, headers: me },
      428,
      'precondition_required',
    ],
    [
      'a version that is none',
      {
        method: 'PUT',
        url: '/runbooks/a',
        payload: { text: '', format: 'yaml' },
        headers: { ...me, 'if-match': '3' },
      },
      422,
      'invalid_request',
    ],
    [
      'too much',
      { method: 'POST', url: '/runs', payload: { runbook: 'x'.repeat(2_100_000) }, headers: me },
      413,
      'too_large',
    ],
    [
      'what is not permitted',
      { method: 'POST', url: '/policies', payload: {}, headers: me },
      403,
      'forbidden',
    ],
  ] as const)('%s is told as a problem', async (_, request, status, code) => {
    const app = await gateway()
    const answer = await app.inject(request as never)
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(answer.json()).toMatchObject({
      status,
      code,
      type: `/docs/errors/${code}`,
      requestId: answer.headers['x-request-id'],
    })
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['x-reached']).toBeUndefined()
  })

  test('W2: what is our own doing tells nothing of its cause', async () => {
    const app = await gateway({ getMe: () => Promise.reject(new Error('the password is hunter2')) })
    const answer = await app.inject({ url: '/me', headers: me })
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('hunter2')
  })

  test('W3: every answer, also a refusal, says what a browser may do with it', async () => {
    const app = await gateway()
    for (const url of ['/healthz', '/me', '/nowhere']) {
      const { headers } = await app.inject({ url })
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
      expect(headers['content-security-policy']).toContain("default-src 'none'")
    }
  })

  test('only origins that are named may read answers', async () => {
    const app = await gateway({}, ['https://ops.example'])
    const ask = async (origin: string) => (await app.inject({ url: '/healthz', headers: { origin } })).headers
    expect((await ask('https://ops.example'))['access-control-allow-origin']).toBe('https://ops.example')
    expect((await ask('https://evil.example'))['access-control-allow-origin']).toBeUndefined()
  })
})

describe('a request with an idempotency key', () => {
  const start = (app: Awaited<ReturnType<typeof gateway>>, key: string, runbook = 'a') =>
    app.inject({
      method: 'POST',
      url: '/runs',
      payload: { runbook },
      headers: { ...me, 'idempotency-key': key },
    })

  test('is carried out once and answered alike again', async () => {
    let times = 0
    const app = await gateway({ startRun: () => ({ id: `r_${++times}` }) as never })
    const [first, again, other] = [await start(app, 'k'), await start(app, 'k'), await start(app, 'l')]
    expect([first.json(), again.json(), other.json()]).toEqual([{ id: 'r_1' }, { id: 'r_1' }, { id: 'r_2' }])
    expect([first.statusCode, again.statusCode]).toEqual([201, 201])
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'content-type': first.headers['content-type'],
    })
  })

  test('is refused with another body, and while the first is under way', async () => {
    let go = () => {}
    const app = await gateway({
      startRun: () => new Promise((resolve) => (go = () => resolve({ id: 'r_1' } as never))),
    })
    const first = start(app, 'k')
    // The first is under way once its handler was reached.
    await expect.poll(() => go.toString()).toContain('resolve')
    expect((await start(app, 'k')).json()).toMatchObject({ code: 'idempotency_conflict' })
    go()
    await first
    expect((await start(app, 'k', 'b')).json()).toMatchObject({ status: 422, code: 'idempotency_conflict' })
  })

  test('may be sent again if it was refused', async () => {
    let refuse = true
    const app = await gateway({
      startRun() {
        if (refuse) throw new LockstepError('not_found', 'There is no such playbook.')
        return { id: 'r_1' } as never
      },
    })
    expect((await start(app, 'k')).statusCode).toBe(404)
    refuse = false
    expect((await start(app, 'k')).json()).toEqual({ id: 'r_1' })
  })
})
