import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createHmac, verify } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { keyId, openKeyRing, rotateKeys } from './chain-keys.ts'

const folder = () => join(mkdtempSync(join(tmpdir(), 'lockstep-keys-')), 'keys')

describe('the keys', () => {
  test('K1: are made on first use, and readable by nobody else', () => {
    const path = folder()
    const { current } = openKeyRing(path)
    expect(openKeyRing(path).current.id).toBe(current.id)
    expect(keyId(current.publicKey)).toBe(current.id)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(statSync(join(path, '0001.json')).mode & 0o777).toBe(0o600)
    expect(readdirSync(path).sort()).toEqual(['0001.json', '0001.pub.pem'])
    expect(verify(null, Buffer.from('x'), current.publicKey, Buffer.from(current.sign('x'), 'hex'))).toBe(
      true,
    )
  })

  test('K2: rotating adds a generation and keeps the old ones', () => {
    const path = folder()
    const first = openKeyRing(path).current
    const rotated = rotateKeys(path)
    expect(rotated.current.id).not.toBe(first.id)
    expect(rotated.all.get(first.id)!.mac('h')).toBe(first.mac('h'))
    expect(openKeyRing(path).current.id).toBe(rotated.current.id)
  })

  test('authenticate with HMAC-SHA-256', () => {
    const path = folder()
    const { current } = openKeyRing(path)
    const { mac } = JSON.parse(readFileSync(join(path, '0001.json'), 'utf8')) as { mac: string }
    for (const text of ['', 'ü', 'x'.repeat(200)]) {
      expect(current.mac(text)).toBe(createHmac('sha256', Buffer.from(mac, 'hex')).update(text).digest('hex'))
    }
  })

  test('says which file is no key', () => {
    const path = folder()
    openKeyRing(path)
    writeFileSync(join(path, '0001.json'), '{"mac":"00"}')
    expect(() => openKeyRing(path)).toThrow(/0001\.json cannot be used/)
  })
})
