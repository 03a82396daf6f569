import { spawnSync } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { OpenPlatform } from '../../src/app-serve.ts'
import type { Role } from '../../src/api/permission.ts'
import { createClient, type Client } from '../../src/client/index.ts'
import { localTenant } from '../../src/directory/open-directory.ts'
import { systemActor } from '../../src/directory/principal.ts'
import { signInPath } from '../../src/gateway/console-pages.ts'
import { createPlatformGateway } from '../../src/gateway/platform-gateway.ts'
import { publishSamples } from '../../src/platform/samples.ts'
import { loadConfigDocument } from '../../src/source/load-config.ts'
import { isConsoleStale } from '../../scripts/stale-console.ts'
import { makePlatformHome } from '../../src/gateway/platform-home.suite.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The real thing behind the console: gateway, engine and store in a folder of their own, with the samples of a first start. */
export interface ServedConsole {
  readonly url: string
  readonly port: number
  readonly platform: OpenPlatform
  /** The run that waits for somebody on call. */
  readonly firstRun: string
  /** A one-time link for somebody, who is added with the role if there is nobody of that address. */
  link(email: string, role: Role): Promise<string>
  /** A client with a key of that role. */
  client(role: Role): Promise<Client>
  close(): Promise<void>
}

/** Builds the console if that is needed, and serves it. Every answer is held against the contract. */
export async function serveConsole(): Promise<ServedConsole> {
  buildConsole()
  const home = makePlatformHome(
    loadConfigDocument(
      fileURLToPath(new URL('../../examples/platform/lockstep.config.yaml', import.meta.url)),
    ),
  )
  const place = { url: '' }
  const platform = await home.open({
    url: () => place.url,
    set: { rateLimit: { perSecond: 1000, burst: 10_000 } },
  })
  const app = await createPlatformGateway(platform, { checkAnswers: true })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  place.url = `http://127.0.0.1:${port}`
  const firstRun = await publishSamples(platform)
  const actor = systemActor(localTenant)
  const { directory } = platform
  return {
    url: place.url,
    port,
    platform,
    firstRun,
    async link(email, role) {
      const known = directory.people.list(localTenant).find((each) => each.email === email)
      const user = known ?? (await directory.people.add(actor, { email, name: nameOf(email), role })).user
      const { token } = await directory.links.make(actor, user.id)
      return `${place.url}${signInPath(token)}`
    },
    async client(role) {
      const { secret } = await directory.keys.make(actor, {
        name: `test ${role}`,
        role,
        project: null,
        expiresAt: null,
      })
      return createClient({ url: place.url, key: secret })
    },
    async close() {
      await app.close()
      await home.remove()
    },
  }
}

/** As a process of its own: what builds for a browser changes how modules are found. */
function buildConsole(): void {
  if (!isConsoleStale(root)) return
  const vite = fileURLToPath(new URL('../../node_modules/vite/bin/vite.js', import.meta.url))
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [vite, 'build', '--config', 'console/vite.config.ts', '--logLevel', 'error'],
    { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_ENV: 'production' } },
  )
  if (status !== 0) throw new Error(`the console was not built:\n${stdout}${stderr}`)
}

function nameOf(email: string): string {
  const [name = email] = email.split('@')
  return name[0]!.toUpperCase() + name.slice(1)
}
