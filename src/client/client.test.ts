import { expect, expectTypeOf, test } from 'vitest'
import { createClient, type AnswerOf, type RouteSpelling } from './client.ts'
import { ProblemError } from './problem-error.ts'

/** A client whose requests end here, and what was sent. */
function client(answer: () => Response) {
  const sent: { url: string; init: RequestInit }[] = []
  const send = (async (url: string, init: RequestInit) => {
    sent.push({ url, init })
    return answer()
  }) as typeof fetch
  const ask = createClient({
    url: 'http://localhost:8000/',
    key: 'lk_1',
    csrfToken: () => 'c',
    project: () => 'web',
    fetch: send,
  })
  return { ask, sent }
}
const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

test('puts a request together from its parts', async () => {
  const { ask, sent } = client(() => json({ id: 'rb_1' }))
  await ask('PUT /runbooks/{id}', {
    params: { id: 'a/b c' },
    body: { text: '', format: 'yaml' },
    match: 3,
    idempotencyKey: 'k',
  })
  await ask('GET /runs', { query: { status: 'failed', search: '' } })
  expect(sent.map(({ url, init: { method } }) => `${method} ${url}`)).toEqual([
    'PUT http://localhost:8000/runbooks/a%2Fb%20c',
    'GET http://localhost:8000/runs?status=failed',
  ])
  expect(sent[0]!.init.headers).toEqual({
    'content-type': 'application/json',
    authorization: 'Bearer lk_1',
    'x-csrf-token': 'c',
    'x-project': 'web',
    'if-match': '"3"',
    'idempotency-key': 'k',
  })
  expect(sent[1]!.init.headers).toEqual({ authorization: 'Bearer lk_1', 'x-project': 'web' })
})

test('throws the problem of what is refused, and says so where another server answered', async () => {
  const refused = client(() => json({ code: 'not_found', detail: 'There is no such run.' }, 404))
  await expect(refused.ask('GET /runs/{id}', { params: { id: 'r' } })).rejects.toMatchObject({
    problem: { code: 'not_found' },
  })
  const strange = client(() => new Response('<html>', { status: 502 }))
  await expect(strange.ask('GET /me')).rejects.toBeInstanceOf(ProblemError)
  await expect(strange.ask('GET /me')).rejects.toThrow(/502/)
})

test('its types are those of the contract', () => {
  expectTypeOf<'GET /runs/{id}'>().toExtend<RouteSpelling>()
  expectTypeOf<'GET /nowhere'>().not.toExtend<RouteSpelling>()
  expectTypeOf<AnswerOf<'GET /runs'>['next']>().toEqualTypeOf<string | null>()
  expectTypeOf<AnswerOf<'GET /runs/{id}/export'>>().toEqualTypeOf<Response>()
  expectTypeOf<AnswerOf<'DELETE /runbooks/{id}'>>().toEqualTypeOf<undefined>()
})
