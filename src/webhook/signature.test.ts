import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkBearer, checkPagerDuty, checkSignature, signBody } from './signature.ts'

const now = 1_800_000_000_000
const secret = 'a secret of some length'
const body = '{"a":1}'

describe('signatures', () => {
  it('are HMAC-SHA256 over the time and the body', () => {
    const mac = createHmac('sha256', secret).update(`1800000000.${body}`).digest('hex')
    expect(signBody(body, secret, now)).toBe(`t=1800000000,v1=${mac}`)
  })

  it('hold for their body, secret and time, and for nothing else', () => {
    const header = signBody(body, secret, now)
    expect(checkSignature(header, body, secret, now + 299_000)).toBeNull()
    expect(checkSignature(`${header},v1=00`, body, secret, now)).toBeNull()
    for (const [given, text, key, at] of [
      [null, body, secret, now],
      ['', body, secret, now],
      ['v1=abc', body, secret, now],
      [header.replace('t=', 't=9'), body, secret, now],
      [header, `${body} `, secret, now],
      [header, body, `${secret}x`, now],
      [header, body, secret, now + 301_000],
      [header, body, secret, now - 301_000],
      ['t=1800000000,v1=', body, secret, now],
    ] as const)
      expect(checkSignature(given, text, key, at)).not.toBeNull()
  })

  it('of PagerDuty are over the body alone, and one of several is enough', () => {
    const right = `v1=${createHmac('sha256', secret).update(body).digest('hex')}`
    expect(checkPagerDuty(`v1=00,${right}`, body, secret)).toBeNull()
    for (const wrong of [null, 'v1=00', right.slice(3), right.toUpperCase()])
      expect(checkPagerDuty(wrong, body, secret)).not.toBeNull()
  })

  it('of Alertmanager are the secret itself, as a token or as a password', () => {
    expect(checkBearer(`Bearer ${secret.replaceAll(' ', '-')}`, secret.replaceAll(' ', '-'))).toBeNull()
    expect(checkBearer(`Basic ${Buffer.from(`lockstep:${secret}`).toString('base64')}`, secret)).toBeNull()
    for (const wrong of [
      null,
      'Bearer x',
      'Digest x',
      `Basic ${Buffer.from(secret).toString('base64').slice(1)}`,
    ])
      expect(checkBearer(wrong, secret)).not.toBeNull()
  })
})
