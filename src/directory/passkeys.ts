import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ActLog } from './act-log.ts'
import { Challenges } from './challenges.ts'
import type { People } from './people.ts'
import type { Actor } from './principal.ts'
import { assertFree, found } from './refusal.ts'
import { signInFailed, type NewSession, type Sessions } from './sessions.ts'
import type { Passkey } from './state.ts'

/** The site that passkeys are bound to, as the browser names it: `https://lockstep.example`. */
export interface PasskeySite {
  readonly origin: string
}

const mostOfOne = 20
/** EdDSA, ES256 and RS256, by their COSE numbers: what authenticators have. */
const algorithms = [-8, -7, -257]

/** The passkeys of users (WebAuthn). */
export class Passkeys {
  readonly #log: ActLog
  readonly #people: People
  readonly #sessions: Sessions
  readonly #challenges: Challenges

  constructor(log: ActLog, people: People, sessions: Sessions) {
    this.#log = log
    this.#people = people
    this.#sessions = sessions
    this.#challenges = new Challenges(log.now)
  }

  /** The passkeys of a user, in the order in which they were added. */
  list(tenant: string, user: string): readonly Passkey[] {
    return [...this.#log.state(tenant).passkeys.values()].filter((each) => each.user === user)
  }

  /** What a browser needs to make a passkey for the user. Throws `not_available` at an address that is no name. */
  async beginAdding(tenant: string, user: string, { origin }: PasskeySite): Promise<JsonObject> {
    const { email, name } = found(this.#people.find(tenant, user), 'user', user)
    const { generateRegistrationOptions } = await import('@simplewebauthn/server')
    const options = await generateRegistrationOptions({
      rpName: 'Lockstep',
      rpID: hostOf(origin),
      userName: email,
      userDisplayName: name,
      userID: new TextEncoder().encode(user),
      challenge: Buffer.from(this.#challenges.make(user), 'base64url'),
      excludeCredentials: this.list(tenant, user).flatMap(({ id }) => this.#webAuthnId(id)),
      supportedAlgorithmIDs: algorithms,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    return options as unknown as JsonObject
  }

  /** Adds the passkey that the browser made. Throws `invalid_request` if it is not what was asked for, `duplicate` if it is known. */
  async add(
    actor: Actor,
    user: string,
    answer: JsonObject,
    name: string,
    { origin }: PasskeySite,
  ): Promise<Passkey> {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
    const verified = await verifyRegistrationResponse({
      response: answer as unknown as RegistrationResponseJSON,
      supportedAlgorithmIDs: algorithms,
      expectedChallenge: (challenge) => this.#challenges.take(challenge, user),
      expectedOrigin: origin,
      expectedRPID: hostOf(origin),
      requireUserVerification: true,
    }).catch((cause: unknown) => {
      throw new LockstepError('invalid_request', 'That is not the passkey that was asked for.', {
        cause,
        hint: 'Begin again, in the same browser and at the same address.',
      })
    })
    if (!verified.verified) throw new LockstepError('invalid_request', 'The passkey proves nothing.')
    const { credential } = verified.registrationInfo
    const id = passkeyId(credential.id)
    const body = {
      credential: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: credential.transports ?? [],
    }
    return await this.#log.act(actor, (state) => {
      assertFree(this.#log.credential('passkey', id) !== null, 'passkey', id)
      if (this.list(actor.tenant, user).length >= mostOfOne)
        throw new LockstepError('invalid_request', `Nobody has more than ${mostOfOne} passkeys.`)
      found(state.users.get(user), 'user', user)
      return {
        facts: [{ type: 'passkey.added', data: { id, user, name } }],
        keep: [{ id, kind: 'passkey', body }],
        result: ({ passkeys }) => passkeys.get(id)!,
      }
    })
  }

  /** Removes a passkey of the user. Throws `not_found`. */
  async remove(actor: Actor, user: string, id: string): Promise<void> {
    await this.#log.act(actor, (state) => {
      const passkey = state.passkeys.get(id)
      found(passkey?.user === user ? passkey : null, 'passkey', id)
      return { facts: [{ type: 'passkey.removed', data: { id } }], forget: [id], result: () => undefined }
    })
  }

  /** What a browser needs to sign somebody in, whoever that will be. Throws `not_available` at an address that is no name. */
  async beginSignIn({ origin }: PasskeySite): Promise<JsonObject> {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
    const options = await generateAuthenticationOptions({
      rpID: hostOf(origin),
      challenge: Buffer.from(this.#challenges.make(null), 'base64url'),
      userVerification: 'required',
    })
    return options as unknown as JsonObject
  }

  /** Signs in with what the browser answered. Throws `unauthenticated` for anything that proves nothing. */
  async signIn(answer: JsonObject, agent: string, { origin }: PasskeySite): Promise<NewSession> {
    const id = typeof answer['id'] === 'string' ? passkeyId(answer['id']) : ''
    const kept = this.#log.credential('passkey', id)
    const passkey = kept === null ? undefined : this.#log.find(kept.tenant)?.passkeys.get(id)
    if (kept === null || passkey === undefined) throw signInFailed('passkey')
    const { credential, publicKey, counter, transports } = kept.body as Readonly<Record<string, Json>>
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
    const verified = await verifyAuthenticationResponse({
      response: answer as unknown as AuthenticationResponseJSON,
      expectedChallenge: (challenge) => this.#challenges.take(challenge, null),
      expectedOrigin: origin,
      expectedRPID: hostOf(origin),
      requireUserVerification: true,
      credential: {
        id: String(credential),
        publicKey: new Uint8Array(Buffer.from(String(publicKey), 'base64url')),
        counter: Number(counter),
        transports: transports as string[],
      },
    }).catch(() => null)
    if (verified?.verified !== true) throw signInFailed('passkey')
    const body = { ...kept.body, counter: verified.authenticationInfo.newCounter }
    return await this.#sessions.begin(kept.tenant, passkey.user, 'passkey', agent, [
      { id, kind: 'passkey', body },
    ])
  }

  #webAuthnId(id: string): readonly { readonly id: string }[] {
    const credential = this.#log.credential('passkey', id)?.body['credential']
    return typeof credential === 'string' ? [{ id: credential }] : []
  }
}

/** The id of a passkey follows from the authenticator's own, so that one is found by the other. */
function passkeyId(credential: string): string {
  return `psk_${hash('sha256', credential, 'hex').slice(0, 32)}`
}

/** Browsers bind passkeys to names only. */
function hostOf(origin: string): string {
  const { hostname, protocol, port } = new URL(origin)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return hostname
  throw new LockstepError('not_available', `There are no passkeys at ${hostname}, which is no name.`, {
    hint: `Open the console by its name, on this machine ${protocol}//localhost${port === '' ? '' : `:${port}`}/console/`,
  })
}
