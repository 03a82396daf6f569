import Fastify from 'fastify'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consolePages, signInPath } from './console-pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-console-'))
const app = Fastify()
const script = `console.log(${JSON.stringify('x'.repeat(3000))})`

beforeAll(async () => {
  mkdirSync(join(folder, 'console/assets'), { recursive: true })
  mkdirSync(join(folder, 'console/.vite'))
  writeFileSync(
    join(folder, 'console/index.html'),
    '<meta name="csp-nonce" content=""><script src="a"></script>',
  )
  writeFileSync(join(folder, 'console/theme.js'), 'void 0')
  writeFileSync(join(folder, 'console/assets/main-abc.js'), script)
  writeFileSync(join(folder, 'console/.vite/manifest.json'), '{}')
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  consolePages(join(folder, 'console'))(app)
  await app.ready()
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

test('leads from the root to the console', async () => {
  expect((await get('/')).headers.location).toBe('/console/')
  expect((await get('/console')).headers.location).toBe('/console/')
})

test('C1: answers with listed files only, whatever a path tries', async () => {
  expect((await get('/console/theme.js')).body).toBe('void 0')
  for (const path of [
    '/console/../secret.txt',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/assets/..%5c..%5csecret.txt',
    '/console//etc/passwd.txt',
    '/console/.vite/manifest.json',
    '/console/assets/none.js',
    '/console/__proto__.js',
  ]) {
    const { statusCode, body } = await get(path)
    expect(statusCode, path).not.toBe(200)
    expect(body, path).not.toBe('secret')
  }
})

test('C2: a page allows its own scripts only, and each answer has a nonce of its own', async () => {
  const [first, second] = [await get('/console/'), await get('/console/runs/r_1')]
  for (const { statusCode, headers } of [first, second]) {
    expect(statusCode).toBe(200)
    expect(headers['content-security-policy']).toMatch(/script-src 'self';/)
    expect(headers['content-security-policy']).not.toMatch(/unsafe/)
    expect(headers['cache-control']).toBe('no-store')
  }
  const nonces = [first, second].map(({ body, headers }) => {
    const nonce = /name="csp-nonce" content="([^"]{20,})"/.exec(body)?.[1]
    expect(headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
    return nonce
  })
  expect(nonces[0]).not.toBe(nonces[1])
})

test('C3: what is named after its contents is kept for ever, compressed where that is understood', async () => {
  const plain = await get('/console/assets/main-abc.js')
  expect(plain.body).toBe(script)
  expect(plain.headers['cache-control']).toContain('immutable')
  expect(plain.headers['content-type']).toContain('text/javascript')
  const zipped = await get('/console/assets/main-abc.js', { 'accept-encoding': 'gzip, br' })
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(zipped.rawPayload.length).toBeLessThan(200)
  const again = await get('/console/theme.js', {
    'if-none-match': String((await get('/console/theme.js')).headers.etag),
  })
  expect(again.statusCode).toBe(304)
  expect((await get('/console/theme.js')).headers['cache-control']).toBe('no-cache')
})

test('says how to build a console that is not there', async () => {
  const bare = Fastify()
  consolePages(join(folder, 'nowhere'))(bare)
  const { statusCode, body } = await bare.inject('/console/')
  expect(statusCode).toBe(503)
  expect(body).toContain('npm run build:console')
})

test('the token of a one-time link is in the fragment', () => {
  expect(new URL(signInPath('lnk_1.a/b'), 'http://localhost').hash).toBe('#token=lnk_1.a%2Fb')
})
