import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { join } from 'node:path'
import type { Platform } from '../platform/platform.ts'
import { SecretStore } from '../source/secret-store.ts'
import { SignatureBook } from '../webhook/signature-book.ts'
import { AccessDoor } from './access-door.ts'
import { accessHandlers } from './access-routes.ts'
import type { AccessSetup } from './access-setup.ts'
import { AnswerBook } from './answer-book.ts'
import { consolePages } from './console-pages.ts'
import { createGateway } from './create-gateway.ts'
import type { Handlers } from './handler.ts'
import { meHandlers } from './me-routes.ts'
import { policyHandlers } from './policy-routes.ts'
import { referencePages } from './reference-pages.ts'
import { runFamilyHandlers } from './run-handlers.ts'
import { runSetup, type RunSetup } from './run-setup.ts'
import { runbookHandlers } from './runbook-routes.ts'
import { signInHandlers } from './sign-in-routes.ts'
import { systemHandlers } from './system-routes.ts'
import { webhookHandlers } from './webhook-routes.ts'

/** How the gateway of a platform is made. */
export interface PlatformGatewayOptions {
  /** Where is logged; nothing without it. */
  readonly log?: NodeJS.WritableStream
  /** Whether every answer is held against the contract, as tests want it. */
  readonly checkAnswers?: boolean
  /** The folder of the built console; the usual one if it is not said. */
  readonly console?: string
  /** How often who follows a run is sent a sign of life, and looked at again, in milliseconds; 15,000 if it is not said. */
  readonly beatMs?: number
}

/** Makes the gateway of a platform; it listens to nothing yet. Closing it does not close the platform. */
export async function createPlatformGateway(
  platform: Platform,
  options: PlatformGatewayOptions = {},
): Promise<FastifyInstance> {
  const { settings, directory, metrics } = platform
  const { publicUrl, corsOrigins, rateLimit, bodyLimitBytes } = settings
  const trusted = { ...(publicUrl === null ? {} : { publicUrl }), origins: [] }
  const answers = new AnswerBook(join(settings.home, 'answers.db'), () => platform.now())
  const signatures = new SignatureBook(join(settings.home, 'hooks.db'), () => platform.now())
  const door = new AccessDoor({ directory, rate: rateLimit, now: () => platform.now(), ...trusted })
  const runs = runSetup(platform, door, options.beatMs === undefined ? {} : { beatMs: options.beatMs })
  const app = await createGateway({
    handlers: platformHandlers(platform, trusted, runs, signatures),
    door,
    answers,
    checkAnswers: options.checkAnswers ?? false,
    bodyLimit: bodyLimitBytes,
    origins: corsOrigins,
    logger: options.log === undefined ? false : loggerOptions(settings.logLevel, options.log),
    // Only who says under which address people reach it has a proxy in front.
    trustProxy: publicUrl === null ? false : 'loopback, linklocal, uniquelocal',
    pages: (made) => {
      made.addHook('onResponse', (request, reply, done) => {
        const route = request.routeOptions.url ?? 'none'
        metrics.request(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
        done()
      })
      made.addHook('onClose', (_, done) => {
        runs.streams.close()
        answers.close()
        signatures.close()
        done()
      })
      referencePages(made, door, platform.version)
      return consolePages(options.console)(made)
    },
  })
  return app
}

function platformHandlers(
  platform: Platform,
  trusted: AccessSetup['trusted'],
  runs: RunSetup,
  signatures: SignatureBook,
): Handlers {
  const { directory, overview, settings } = platform
  const setup: AccessSetup = {
    directory,
    trusted,
    secrets: new SecretStore({ home: settings.home }),
    holdings: async (tenant, project) => {
      const { items } = await overview.runs({ tenant, projects: [project] }, { limit: 1 })
      return items.length > 0 ? ['runs'] : []
    },
  }
  return {
    ...signInHandlers(setup),
    ...meHandlers(setup),
    ...accessHandlers(setup),
    ...runbookHandlers(platform),
    ...policyHandlers(platform),
    ...webhookHandlers(platform, signatures),
    ...systemHandlers(platform, () => runs.streams.size),
    ...runFamilyHandlers(runs),
  }
}

/** What is logged of a request: never a header, a body, or what stands behind the question mark. */
function loggerOptions(level: string, stream: NodeJS.WritableStream): FastifyServerOptions['logger'] {
  return {
    level,
    stream: stream as never,
    serializers: {
      req: ({ method, url, ip }: { method: string; url: string; ip: string }) => ({
        method,
        path: url.split('?', 1)[0],
        remoteAddress: ip,
      }),
      err: ({ name, message, stack }: Error) => ({ type: name, message, stack: stack ?? '' }),
    } as never,
  }
}
