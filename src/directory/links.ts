import type { ActLog, CredentialKind } from './act-log.ts'
import type { DirectoryFact } from './fact.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { found } from './refusal.ts'
import { isToken, makeSecret } from './secret-token.ts'
import { planSession, signInFailed, type NewSession } from './sessions.ts'

/** How long a link counts, unless it is set. */
export const linkLifetime = 15 * 60_000
/** How long the links of the first start count. */
export const firstLinkLifetime = 24 * 3_600_000

/** A link that was just made; its token is shown once. */
export interface NewLink {
  readonly id: string
  readonly user: string
  readonly token: string
  readonly expiresAt: number
}

const tokenPattern = /^(lnk_[a-z2-7]{16})\.[\w-]{43}$/

/** Links that sign somebody in, once. */
export class Links {
  readonly #log: ActLog
  readonly #linkMs: number

  constructor(log: ActLog, linkMs = linkLifetime) {
    this.#log = log
    this.#linkMs = linkMs
  }

  /** Makes a link for somebody. Throws `not_found` if there is no such user, or it is disabled. */
  async make(actor: Actor, user: string): Promise<NewLink> {
    return await this.#log.act(actor, (state, at) => {
      const known = state.users.get(user)
      found(known?.disabled === false ? known : null, 'enabled user', user)
      const { fact, credential, made } = planLink(user, at, this.#linkMs)
      return { facts: [fact], keep: [credential], result: () => made }
    })
  }

  /** Uses a link up for a session. Throws `unauthenticated` if it is unknown, used or too old; of several who use it at once one gets in. */
  async use(token: string, agent: string): Promise<NewSession> {
    const id = tokenPattern.exec(token)?.[1]
    if (id === undefined) throw signInFailed('link')
    let credential = this.#log.credential('link', id)
    // Another process, such as a command on this machine, may have made it.
    if (credential === null) for (const tenant of this.#log.tenants) await this.#log.refresh(tenant.id)
    credential = this.#log.credential('link', id)
    if (credential === null || !isToken(token, credential.body['hash'])) throw signInFailed('link')
    const { tenant } = credential
    const user = this.#log.find(tenant)?.users.get(this.#log.find(tenant)?.links.get(id)?.user ?? '')
    const author = { tenant, principal: user?.email ?? 'nobody' }
    return await this.#log.act(author, (state, at) => {
      const link = state.links.get(id)
      const known = state.users.get(link?.user ?? '')
      if (link === undefined || link.expiresAt <= at || known === undefined || known.disabled)
        throw signInFailed('link')
      const session = planSession(known, 'link', agent, at)
      return {
        facts: [{ type: 'link.used', data: { id } }, session.fact],
        keep: [session.credential],
        forget: [id],
        result: () => session.made,
      }
    })
  }
}

/** What makes a link: the fact, what is kept of it, and what is shown. */
export function planLink(user: string, at: number, lifetime: number) {
  const id = newId('lnk')
  const { token, hash } = makeSecret(`${id}.`)
  const expiresAt = at + lifetime
  const fact: DirectoryFact = { type: 'link.made', data: { id, user, expiresAt } }
  const credential = { id, kind: 'link' satisfies CredentialKind as CredentialKind, body: { hash } }
  const made: NewLink = { id, user, token, expiresAt }
  return { fact, credential, made }
}
