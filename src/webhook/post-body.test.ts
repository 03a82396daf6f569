import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { postBody } from './post-body.ts'
import { isPublicAddress } from './public-address.ts'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function read(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request) text += String(part)
  return text
}

const open = { allowPrivate: true, timeoutMs: 10_000 }

describe('postBody', () => {
  it('sends the body with its headers, and gives the status', async () => {
    const got: string[] = []
    const url = await listen((request, response) => {
      void read(request).then((text) => {
        got.push(`${request.method} ${request.headers['x-a']} ${text}`)
        response.writeHead(202).end()
      })
    })
    expect(await postBody(`${url}/hook`, '{"ö":1}', { 'x-a': 'b' }, open)).toEqual({
      status: 202,
      error: null,
    })
    expect(got).toEqual(['POST b {"ö":1}'])
  })

  it('follows no redirect, keeps no endless answer, and waits no longer than it may', async () => {
    const hits: string[] = []
    const away = await listen((request, response) => {
      hits.push(request.url!)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    expect(await postBody(`${away}/here`, '', {}, open)).toEqual({
      status: 307,
      error: 'the receiver answered 307',
    })
    expect(hits).toEqual(['/here'])
    const endless = await listen((_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'.repeat(1000)), 1)
      response.on('close', () => clearInterval(timer))
    })
    expect(await postBody(endless, '', {}, open)).toEqual({ status: 200, error: null })
    const silent = await listen(() => undefined)
    expect(await postBody(silent, '', {}, { allowPrivate: true, timeoutMs: 50 })).toEqual({
      status: null,
      error: 'no answer within 0.05 seconds',
    })
  })

  it('says why where nobody listens, and never rejects', async () => {
    const url = await listen((_, response) => void response.end())
    servers.at(-1)!.close()
    expect(await postBody(url, '', {}, open)).toMatchObject({
      status: null,
      error: expect.stringContaining('ECONNREFUSED'),
    })
    for (const wrong of ['', 'nowhere', 'file:///etc/passwd', 'ftp://a.example'])
      expect((await postBody(wrong, '', {}, open)).error).not.toBeNull()
  })

  it('reaches no address of this machine or a private network unless that is allowed, by number or by name', async () => {
    let hits = 0
    const url = await listen((_, response) => {
      hits++
      response.end()
    })
    const { port } = new URL(url)
    const guarded = { allowPrivate: false, timeoutMs: 10_000 }
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '0.0.0.0',
      '0177.0.0.1',
      '2130706433',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
    ])
      expect((await postBody(`http://${host}:${port}/`, '', {}, guarded)).status).toBeNull()
    expect(hits).toBe(0)
    expect((await postBody(`http://localhost:${port}/`, '', {}, open)).status).toBe(200)
  })
})

describe('isPublicAddress', () => {
  it.each([
    '8.8.8.8',
    '93.184.216.34',
    '2606:4700:4700::1111',
    '172.32.0.1',
    '192.169.0.1',
    '::ffff:8.8.8.8',
  ])('lets %s pass', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '127.0.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '::10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    'localhost',
    '',
    'x',
  ])('stops %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
