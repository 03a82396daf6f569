import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../shared/json.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import { SecretVault } from '../secret-vault.ts'
import { type HttpToolDeclaration, createHttpTool } from './http-tool.ts'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let server: Server
let base = ''
let seen: Seen[] = []
let answer: (request: Seen, response: ServerResponse) => void = () => undefined

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const { method, url, headers } = request
      seen.push({ method, url, headers, body })
      answer({ method, url, headers, body }, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  seen = []
  answer = (_, response) => json(response, { ok: true })
})

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value))
}

const secret = 'tok/+"en-Ä-123456'

function make(declared: Partial<HttpToolDeclaration>, inputs: JsonObject = {}) {
  const vault = new SecretVault({ TOKEN: 'token-123456', ODD: secret, SHORT: 'abc', EMPTY: '' })
  const tool = createHttpTool(
    {
      name: 't',
      description: 'd',
      input: null,
      risk: 'write',
      timeoutSeconds: 100,
      maxResultBytes: 1_000,
      target: null,
      idempotent: false,
      compensate: null,
      idempotencyHeader: null,
      reconcile: null,
      method: 'GET',
      url: `${base}/orders/{args.id}`,
      headers: {},
      query: {},
      body: undefined,
      statusesWithoutEffect: [404],
      ...declared,
    },
    { vault, inputs },
  )
  const context = { signal: new AbortController().signal, idempotencyKey: 'k' }
  return {
    tool,
    call: async (args: JsonObject = {}, signal = context.signal) =>
      await tool.execute(args, { ...context, signal }),
    dry: async (args: JsonObject = {}) => await tool.dryRun!(args, context),
  }
}

const env = (name: string, prefix = '') =>
  ({ kind: 'secret', prefix, reference: { from: 'env', name } }) as const

describe('what is sent', () => {
  it('fills in path, query, headers and body; a value that is only a placeholder keeps its type', async () => {
    const { call } = make(
      {
        method: 'POST',
        url: `${base}/orders/{args.id}/refunds?from={inputs.shop}`,
        headers: {
          'X-Shop': { kind: 'text', text: 'shop {inputs.shop}' },
          Authorization: env('TOKEN', 'Bearer '),
        },
        query: { page: '{default(args.page, null)}', tag: ['a', '{args.id}'], n: 3 },
        body: { amount: '{args.amount}', note: 'for {args.id}', all: '{args}', fixed: [1, null] },
      },
      { shop: 'north & south' },
    )
    expect(await call({ id: 'ORD-42', amount: 30 })).toEqual({ ok: true })
    expect(seen).toMatchObject([
      {
        method: 'POST',
        url: '/orders/ORD-42/refunds?from=north+%26+south&tag=a&tag=ORD-42&n=3',
        headers: {
          'x-shop': 'shop north & south',
          authorization: 'Bearer token-123456',
          'content-type': 'application/json',
        },
      },
    ])
    expect(JSON.parse(seen[0]!.body)).toEqual({
      amount: 30,
      note: 'for ORD-42',
      all: { id: 'ORD-42', amount: 30 },
      fixed: [1, null],
    })
  })

  it('sends forms and plain text where the header says so', async () => {
    const type = (text: string) => ({ 'Content-Type': { kind: 'text', text } }) as const
    const form = make({ method: 'POST', headers: type('application/x-www-form-urlencoded'), body: '{args}' })
    await form.call({ id: 'a&b=c', n: 1 })
    await make({ method: 'POST', headers: type('text/plain'), body: 'hi {args.id}' }).call({ id: 'x' })
    expect(seen.map(({ body }) => body)).toEqual(['id=a%26b%3Dc&n=1', 'hi x'])
  })
})

describe('U2: an argument stays inside its place', () => {
  it.each([
    ['a/b', '/orders/a%2Fb'],
    ['a\\b', '/orders/a%5Cb'],
    ['x?admin=1', '/orders/x%3Fadmin%3D1'],
    ['x#y', '/orders/x%23y'],
    ['%2e%2e', '/orders/%252e%252e'],
    ['@evil.example', '/orders/%40evil.example'],
    ['a\r\nX: y', '/orders/a%0D%0AX%3A%20y'],
    ['a\0b', '/orders/a%00b'],
    ['…', '/orders/%E2%80%A6'],
    ["it's (a*b)!", '/orders/it%27s%20%28a%2Ab%29%21'],
    [' ', '/orders/%20'],
    [7, '/orders/7'],
    [true, '/orders/true'],
    ['env:TOKEN', '/orders/env%3ATOKEN'],
    ['{args.secret}', '/orders/%7Bargs.secret%7D'],
  ])('%j', async (id, url) => {
    await make({}).call({ id, secret: 's' })
    expect(seen.map((request) => request.url)).toEqual([url])
  })

  it.each([
    ['..'],
    ['.'],
    ['../admin'],
    ['a/../../b'],
    ['..\\x'],
    [''],
    [null],
    [['a']],
    [{ a: 1 }],
    ['\ud800'],
  ])('refuses %j and sends nothing', async (id) => {
    await expect(make({}).call({ id } as JsonObject)).rejects.toBeInstanceOf(ToolFailure)
    await expect(make({ url: `${base}/a/{args.id}/b` }).call({ id } as JsonObject)).rejects.toBeInstanceOf(
      ToolFailure,
    )
    expect(seen).toEqual([])
  })

  it('cannot make a step up out of parts either', async () => {
    await expect(make({ url: `${base}/a/.{args.id}/b` }).call({ id: '.' })).rejects.toBeInstanceOf(
      ToolFailure,
    )
    await expect(make({ url: `${base}/a/{args.id}{args.b}` }).call({ id: '.', b: '.' })).rejects.toThrow(
      /another path/,
    )
    expect(seen).toEqual([])
  })

  it('holds for any text', async () => {
    const { dry } = make({ url: 'https://shop.example/a/{args.id}/b?q={args.q}' })
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (id, q) => {
        const said = (await dry({ id, q }).catch((error: unknown) => error)) as { request: string } | Error
        if (said instanceof ToolFailure) return
        const url = new URL((said as { request: string }).request.slice('GET '.length))
        expect(url.origin).toBe('https://shop.example')
        expect(url.pathname.split('/')).toHaveLength(4)
        expect(decodeURIComponent(url.pathname.split('/')[2]!)).toBe(id)
        expect([...url.searchParams]).toEqual([['q', q]])
        expect(url.hash).toBe('')
      }),
      { numRuns: 500 },
    )
  })

  it('takes a huge argument as far as the server does', async () => {
    answer = (_, response) => response.writeHead(414).end()
    await expect(make({}).call({ id: 'x'.repeat(100_000) })).rejects.toThrow()
  })

  it.each(['a\r\nX-Admin: 1', 'a\nb', 'a\0', 'a\u001b', '漢'])('refuses %j in a header', async (id) => {
    const { call } = make({ url: base, headers: { 'X-Id': { kind: 'text', text: 'id {args.id}' } } })
    await expect(call({ id })).rejects.toThrow(/The header 'X-Id' of 't' cannot be filled in/)
    expect(seen).toEqual([])
  })

  it.each(['https://{args.host}/', 'https://a.example{args.id}', '{args.url}', 'https://u:p@a.example/'])(
    'U1: refuses to make a tool with the url %s',
    (url) => {
      expect(() => make({ url })).toThrow(/must begin with http/)
    },
  )
})

describe('what comes back', () => {
  it('is JSON where the service says so, else text', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('{"a":1}')
    expect(await make({}).call({ id: 1 })).toBe('{"a":1}')
    answer = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
    expect(await make({}).call({ id: 1 })).toBe('{"a":')
    answer = (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('\u0089PNG')
    expect(await make({}).call({ id: 1 })).toBe('[image/png, not shown]')
    answer = (_, response) => response.writeHead(204).end()
    expect(await make({}).call({ id: 1 })).toEqual({ status: 204 })
  })

  it('is cut where it is too long', async () => {
    answer = (_, response) => json(response, 'x'.repeat(5_000_000))
    const result = (await make({}).call({ id: 1 })) as string
    expect(result.length).toBeLessThanOrEqual(1_000)
    expect(result).toContain('[cut: only the first 1000 bytes were kept]')
  })

  it('is a failure without effect only where the declaration says so', async () => {
    answer = (_, response) => json(response, { error: 'no such order' }, 404)
    await expect(make({}).call({ id: 1 })).rejects.toBeInstanceOf(ToolFailure)
    answer = (_, response) => json(response, { error: 'oh' }, 500)
    const error: unknown = await make({})
      .call({ id: 1 })
      .catch((thrown: unknown) => thrown)
    expect(error).not.toBeInstanceOf(ToolFailure)
    expect(error).toMatchObject({ message: 'GET was answered with 500: {"error":"oh"}' })
  })

  it('is a failure without effect where nothing could be sent, and none where the connection was cut', async () => {
    await expect(make({ url: 'http://127.0.0.1:1/' }).call()).rejects.toBeInstanceOf(ToolFailure)
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    await expect(make({ url: `http://127.0.0.1:${port}/` }).call()).rejects.toBeInstanceOf(ToolFailure)
    answer = (_, response) => response.destroy()
    await expect(make({}).call({ id: 1 })).rejects.not.toBeInstanceOf(ToolFailure)
  })

  it('stops when the call is aborted', async () => {
    answer = () => undefined
    const controller = new AbortController()
    const call = make({}).call({ id: 1 }, controller.signal)
    setTimeout(() => controller.abort(), 50)
    await expect(call).rejects.not.toBeInstanceOf(ToolFailure)
  })
})

describe('redirects', () => {
  const redirect = (to: string, status = 302) => {
    answer = ({ url }, response) =>
      url === '/end' ? json(response, 'end') : response.writeHead(status, { location: to }).end()
  }

  it('are followed inside the origin, for requests that read', async () => {
    redirect('/end')
    expect(await make({}).call({ id: 1 })).toBe('end')
  })

  it.each([
    'http://localhost:1/x',
    'http://169.254.169.254/latest/meta-data',
    'https://127.0.0.1/end',
    '//evil.example/end',
    'http://[',
  ])('are refused to another origin: %s', async (to) => {
    redirect(to)
    const { call } = make({ headers: { Authorization: env('TOKEN', 'Bearer ') } })
    await expect(call({ id: 1 })).rejects.toThrow(/redirect to another origin, which is not followed/)
    expect(seen).toHaveLength(1)
  })

  it('are refused for requests that write, and have an end', async () => {
    redirect('/end', 307)
    await expect(make({ method: 'POST' }).call({ id: 1 })).rejects.toThrow(/not followed for POST/)
    redirect('/again')
    await expect(make({}).call({ id: 1 })).rejects.toThrow(/more than 5 redirects/)
  })
})

describe('secrets', () => {
  it('V2: are masked in results and errors, however they are written', async () => {
    const headers = { Authorization: env('ODD') }
    answer = ({ headers: sent }, response) => {
      const raw = sent.authorization!
      const text = Buffer.from(raw, 'latin1').toString('latin1')
      json(response, {
        [text]: text,
        list: [`Bearer ${text}`],
        uri: encodeURIComponent(text),
        b64: Buffer.from(text).toString('base64'),
      })
    }
    const result = JSON.stringify(await make({ headers }).call({ id: 1 }))
    expect(result).toBe(
      '{"[secret]":"[secret]","list":["Bearer [secret]"],"uri":"[secret]","b64":"[secret]"}',
    )
    answer = ({ headers: sent }, response) => json(response, { you: sent.authorization }, 500)
    await expect(make({ headers }).call({ id: 1 })).rejects.toThrow(
      'GET was answered with 500: {"you":"[secret]"}',
    )
  })

  it('V1: are never read from arguments', async () => {
    const { call } = make({ url: base, headers: { 'X-A': { kind: 'text', text: '{args.a}' } } })
    await call({ a: 'env:TOKEN' })
    expect(seen[0]?.headers['x-a']).toBe('env:TOKEN')
  })

  it.each(['MISSING', 'SHORT', 'EMPTY'])('send nothing when they cannot be had: %s', async (name) => {
    const failed = make({ headers: { A: env(name) } }).call({ id: 1 })
    await expect(failed).rejects.toBeInstanceOf(ToolFailure)
    await expect(failed).rejects.toThrow(`The secret env:${name} `)
    expect(seen).toEqual([])
  })

  it('are not even resolved for a dry run', async () => {
    const { dry } = make({
      headers: { A: env('MISSING', 'Bearer ') },
      method: 'POST',
      body: { n: '{args.n}' },
    })
    expect(await dry({ id: 'a b', n: 1 })).toEqual({
      request: `POST ${base}/orders/a%20b`,
      headers: { a: 'Bearer [secret env:MISSING]', 'content-type': 'application/json' },
      body: '{"n":1}',
    })
    expect(seen).toEqual([])
  })
})
