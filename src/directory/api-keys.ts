import type { Role } from '../api/permission.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Act, ActLog, CredentialKind } from './act-log.ts'
import { newId, randomLetters } from './new-id.ts'
import type { People } from './people.ts'
import type { Actor } from './principal.ts'
import { found } from './refusal.ts'
import { isToken, makeSecret } from './secret-token.ts'
import type { ApiKey, TenantState } from './state.ts'

/** A key to be made, with the one role it has at first. */
export interface NewApiKey {
  readonly name: string
  readonly role: Role
  readonly project: string | null
  readonly expiresAt: number | null
}

/** A key with its secret, which is shown once. */
export interface ShownApiKey {
  readonly key: ApiKey
  readonly secret: string
}

const tokenPattern = /^lk_([a-z2-7]{8})_[\w-]{43}$/

/** The keys of tenants. */
export class ApiKeys {
  readonly #log: ActLog
  readonly #people: People
  readonly #lastUsed = new Map<string, number>()

  constructor(log: ActLog, people: People) {
    this.#log = log
    this.#people = people
  }

  /** The keys of the tenant that were not revoked, in the order in which they were made. */
  list(tenant: string): readonly ApiKey[] {
    return [...this.#log.state(tenant).keys.values()].filter(({ revoked }) => !revoked)
  }

  find(tenant: string, id: string): ApiKey | null {
    return this.#log.state(tenant).keys.get(id) ?? null
  }

  /** Says whether the key counts: not revoked, not expired, and made by somebody who is not disabled. */
  isActive(tenant: string, { revoked, expiresAt, owner }: ApiKey): boolean {
    if (revoked || (expiresAt !== null && expiresAt <= this.#log.now())) return false
    return owner === null || this.#people.isActive(tenant, owner)
  }

  /** When the key was last used since this process began; null if it was not. */
  lastUsed(id: string): number | null {
    return this.#lastUsed.get(id) ?? null
  }

  /** Makes a key and gives it its role. Throws `not_found` for an unknown project, `invalid_request` for an end that has passed. */
  async make(actor: Actor, wanted: NewApiKey): Promise<ShownApiKey> {
    const { name, role, project, expiresAt } = wanted
    const [id, binding] = [newId('key'), newId('rbd')]
    return await this.#log.act(actor, (state, at) => {
      if (project !== null) found(state.projects.get(project), 'project', project)
      if (expiresAt !== null && !(expiresAt > at))
        throw new LockstepError('invalid_request', 'A key cannot end before it begins.', {
          hint: 'Give a time that is still to come.',
        })
      const { prefix, secret, credential } = this.#newSecret(id)
      return {
        facts: [
          { type: 'apikey.made', data: { id, name, prefix, owner: actor.user, expiresAt } },
          { type: 'role.bound', data: { id: binding, subject: { kind: 'apikey', id }, role, project } },
        ],
        keep: [credential],
        result: ({ keys }) => ({ key: keys.get(id)!, secret }),
      }
    })
  }

  /** Gives a key another secret; the old one counts no more, and whoever does it owns the key. Throws `not_found`. */
  async rotate(actor: Actor, id: string): Promise<ShownApiKey> {
    return await this.#log.act(actor, (state) => this.#planRotation(state, actor, id))
  }

  /** Ends a key at once. Throws `not_found`. */
  async revoke(actor: Actor, id: string): Promise<void> {
    await this.#log.act(actor, (state) => {
      const { prefix } = live(state, id)
      return {
        facts: [{ type: 'apikey.revoked', data: { id } }],
        forget: [credentialId(prefix)],
        result: () => undefined,
      }
    })
  }

  /** The key of a token, which counts as used now; null if there is none, or it does not count. */
  use(token: string): (ApiKey & { readonly tenant: string }) | null {
    const prefix = tokenPattern.exec(token)?.[1]
    const credential = prefix === undefined ? null : this.#log.credential('apikey', credentialId(prefix))
    if (credential === null || !isToken(token, credential.body['hash'])) return null
    const { tenant } = credential
    const key = this.#log.find(tenant)?.keys.get(String(credential.body['key']))
    if (key === undefined || key.prefix !== prefix || !this.isActive(tenant, key)) return null
    this.#lastUsed.set(key.id, this.#log.now())
    return { ...key, tenant }
  }

  #planRotation(state: TenantState, actor: Actor, id: string): Act<ShownApiKey> {
    const old = live(state, id)
    const { prefix, secret, credential } = this.#newSecret(id)
    return {
      facts: [{ type: 'apikey.rotated', data: { id, prefix, owner: actor.user } }],
      keep: [credential],
      forget: [credentialId(old.prefix)],
      result: ({ keys }) => ({ key: keys.get(id)!, secret }),
    }
  }

  #newSecret(key: string) {
    let prefix = randomLetters(8)
    while (this.#log.credential('apikey', credentialId(prefix)) !== null) prefix = randomLetters(8)
    const { token, hash } = makeSecret(`lk_${prefix}_`)
    const kind: CredentialKind = 'apikey'
    return { prefix, secret: token, credential: { id: credentialId(prefix), kind, body: { key, hash } } }
  }
}

/** The prefix is the name of what is kept, so that finding it reads no other key. */
function credentialId(prefix: string): string {
  return `lk_${prefix}`
}

function live(state: TenantState, id: string): ApiKey {
  const key = state.keys.get(id)
  return found(key?.revoked === false ? key : null, 'API key', id)
}
