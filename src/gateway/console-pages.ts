/**
 * The console's files.
 *
 * Owns: what `npm run build:console` wrote, as it was when the gateway started, and the policy its pages run under.
 *
 * Invariants
 * C1  A file is answered only under a path that was listed at the start. No path of a request is ever looked up on the disk.
 * C2  A page runs scripts of this origin and no others. Styles that the editor writes carry a nonce of that one answer.
 * C3  What is named after its contents may be kept for ever; everything else is asked for again.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import { LockstepError } from '../shared/lockstep-error.ts'
import { consoleFolder } from '../source/console-folder.ts'

/** The address, below the gateway's, that signs somebody in with a one-time link. The token is in the fragment, which no log and no referrer sees. */
export function signInPath(token: string): string {
  return `/console/sign-in#token=${encodeURIComponent(token)}`
}

interface ConsoleFile {
  readonly body: Buffer
  readonly type: string
  readonly etag: string
  /** Whether its name says what is in it. */
  readonly lasting: boolean
  zipped?: Buffer
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
}
const fallbackType = 'application/octet-stream'

/** Adds the console to a gateway: `/console/…`, and `/` leads there. Without a built console it says how to build one. */
export function consolePages(folder: string | null = consoleFolder()): (app: FastifyInstance) => void {
  const files = folder === null ? new Map<string, ConsoleFile>() : readFiles(folder)
  const page =
    folder !== null && existsSync(join(folder, 'index.html'))
      ? readFileSync(join(folder, 'index.html'), 'utf8')
      : null
  return (app) => {
    app.get('/', (_request, reply) => reply.redirect('/console/'))
    app.get('/console', (_request, reply) => reply.redirect('/console/'))
    app.get('/console/*', (request: FastifyRequest<{ Params: { '*': string } }>, reply) => {
      const path = request.params['*']
      const file = files.get(path)
      if (file !== undefined) return sendFile(file, request, reply)
      if (path.startsWith('assets/') || extname(path) !== '')
        throw new LockstepError('not_found', 'There is no such file.')
      if (page === null) return sendNotBuilt(reply)
      return sendPage(page, reply)
    })
  }
}

/** Every file but the page itself and what the build keeps for itself. */
function readFiles(folder: string): Map<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>()
  if (!existsSync(folder)) return files
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length).split(sep).filter(Boolean).join('/')
    if (!entry.isFile() || path === 'index.html' || path.startsWith('.')) continue
    const body = readFileSync(join(entry.parentPath, entry.name))
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    const type = types[extname(path)] ?? fallbackType
    files.set(path, { body, type, etag, lasting: path.startsWith('assets/') })
  }
  return files
}

function sendFile(file: ConsoleFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    etag: file.etag,
    'cache-control': file.lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
  })
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
  reply.type(file.type)
  const mayZip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '') && file.body.length > 1024
  if (!mayZip) return reply.send(file.body)
  file.zipped ??= gzipSync(file.body)
  return reply.header('content-encoding', 'gzip').send(file.zipped)
}

function sendPage(page: string, reply: FastifyReply): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  reply.headers({ 'content-security-policy': policyOf(nonce), 'cache-control': 'no-store' })
  return reply
    .type('text/html; charset=utf-8')
    .send(page.replace('name="csp-nonce" content=""', `name="csp-nonce" content="${nonce}"`))
}

function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function sendNotBuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send('The console is not built.\nIn a checkout: npm run build:console, then start the gateway again.\n')
}
