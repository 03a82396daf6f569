import { LockstepError } from '../shared/lockstep-error.ts'
import type { ActLog } from './act-log.ts'
import { PasswordHasher, type PasswordCost } from './password-hasher.ts'
import type { People } from './people.ts'
import type { Actor } from './principal.ts'
import { found } from './refusal.ts'
import { SignInBackoff } from './sign-in-backoff.ts'
import { signInFailed, type NewSession, type Sessions } from './sessions.ts'

/** For how long after signing in with a link the password can be set without the one before. */
const recoveryTime = 15 * 60_000

/** An attempt to sign in with a password. */
export interface PasswordAttempt {
  readonly tenant: string
  readonly email: string
  readonly password: string
  /** From where. */
  readonly address: string
  readonly agent: string
}

/** The passwords of users. */
export class Passwords {
  readonly #log: ActLog
  readonly #people: People
  readonly #sessions: Sessions
  readonly #backoff: SignInBackoff
  readonly #hasher: PasswordHasher

  constructor(log: ActLog, people: People, sessions: Sessions, cost?: PasswordCost) {
    this.#hasher = new PasswordHasher(cost)
    this.#log = log
    this.#people = people
    this.#sessions = sessions
    this.#backoff = new SignInBackoff(log.now)
  }

  /**
   * Signs in. Throws `unauthenticated`, after the same time whether there is such a user or not, and `rate_limited` for who was wrong too often.
   */
  async signIn({ tenant, email, password, address, agent }: PasswordAttempt): Promise<NewSession> {
    const account = `${tenant} ${email.toLowerCase()}`
    this.#backoff.check(account, address)
    // Counted before it is known: of many attempts at once none is free.
    this.#backoff.failed(account, address)
    const user = this.#people.byEmail(tenant, email)
    const right = await this.#hasher.check(password, user === null ? null : this.#hashOf(user.id))
    if (!right || user === null || user.disabled) throw signInFailed('password')
    this.#backoff.succeeded(account, address)
    return await this.#sessions.begin(tenant, user.id, 'password', agent)
  }

  /**
   * Sets the password of a user, and ends all other sessions. Throws `forbidden` if there was one and the current one is not given rightly, unless the
   * session was just begun with a link. `session` is the one that stays.
   */
  async set(actor: Actor, user: string, { current, password, session, address }: NewPassword): Promise<void> {
    const known = found(this.#people.find(actor.tenant, user), 'user', user)
    const account = `${actor.tenant} ${known.email}`
    const before = this.#hashOf(user)
    if (before !== null && !this.#isRecovering(actor.tenant, session)) {
      this.#backoff.check(account, address)
      this.#backoff.failed(account, address)
      if (!(await this.#hasher.check(current ?? '', before)))
        throw new LockstepError('forbidden', 'The current password is another one.', {
          hint: 'Give the current password. Who has forgotten it asks an Admin for a link, and sets another one right after signing in with it.',
        })
      this.#backoff.succeeded(account, address)
    }
    const hash = await this.#hasher.hash(password)
    await this.#log.act(actor, (state) => {
      // Who set another one meanwhile knew the current one, too; this one was not asked about that.
      if (this.#hashOf(user) !== before)
        throw new LockstepError('version_conflict', 'The password was changed meanwhile.')
      const ended = [...state.sessions.values(), ...state.links.values()].filter(
        (each) => each.user === user && each.id !== session,
      )
      return {
        facts: [
          { type: 'password.set', data: { user } },
          ...ended
            .filter(({ id }) => state.sessions.has(id))
            .map(({ id }) => ({ type: 'session.ended' as const, data: { id } })),
          ...ended
            .filter(({ id }) => state.links.has(id))
            .map(({ id }) => ({ type: 'link.used' as const, data: { id } })),
        ],
        keep: [{ id: passwordId(user), kind: 'password', body: { hash } }],
        forget: ended.map(({ id }) => id),
        result: () => undefined,
      }
    })
  }

  /** Who has just come in by a link may set a password without knowing the one before. */
  #isRecovering(tenant: string, session: string | null): boolean {
    const begun = this.#log.state(tenant).sessions.get(session ?? '')
    return begun?.how === 'link' && this.#log.now() - begun.since < recoveryTime
  }

  #hashOf(user: string): string | null {
    const hash = this.#log.credential('password', passwordId(user))?.body['hash']
    return typeof hash === 'string' ? hash : null
  }
}

/** A password to be set. */
export interface NewPassword {
  readonly current?: string | undefined
  readonly password: string
  /** The session that goes on. */
  readonly session: string | null
  readonly address: string
}

function passwordId(user: string): string {
  return `password of ${user}`
}
