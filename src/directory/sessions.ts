import { hash } from 'node:crypto'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ActLog, CredentialKind } from './act-log.ts'
import type { DirectoryFact } from './fact.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { found } from './refusal.ts'
import { isToken, makeSecret } from './secret-token.ts'
import type { Session, SignInWay, User } from './state.ts'

/** How long a session counts at most. */
export const sessionLifetime = 7 * 24 * 3_600_000
/** How long a session counts that nobody uses, unless it is set. */
export const idleLimit = 12 * 3_600_000
/** How often it is written down that a session is used: after a restart it may seem idle for this much longer. */
const touchEvery = 3_600_000

/** A session that was just begun; its token goes into the cookie. */
export interface NewSession {
  readonly session: string
  readonly user: string
  readonly token: string
  readonly expiresAt: number
}

const tokenPattern = /^(ses_[a-z2-7]{16})\.[\w-]{43}$/

/** Who is signed in. */
export class Sessions {
  readonly #log: ActLog
  readonly #idleMs: number
  readonly #seen = new Map<string, number>()

  constructor(log: ActLog, idleMs = idleLimit) {
    this.#log = log
    this.#idleMs = idleMs
  }

  /** Begins a session for somebody whose identity was established. Throws `unauthenticated` if the user is disabled. */
  async begin(
    tenant: string,
    user: string,
    how: SignInWay,
    agent: string,
    keep: readonly KeptWith[] = [],
  ): Promise<NewSession> {
    const principal = this.#log.find(tenant)?.users.get(user)?.email ?? 'nobody'
    return await this.#log.act({ tenant, principal }, (state, at) => {
      const known = state.users.get(user)
      if (known === undefined || known.disabled) throw signInFailed(how)
      const { fact, credential, made } = planSession(known, how, agent, at)
      return { facts: [fact], keep: [credential, ...keep], result: () => made }
    })
  }

  /** The session of a token, which counts as used now; null if there is none, it has ended, or it was idle for too long. */
  use(token: string): (Session & { readonly tenant: string }) | null {
    const id = tokenPattern.exec(token)?.[1]
    const credential = id === undefined ? null : this.#log.credential('session', id)
    if (credential === null || !isToken(token, credential.body['hash'])) return null
    const { tenant } = credential
    const session = this.#log.find(tenant)?.sessions.get(credential.id)
    const now = this.#log.now()
    if (session === undefined || !this.#isLive(session, now)) return null
    this.#seen.set(session.id, now)
    const written = Number(credential.body['seenAt'])
    if (now - written >= Math.min(touchEvery, this.#idleMs / 4))
      this.#writeSeen(tenant, session.id, { ...credential.body, seenAt: now })
    return { ...session, tenant }
  }

  /** Where the user is signed in, the newest first. */
  list(tenant: string, user: string): readonly Session[] {
    const now = this.#log.now()
    const own = [...this.#log.state(tenant).sessions.values()].filter((each) => each.user === user)
    return own.filter((each) => this.#isLive(each, now)).toReversed()
  }

  /** Ends a session of the user. Throws `not_found` if there is none. */
  async end(actor: Actor, user: string, id: string): Promise<void> {
    await this.#log.act(actor, (state) => {
      const session = state.sessions.get(id)
      found(session?.user === user ? session : null, 'session', id)
      return { facts: [{ type: 'session.ended', data: { id } }], forget: [id], result: () => undefined }
    })
    this.#seen.delete(id)
  }

  #isLive(session: Session, now: number): boolean {
    const written = Number(this.#log.credential('session', session.id)?.body['seenAt'])
    const seen = this.#seen.get(session.id) ?? written
    return now < session.expiresAt && now - seen < this.#idleMs
  }

  #writeSeen(tenant: string, id: string, body: { seenAt: number }): void {
    const kept = { id, kind: 'session' satisfies CredentialKind as CredentialKind, body }
    const write = this.#log.act({ tenant, principal: 'lockstep' }, (state) => ({
      facts: [],
      keep: state.sessions.has(id) ? [kept] : [],
      result: () => undefined,
    }))
    // Nobody waits for it: a store that cannot be written says so to whoever does, and the next use tries again.
    void write.catch(() => undefined)
  }
}

/** A credential that is written together with a session. */
export interface KeptWith {
  readonly id: string
  readonly kind: CredentialKind
  readonly body: JsonObject
}

/** What begins a session: the fact, what is kept of it, and what is given out. */
export function planSession(user: User, how: SignInWay, agent: string, at: number) {
  const id = newId('ses')
  const { token, hash } = makeSecret(`${id}.`)
  const expiresAt = at + sessionLifetime
  const shown = agent.replace(/\p{Cc}/gu, ' ').slice(0, 200)
  const fact: DirectoryFact = {
    type: 'session.started',
    data: { id, user: user.id, how, agent: shown.isWellFormed() ? shown : '', expiresAt },
  }
  const credential: KeptWith = { id, kind: 'session', body: { hash, seenAt: at } }
  const made: NewSession = { session: id, user: user.id, token, expiresAt }
  return { fact, credential, made }
}

/** What a page must send along to change something with the session of the cookie: made from the token, and of no use without it. */
export function csrfToken(token: string): string {
  return hash('sha256', `csrf ${token}`, 'base64url')
}

/** The error for everybody who could not show who they are; it does not say what was wrong. */
export function signInFailed(how: SignInWay): LockstepError {
  const hints: Record<SignInWay, string> = {
    link: 'A link counts once, and not for long. Ask for another one.',
    password: 'Check the address and the password, or ask for a link.',
    passkey: 'Try again, or sign in in another way.',
  }
  return new LockstepError('unauthenticated', 'That does not sign you in.', { hint: hints[how] })
}
