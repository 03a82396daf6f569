import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { RouteName } from '../api/contract.ts'
import type { RouteShape } from '../api/route.ts'
import type { Role } from '../api/permission.ts'
import { closeTrials, openTrial, type Trial } from '../directory/trial-directory.suite.ts'
import { AccessDoor, type AccessDoorOptions } from './access-door.ts'
import { accessHandlers } from './access-routes.ts'
import type { SecretKeeper } from './access-setup.ts'
import { AnswerBook } from './answer-book.ts'
import { createGateway } from './create-gateway.ts'
import type { Asked, Handlers } from './handler.ts'
import { meHandlers } from './me-routes.ts'
import { signInHandlers } from './sign-in-routes.ts'

/** Secrets in memory, kept as the real store is asked to. */
export class TrialSecrets implements SecretKeeper {
  readonly values = new Map<string, string>()
  list() {
    return Array.from(this.values.keys(), (name) => ({ name }))
  }
  async set(name: string, value: string) {
    this.values.set(name, value)
  }
  async remove(name: string) {
    this.values.delete(name)
  }
}

/** A gateway whose routes about access are the real ones; every other one answers that it was reached. */
export interface TrialGateway extends Trial {
  readonly app: FastifyInstance
  readonly secrets: TrialSecrets
  /** Sends a request, with a key or a session. */
  send(request: string, by?: Sender | null, more?: TrialRequest): Promise<LightMyRequestResponse>
  /** Signs somebody in. */
  signIn(user: string): Promise<Sender>
  /** Makes a key. */
  key(role: Role, project?: string | null): Promise<Sender>
}

/** The headers that say who sends. */
export type Sender = Readonly<Record<string, string>>
export type TrialRequest = Pick<InjectOptions, 'payload' | 'headers' | 'remoteAddress'>

const closing: (() => unknown)[] = []

/** Closes what was opened; call after the tests of a file. */
export async function closeTrialGateways(): Promise<void> {
  for (const close of closing.splice(0)) await close()
  await closeTrials()
}

/** Opens a gateway over a new directory; `closeTrialGateways` closes it. */
export async function openTrialGateway(options: Partial<AccessDoorOptions> = {}): Promise<TrialGateway> {
  const trial = await openTrial()
  const { directory, clock } = trial
  const secrets = new TrialSecrets()
  const setup = { directory, trusted: options, secrets }
  const real = { ...accessHandlers(setup), ...meHandlers(setup), ...signInHandlers(setup) }
  const handlers = new Proxy(real as Partial<Handlers>, {
    get: (known, name: RouteName) =>
      known[name] ?? (({ reply }: Asked<RouteShape>) => void reply.header('x-reached', name).send('')),
  }) as Handlers
  const answers = new AnswerBook(':memory:', clock.now)
  const rate = { perSecond: 1e6, burst: 1e6 }
  const door = new AccessDoor({ rate, now: clock.now, ...options, directory })
  const app = await createGateway({ handlers, door, answers, checkAnswers: true })
  closing.push(
    () => app.close(),
    () => answers.close(),
  )
  const send: TrialGateway['send'] = async (request, by = null, { payload, headers, remoteAddress } = {}) => {
    const [method, url] = request.split(' ') as ['GET', string]
    return await app.inject({
      method,
      url,
      headers: { ...by, ...headers },
      ...(payload === undefined ? {} : { payload }),
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    })
  }
  const signIn = async (user: string): Promise<Sender> => {
    const link = await directory.links.make(trial.admin, user)
    const signed = await send('POST /auth/link', null, { payload: { token: link.token } })
    const cookie = String(signed.headers['set-cookie']).split(';')[0]!
    const { csrfToken } = (await send('GET /me', { cookie })).json<{ csrfToken: string }>()
    return { cookie, 'x-csrf-token': csrfToken }
  }
  const key = async (role: Role, project: string | null = null): Promise<Sender> => {
    const { secret } = await directory.keys.make(trial.admin, { name: role, role, project, expiresAt: null })
    return { authorization: `Bearer ${secret}` }
  }
  return { ...trial, app, secrets, send, signIn, key }
}
