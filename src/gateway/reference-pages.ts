/**
 * The description of the interface as a page to read, and the pages of errors that problems name.
 *
 * Invariants
 * R1  Only who is signed in reads them, as with everything else.
 * R2  The page is made of the description alone, escaped, and runs no script.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Door } from './door.ts'
import { openApi } from './open-api.ts'

const errorFolder = fileURLToPath(new URL('../../docs/errors/', import.meta.url))

/** Adds `/docs` and `/docs/errors/{code}`. */
export function referencePages(app: FastifyInstance, door: Door, version: string): void {
  const errors = readErrors()
  let page: string | null = null
  app.get('/docs', async (request, reply) => {
    await assertKnown(door, request)
    page ??= renderReference(openApi(version))
    return reply
      .header(
        'content-security-policy',
        `default-src 'none'; style-src '${styleHash}'; frame-ancestors 'none'; base-uri 'none'`,
      )
      .type('text/html; charset=utf-8')
      .send(page)
  })
  app.get<{ Params: { code: string } }>('/docs/errors/:code', async (request, reply) => {
    await assertKnown(door, request)
    const text = errors.get(request.params.code)
    if (text === undefined) throw new LockstepError('not_found', 'There is no such code.')
    return reply.type('text/plain; charset=utf-8').send(text)
  })
}

/** R1. */
async function assertKnown(door: Door, request: FastifyRequest): Promise<void> {
  const principal = await door.identify(request)
  door.admit(request, principal)
  if (principal === null) throw new LockstepError('unauthenticated', 'Sign in, or send an API key.')
}

function readErrors(): ReadonlyMap<string, string> {
  const files = readdirSync(errorFolder).filter((name) => name.endsWith('.md'))
  return new Map(
    files.map((name) => [name.slice(0, -'.md'.length), readFileSync(`${errorFolder}${name}`, 'utf8')]),
  )
}

const style = `
:root { color-scheme: light dark; font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.9em; }
section { border-top: 1px solid light-dark(#d5dbe0, #333c42); padding: 0.75rem 0; }
h2 { margin-top: 2.5rem; } h3 { margin: 0; font-size: 1rem; }
.verb { display: inline-block; min-width: 4.2em; font-weight: 700; color: light-dark(#0b6575, #5cc4d3); }
.about { color: light-dark(#54616a, #9eabb3); margin: 0.2rem 0; }
table { border-collapse: collapse; margin: 0.4rem 0; } td, th { text-align: left; padding: 0.1rem 1rem 0.1rem 0; vertical-align: top; }
details { margin: 0.3rem 0; } pre { overflow: auto; padding: 0.6rem; background: light-dark(#eef0f2, #12171a); border-radius: 5px; }
nav a { margin-right: 0.9rem; }
`
const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`

/** The page (R2). */
export function renderReference(description: JsonObject): string {
  const operations = operationsOf(description)
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  const parts = tags.map((tag) => {
    const own = operations.filter((operation) => operation.tag === tag)
    return `<h2 id="${escape(tag)}">${escape(tag)}</h2>${own.map(renderOperation).join('')}`
  })
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lockstep API</title><style>${style}</style></head><body>
<h1>Lockstep API</h1>
<p>OpenAPI 3.1 in <a href="/openapi.json">/openapi.json</a>. Errors are <code>application/problem+json</code>; each names a code, and <code>/docs/errors/{code}</code> says how to mend it.</p>
<nav aria-label="Parts">${tags.map((tag) => `<a href="#${escape(tag)}">${escape(tag)}</a>`).join('')}</nav>
${parts.join('\n')}</body></html>`
}

interface Operation {
  readonly tag: string
  readonly method: string
  readonly path: string
  readonly data: JsonObject
}

function operationsOf({ paths }: JsonObject): Operation[] {
  return Object.entries(paths as JsonObject).flatMap(([path, methods]) =>
    Object.entries(methods as JsonObject).map(([method, data]) => {
      const [tag] = (data as { tags: readonly string[] }).tags
      return { tag: tag!, method: method.toUpperCase(), path, data: data as JsonObject }
    }),
  )
}

function renderOperation({ method, path, data }: Operation): string {
  const parameters = data['parameters'] as unknown as readonly {
    name: string
    in: string
    required: boolean
    description?: string
  }[]
  const rows = parameters.map(
    (each) =>
      `<tr><td><code>${escape(each.name)}</code></td><td>${escape(each.in)}${each.required ? ', needed' : ''}</td><td>${escape(each.description ?? '')}</td></tr>`,
  )
  const [status, answer] = Object.entries(data['responses'] as JsonObject)[0]!
  return `<section id="${escape(String(data['operationId']))}"><h3><span class="verb">${method}</span> <code>${escape(path)}</code></h3>
<p>${escape(String(data['summary']))}</p><p class="about">${escape(String(data['description']))}</p>
${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${renderContent('Body', (data['requestBody'] as JsonObject | undefined)?.['content'])}${renderContent(`Answer ${status}`, (answer as JsonObject)['content'])}</section>`
}

function renderContent(name: string, content: Json | undefined): string {
  return Object.entries((content ?? {}) as Record<string, { schema: Json }>)
    .map(
      ([type, { schema }]) =>
        `<details><summary>${escape(name)}, <code>${escape(type)}</code></summary><pre>${escape(JSON.stringify(schema, null, 2))}</pre></details>`,
    )
    .join('')
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
