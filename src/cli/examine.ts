/** What `lockstep doctor` looks at, each by itself: one thing that is not in order keeps no other from being looked at. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { connectEngine, inspectStore, openModel } from '../app.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { consoleFolder } from '../source/console-folder.ts'
import { readServerNote } from '../source/server-note.ts'
import type { Settings } from '../source/settings.ts'
import { readWorkTree } from '../source/read-work-tree.ts'

/** What was found of one thing; `remedy` says what to do where something is to be done. */
export interface Finding {
  readonly what: string
  readonly verdict: 'ok' | 'note' | 'failed'
  readonly says: string
  readonly remedy: string | null
}

type Judged = Omit<Finding, 'what'>

const ok = (says: string): Judged => ({ verdict: 'ok', says, remedy: null })
const note = (says: string, remedy: string): Judged => ({ verdict: 'note', says, remedy })
const failed = (says: string, remedy: string): Judged => ({ verdict: 'failed', says, remedy })

/** Looks at everything that `lockstep serve` needs, in the order in which it needs it. Changes nothing, and never rejects. */
export async function examine(settings: Settings, store: string, now: number): Promise<Finding[]> {
  const checks: readonly (readonly [string, () => Promise<Judged> | Judged])[] = [
    ['Node', () => examineNode(process.versions.node)],
    ['data folder', () => examineHome(settings.home)],
    ['store', () => examineStore(settings.home, store)],
    ['keys', () => examineKeys(settings.home)],
    ['clock', () => examineClock(settings.home, now)],
    ['engine', () => examineEngine(settings.home)],
    ['port', () => examinePort(settings)],
    ['address', () => examineAddress(settings)],
    ['model', () => examineModel(settings)],
    ['checkout', () => examineCheckout(settings.from)],
    ['console', () => examineConsole()],
  ]
  const findings: Finding[] = []
  for (const [what, check] of checks) {
    try {
      findings.push({ what, ...(await check()) })
    } catch (error) {
      const hint = LockstepError.isInstance(error) ? error.hint : null
      findings.push({ what, ...failed(messageOf(error), hint ?? 'see the message') })
    }
  }
  return findings
}

/** Says whether a version of Node is new enough. */
export function examineNode(version: string): Judged {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18)
    ? ok(version)
    : failed(`${version} is too old`, 'use Node 22.18 or newer')
}

function examineHome(home: string): Judged {
  let at = home
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at)
  try {
    accessSync(at, constants.W_OK)
  } catch {
    return failed(
      `${at} cannot be written`,
      'set LOCKSTEP_HOME to a folder of yours, or give yourself the permission',
    )
  }
  return at === home ? ok(home) : ok(`${home}, made at the first start`)
}

async function examineStore(home: string, store: string): Promise<Judged> {
  if (store !== 'sqlite')
    return failed(
      `LOCKSTEP_STORE is ${store}, and the server keeps runs in the chained store`,
      'unset LOCKSTEP_STORE',
    )
  const look = await inspectStore(home)
  if (look === null) return ok('none yet, made at the first start')
  if (look.version > look.newest)
    return failed(
      `form ${look.version} was written by a newer Lockstep; this one knows ${look.newest}`,
      'use the newer Lockstep',
    )
  const told = `form ${look.version} of ${look.newest}, ${look.bytes} bytes`
  return ok(look.version < look.newest ? `${told}; it is brought to the newest at the next start` : told)
}

async function examineKeys(home: string): Promise<Judged> {
  const folder = join(home, 'keys')
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d{4}\.json$/.test(name)) : []
  if (files.length === 0) {
    return (await inspectStore(home)) === null
      ? ok('none yet, made at the first start')
      : failed(`${folder} holds none`, 'restore the keys from a copy: without them the store cannot be read')
  }
  const open = files.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)
  return process.platform !== 'win32' && open.length > 0
    ? failed(`${open.join(', ')} can be read by others`, `chmod 600 ${join(folder, '*.json')}`)
    : ok(`${files.length} generation${files.length === 1 ? '' : 's'}`)
}

async function examineClock(home: string, now: number): Promise<Judged> {
  const lastAt = (await inspectStore(home))?.lastAt ?? null
  const time = new Date(now).toISOString()
  if (lastAt === null || now >= lastAt) return ok(time)
  return failed(
    `it says ${time}, which is before the last entry of the store (${new Date(lastAt).toISOString()})`,
    'set the clock of this machine: approvals and limits go by it',
  )
}

async function examineEngine(home: string): Promise<Judged> {
  const engine = await connectEngine(home)
  if (engine === null) return ok('free')
  engine.close()
  const server = readServerNote(home, engine.pid)
  return server === null
    ? note(
        `process ${engine.pid} works on the store`,
        'lockstep serve has to wait until it has ended, or needs another LOCKSTEP_HOME',
      )
    : ok(`process ${engine.pid} serves ${server.url}`)
}

async function examinePort({ home, host, port }: Settings): Promise<Judged> {
  const code = await tryToListen(host, port)
  const place = `${host}:${port}`
  if (code === null) return ok(port === 0 ? 'any that is free' : `${place} is free`)
  if (code === 'EADDRINUSE') {
    const engine = await connectEngine(home).catch(() => null)
    engine?.close()
    const server = engine === null ? null : readServerNote(home, engine.pid)
    if (server !== null && new URL(server.url).port === String(port))
      return ok(`${place} is our own server, process ${server.pid}`)
    return failed(`${place} is taken by another program`, 'end that one, or lockstep serve --port N')
  }
  if (code === 'EACCES') return failed(`${place} is not allowed to this user`, 'take a port above 1023')
  return failed(`${place} cannot be listened on (${code})`, 'set --host to an address of this machine')
}

/** Why an address cannot be listened on; null if it can. */
async function tryToListen(host: string, port: number): Promise<string | null> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

function examineAddress({ host, publicUrl }: Settings): Judged {
  if (/^(?:127\.\d+\.\d+\.\d+|localhost|::1)$/.test(host)) return ok('this machine only')
  return publicUrl?.startsWith('https:') === true
    ? ok(`people reach it at ${publicUrl}`)
    : note(
        `${host} can be reached from other machines, and nothing says that TLS is in front`,
        'put a proxy with TLS in front and set --public-url https://…',
      )
}

async function examineModel({ llm }: Settings): Promise<Judged> {
  if (llm.model === 'none') return ok('none is asked (LLM_PROVIDER=stub): runbooks need none')
  await openModel(llm.model, { input: process.stdin, output: process.stderr })
  return ok(`${llm.model}; it was not asked`)
}

async function examineCheckout(from: string | null): Promise<Judged> {
  if (from === null) return ok('none')
  const { commit, changes } = await readWorkTree(from)
  return changes.length === 0
    ? ok(`${from} at ${commit.slice(0, 12)}`)
    : note(`${from} has what commit ${commit.slice(0, 12)} does not`, 'commit it: only commits are served')
}

function examineConsole(): Judged {
  return consoleFolder() === null
    ? note('not built; the HTTP interface works without it', 'npm run build:console')
    : ok('built')
}
