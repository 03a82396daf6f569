import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { contract } from '../api/contract.ts'
import type { Door } from './door.ts'
import { openApi } from './open-api.ts'
import { referencePages, renderReference } from './reference-pages.ts'

const door = {
  identify: async ({ headers }) => (headers['x-api-key'] === undefined ? null : ({} as never)),
  admit: () => undefined,
} as Pick<Door, 'identify' | 'admit'> as Door

async function ask(url: string, headers: Record<string, string> = { 'x-api-key': 'ada' }) {
  const app = Fastify()
  referencePages(app, door, '1')
  try {
    return await app.inject({ url, headers })
  } finally {
    await app.close()
  }
}

test('R1: only who is signed in reads the pages', async () => {
  for (const url of ['/docs', '/docs/errors/forbidden']) {
    expect((await ask(url, {})).body).toContain('unauthenticated')
    expect((await ask(url)).statusCode).toBe(200)
  }
})

test('every route is on the page, and every code has its own', async () => {
  const { body } = await ask('/docs')
  for (const name of Object.keys(contract)) expect(body).toContain(`id="${name}"`)
  expect((await ask('/docs/errors/forbidden')).body).toMatch(/^# forbidden/)
  expect((await ask('/docs/errors/..%2f..%2fpackage')).statusCode).not.toBe(200)
})

test('R2: nothing of the description becomes markup, and the policy runs no script', async () => {
  const page = renderReference({
    paths: {
      '/<b>': {
        get: {
          tags: ['<i>'],
          operationId: '"x',
          summary: '<script>',
          description: '&',
          parameters: [],
          responses: { 200: {} },
        },
      },
    },
  })
  expect(page).not.toMatch(/<script>|<b>|<i>|id=""x/)
  const { headers, body } = await ask('/docs')
  expect(headers['content-security-policy']).toMatch(/default-src 'none'; style-src 'sha256-/)
  expect(body).not.toContain('<script')
  expect(Object.keys(openApi('1')['paths'] as object).length).toBeGreaterThan(40)
})
