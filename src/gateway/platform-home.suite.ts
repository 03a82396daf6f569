import type { FastifyInstance } from 'fastify'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlatform, type OpenPlatform, type PlatformOptions } from '../app-serve.ts'
import { roles, type Role } from '../api/permission.ts'
import { systemActor } from '../directory/principal.ts'
import { createPlatformGateway } from './platform-gateway.ts'
import type { Config } from '../source/config.ts'
import { loadSettings } from '../source/load-settings.ts'
import type { Settings } from '../source/settings.ts'

/** A folder of its own for a platform, and what opens one there. */
export interface PlatformHome {
  readonly folder: string
  open(options?: Partial<PlatformOptions> & { readonly set?: Partial<Settings> }): Promise<OpenPlatform>
  /** Has something closed before the platform. */
  closing(close: () => Promise<unknown>): void
  /** Closes what was opened, and removes the folder. */
  remove(): Promise<void>
}

/** Makes a folder for a platform. */
export function makePlatformHome(config: Config | null = null): PlatformHome {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-platform-'))
  const opened: OpenPlatform[] = []
  const before: (() => Promise<unknown>)[] = []
  return {
    folder,
    async open({ set = {}, ...options } = {}) {
      const { settings } = loadSettings({ env: { LOCKSTEP_HOME: folder, LOCKSTEP_PORT: '0' } })
      const platform = await openPlatform({
        config,
        url: () => 'http://lockstep.test',
        ...options,
        settings: { ...settings, ...set },
      })
      opened.push(platform)
      return platform
    },
    closing: (close) => void before.push(close),
    async remove() {
      for (const close of before) await close()
      for (const platform of opened) await platform.close({ graceMs: 1000 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until something holds, for as long as a test may take. */
export async function until<Value>(look: () => Promise<Value | null | undefined | false>): Promise<Value> {
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    await new Promise((resolve) => void setTimeout(resolve, 10))
  }
}

/** What a request was answered. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test expects of it, the test says
  readonly body: any
}

/** A platform with its gateway, and keys of every role. */
export interface TrialServer {
  readonly platform: OpenPlatform
  readonly app: FastifyInstance
  /** Sends `METHOD /path`, by a key of a role in the first tenant, or by nobody. */
  send(
    request: string,
    by: Role | null,
    payload?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answered>
}

/** Opens a server over a folder; requests are injected, and every answer is held against the contract. */
export async function openTrialServer(
  home: PlatformHome,
  options: Parameters<PlatformHome['open']>[0] = {},
): Promise<TrialServer> {
  const { set, ...others } = options
  const rateLimit = { perSecond: 100_000, burst: 1_000_000 }
  const platform = await home.open({ ...others, set: { rateLimit, ...set } })
  const app = await createPlatformGateway(platform, { checkAnswers: true, console: home.folder })
  home.closing(() => app.close())
  const keys = new Map<Role, string>()
  for (const role of roles) {
    const wanted = { name: role, role, project: null, expiresAt: null }
    keys.set(role, (await platform.directory.keys.make(systemActor('local'), wanted)).secret)
  }
  return {
    platform,
    app,
    async send(request, by, payload, headers = {}) {
      const [method, url] = request.split(' ') as ['GET', string]
      const key = by === null ? {} : { 'x-api-key': keys.get(by)! }
      const answer = await app.inject({
        method,
        url,
        headers: { ...key, ...headers },
        ...(payload === undefined ? {} : { payload: payload as object }),
      })
      const isJson = /[/+]json\b/.test(String(answer.headers['content-type']))
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: answer.body,
        body: isJson ? JSON.parse(answer.body) : null,
      }
    },
  }
}
