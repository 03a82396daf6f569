import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { contract, type RouteName } from '../../src/api/contract.ts'
import type { RouteShape } from '../../src/api/route.ts'
import { makePlatformHome, openTrialServer, type TrialServer } from '../../src/gateway/platform-home.suite.ts'
import { rows } from './authorisation-rows.ts'
import { makeThings, type Things } from './authorisation-things.ts'
import { hostileText, hostileTexts, nearly } from './schema-arbitrary.ts'

const home = makePlatformHome()
let server: TrialServer
let things: Things

beforeAll(async () => {
  server = await openTrialServer(home)
  things = await makeThings(server)
}, 120_000)
afterAll(() => home.remove())

const seed = Number(process.env['LOCKSTEP_SEED'] ?? 20261116)
const times = 10 * Number(process.env['LOCKSTEP_RUNS'] ?? 1)
/** A password is made slow to check on purpose, and a stream stays open as long as its run does. */
const dear = new Set<RouteName>(['signInByPassword', 'setPassword'])
const streams = new Set<RouteName>(['followRun'])

const schemaOf = (schema: z.ZodType | undefined) =>
  schema === undefined ? null : (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as never)

describe('whatever comes, the gateway answers, and it is never its own fault', () => {
  const names = (Object.keys(contract) as RouteName[]).filter((name) => !streams.has(name))
  test.each(names)(
    '%s',
    async (name) => {
      const { method, path, body, query } = contract[name] as RouteShape
      const real = (await rows[name].id?.(things)) ?? 'x'
      const wanted = { body: schemaOf(body), query: schemaOf(query) }
      const request = fc.record({
        id: fc.oneof({ weight: 3, arbitrary: fc.constant(real) }, { weight: 1, arbitrary: hostileText }),
        version: fc.constantFrom('1', '2', '0', '-1', '99999999999', 'x'),
        query: wanted.query === null ? fc.constant({}) : nearly(wanted.query, [real]),
        body: wanted.body === null ? fc.constant(undefined) : nearly(wanted.body, [real]),
        project: fc.option(hostileText, { nil: undefined }),
        match: fc.constantFrom(undefined, '"1"', '"2"', '*', 'W/"1"', '"99999999999999"'),
      })
      await fc.assert(
        fc.asyncProperty(request, async (asked) => {
          const filled = path
            .replace('{version}', encodeURIComponent(asked.version))
            .replace(/\{\w+\}/, () => encodeURIComponent(wellFormed(asked.id)))
          const pairs = Object.entries((asked.query ?? {}) as object).filter(
            ([, value]) => value !== undefined,
          )
          const search = new URLSearchParams(
            pairs.map(([key, value]): [string, string] => [wellFormed(key), wellFormed(String(value))]),
          )
          const { status, headers, text } = await server.send(
            `${method} ${filled}?${search}`.replace(/\s(?!\/)/g, '%20'),
            'Admin',
            asked.body === undefined ? undefined : JSON.stringify(asked.body),
            {
              ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
              ...(asked.project === undefined || !/^[\x21-\x7e]+$/.test(asked.project)
                ? {}
                : { 'x-project': asked.project }),
              ...(asked.match === undefined ? {} : { 'if-match': asked.match }),
            },
          )
          expect(status, `${status} ${text.slice(0, 600)}`).toBeLessThan(500)
          if (name !== 'exportRun') expect(String(headers['content-type'] ?? '')).not.toMatch(/html/)
        }),
        { seed, numRuns: dear.has(name) ? 3 : times },
      )
    },
    120_000,
  )
})

describe('what somebody wrote', () => {
  const script = '<script>alert(1)</script>'

  test('comes back as data wherever it was stored, and as text on pages', async () => {
    const made = await server.send('POST /runbooks', 'Admin', {
      format: 'yaml',
      text: `id: hostile\nname: "${script}"\ndescription: "${script}"\nsteps:\n  - id: look\n    tool: practice.get_node\n    input: { node: "${script}" }\n`,
    })
    expect(made.status).toBe(201)
    expect(made.body.name).toBe(script)
    const run = await server.send('POST /runs', 'Admin', { runbook: made.body.id, mode: 'dry-run' })
    expect(run.status).toBe(201)
    const page = await server.send(`GET /runs/${run.body.id}/export?format=html`, 'Admin')
    expect(String(page.headers['content-type'])).toMatch(/text\/html/)
    expect(page.text).not.toContain('<script>alert')
    // A page of a stored text runs in no origin of ours.
    expect(String(page.headers['content-security-policy'])).toMatch(/default-src 'none'/)
    for (const url of ['/runbooks', '/runs', `/runs/${run.body.id}`, '/audit'])
      expect(String((await server.send(`GET ${url}`, 'Admin')).headers['content-type'])).toMatch(
        /application\/json/,
      )
  })

  test('is not reflected by a refusal as anything but data', async () => {
    const { headers, status } = await server.send(`GET /${encodeURIComponent(script)}`, 'Admin')
    expect(status).toBe(404)
    expect(String(headers['content-type'])).toMatch(/problem\+json/)
  })

  test('reaches no file, however it is spelled', async () => {
    for (const text of [
      ...hostileTexts.filter((each) => /\.\./.test(each)),
      '/etc/passwd',
      'C:\\Windows',
      '..\\..\\keys',
    ]) {
      for (const path of ['/console/', '/docs/errors/', '/runs/', '/console/assets/']) {
        for (const spelled of [encodeURIComponent(text), encodeURI(text), text.replaceAll('/', '%252f')]) {
          const { status, text: said } = await server.send(`GET ${path}${spelled}`, 'Admin')
          expect(said).not.toMatch(/root:|BEGIN|"mac"/)
          // The console is not built here, and its pages say so.
          expect(status).not.toBe(500)
        }
      }
    }
  })
})

/** A text that an address can hold. */
function wellFormed(text: string): string {
  return text.toWellFormed()
}
