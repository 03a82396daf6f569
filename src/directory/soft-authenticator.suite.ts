import { createSign, generateKeyPairSync, hash, randomBytes } from 'node:crypto'
import type { JsonObject } from '../shared/json.ts'

const userPresentAndVerified = 0x05
const attested = 0x40

/** An authenticator in software: makes one passkey and signs with it, as a phone would. */
export class SoftAuthenticator {
  readonly #id = randomBytes(16)
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #counts: boolean
  #counter = 0

  /** Some count their signatures; those whose passkeys are copied between devices say 0 every time. */
  constructor({ counts = true } = {}) {
    this.#counts = counts
  }

  /** What a browser sends after it was asked for a new passkey. */
  register({ challenge }: JsonObject, origin: string): JsonObject {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const cose = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      bytes(Buffer.from(x!, 'base64url')),
      Buffer.from([0x22]),
      bytes(Buffer.from(y!, 'base64url')),
    ])
    const length = Buffer.from([0, this.#id.length])
    const authData = Buffer.concat([this.#head(origin, attested), Buffer.alloc(16), length, this.#id, cose])
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      bytes(authData),
    ])
    const clientData = clientDataOf('webauthn.create', challenge, origin)
    return this.#answer({ attestationObject, clientDataJSON: clientData, transports: ['internal'] })
  }

  /** What a browser sends after it was asked to sign in. */
  signIn({ challenge }: JsonObject, origin: string, userHandle: string): JsonObject {
    if (this.#counts) this.#counter++
    const authenticatorData = this.#head(origin, 0)
    const clientDataJSON = clientDataOf('webauthn.get', challenge, origin)
    const signed = Buffer.concat([authenticatorData, hash('sha256', clientDataJSON, 'buffer')])
    const signature = createSign('sha256').update(signed).sign(this.#keys.privateKey)
    return this.#answer({ authenticatorData, clientDataJSON, signature, userHandle: Buffer.from(userHandle) })
  }

  #head(origin: string, flags: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.#counter)
    const site = hash('sha256', new URL(origin).hostname, 'buffer')
    return Buffer.concat([site, Buffer.from([userPresentAndVerified | flags]), counter])
  }

  #answer(response: Readonly<Record<string, Buffer | string[]>>): JsonObject {
    const id = this.#id.toString('base64url')
    const told = Object.entries(response).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString('base64url') : value,
    ])
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: Object.fromEntries(told) as JsonObject,
    }
  }
}

function clientDataOf(type: string, challenge: unknown, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
}

function bytes(value: Buffer): Buffer {
  const { length } = value
  const head = length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), value])
}
