import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ownTime } from './own-time.suite.ts'
import { isSecretName, redactJson, redactText, redacted } from './redact.ts'

const base62 = (least: number, most: number) =>
  fc.stringMatching(new RegExp(`^[A-Za-z0-9]{${least},${most}}$`))

const vendorToken = fc.oneof(
  base62(36, 36).map((part) => `ghp_${part}`),
  base62(30, 60).map((part) => `github_pat_${part}`),
  base62(20, 20).map((part) => `glpat-${part}`),
  fc.stringMatching(/^AKIA[A-Z0-9]{16}$/),
  base62(24, 24).map((part) => `xoxb-123456789012-${part}`),
  base62(20, 48).map((part) => `sk-${part}`),
  base62(40, 60).map((part) => `sk-ant-api03-${part}`),
  base62(24, 24).map((part) => `sk_live_${part}`),
  base62(35, 35).map((part) => `AIza${part}`),
  base62(36, 36).map((part) => `npm_${part}`),
  base62(34, 34).map((part) => `hf_${part}`),
  fc.tuple(base62(12, 40), base62(20, 60), base62(20, 43)).map(([a, b, c]) => `eyJ${a}.eyJ${b}.${c}`),
  fc.tuple(base62(22, 22), base62(43, 43)).map(([a, b]) => `SG.${a}.${b}`),
)

const around = fc.constantFrom('', ' ', '\n', '"', "'", ', ', '(', '/', '=', ': ', 'the token is ')

describe('redact', () => {
  test('R1: no token of a big vendor survives, wherever it stands', () => {
    fc.assert(
      fc.property(vendorToken, around, around, (token, before, after) => {
        expect(redactText(before + token + after)).not.toContain(token)
        const nested = { list: [{ [`x${before}`]: `${before}${token}${after}` }], [token]: 1 }
        expect(JSON.stringify(redactJson(nested))).not.toContain(token)
        expect(redactText(JSON.stringify({ inner: JSON.stringify(nested) }))).not.toContain(token)
      }),
      { numRuns: 500 },
    )
  })

  test('R2: nothing that goes under the name of a secret survives', () => {
    const name = fc.constantFrom(
      'password',
      'DB_PASSWORD',
      'clientSecret',
      'api_key',
      'apiKey',
      'X-Api-Key',
      'accessToken',
      'refresh_token',
      'privateKey',
      'Authorization',
      'aws_secret_access_key',
    )
    const secret = base62(5, 40).map((text) => `Zz${text}`)
    fc.assert(
      fc.property(name, secret, (under, value) => {
        expect(redactJson({ [under]: value, a: { [under]: [value] } })).toEqual({
          [under]: redacted,
          a: { [under]: [redacted] },
        })
        const texts = [
          `${under}=${value}`,
          `${under}: ${value}`,
          `"${under}": "${value}"`,
          `'${under}' => '${value}'`,
          JSON.stringify({ [under]: value }),
          JSON.stringify({ body: JSON.stringify({ [under]: value }) }),
          JSON.stringify({ body: JSON.stringify({ deep: JSON.stringify({ [under]: value }) }) }),
          `https://x.example/?a=1&${under}=${value}&b=2`,
          `{"${under}": "${value}`,
        ]
        for (const text of texts) expect(redactText(text)).not.toContain(value)
        expect(() => JSON.parse(redactText(texts[4]!)) as unknown).not.toThrow()
        expect(() => JSON.parse(redactText(texts[5]!)) as unknown).not.toThrow()
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['Authorization: Bearer abc.def-123', 'abc.def-123'],
    ['Authorization: Basic dXNlcjpwYXNzd29yZA==', 'dXNlcjpwYXNzd29yZA=='],
    ['curl -H "Authorization: token 0123456789abcdef"', '0123456789abcdef'],
    ['postgres://ada:hunter2@db.example/x', 'hunter2'],
    ['https://ghost@x.example', 'ghost'],
    ['Set-Cookie: session=s3cr3t-value; Path=/', 's3cr3t-value'],
    ['https://hooks.slack.com/services/T00/B00/XXXX', 'XXXX'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----', 'MIIE'],
    ['x -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz cut off', 'b3BlbnNz'],
    ['{"key":"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n"}', 'MIIE'],
  ])('R1: takes the secret out of %j', (text, secret) => {
    expect(redactText(text)).not.toContain(secret)
  })

  test('R3: leaves alone what only looks random, and names that only sound alike', () => {
    const commit = fc.stringMatching(/^[0-9a-f]{40}$/)
    const digest = fc.stringMatching(/^sha256:[0-9a-f]{64}$/)
    fc.assert(
      fc.property(fc.oneof(commit, digest, fc.uuid()), (text) => {
        expect(redactText(`deployed ${text} today`)).toBe(`deployed ${text} today`)
      }),
    )
    const harmless = {
      author: 'ada',
      tokens_in: 5,
      max_tokens: 9,
      token_type: 'x',
      monkey: 'k',
      secretName: 'db',
      key: 'k',
    }
    expect(redactJson(harmless)).toEqual(harmless)
    expect(Object.keys(harmless).filter(isSecretName)).toEqual([])
    for (const text of [
      'author: ada',
      'a basic question about bearer bonds',
      'mail ada@example.org',
      'tokens: 12',
    ])
      expect(redactText(text)).toBe(text)
  })

  test('R4: redacting twice is redacting once', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            vendorToken,
            fc.constantFrom('password=', '"secret": "x"', '://a:b@', 'Bearer '),
          ),
        ),
        (parts) => {
          const once = redactText(parts.join(''))
          expect(redactText(once)).toBe(once)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('R4: a hostile text takes no longer than its length', () => {
    for (const part of [
      'a',
      '"',
      '\\"',
      'password=',
      '://',
      '-----BEGIN PRIVATE KEY-----',
      'eyJ',
      '= ',
      'a:"\\',
      'sk-',
    ])
      expect(timed(part.repeat(Math.ceil(200_000 / part.length)))).toBeLessThan(2000)
  })

  test('R4: a long word costs about what as many short ones do', () => {
    const length = 300_000
    const cost = (text: string) => {
      const began = ownTime()
      redactText(text)
      return ownTime() - began
    }
    const least = (text: string) => Math.min(...Array.from({ length: 5 }, () => cost(text)))
    const words = least('lorem ipsum dolor '.repeat(length / 18))
    // Trying a word from each of its letters would cost thirty times as much.
    expect(least('x'.repeat(length)) / words).toBeLessThan(8)
    expect(least(Buffer.alloc((length * 3) / 4, 'lockstep?!').toString('base64')) / words).toBeLessThan(8)
  })

  test('R5: what was masked already still says which secret it was', () => {
    const shown = {
      authorization: 'Bearer [secret env:SHOP]',
      password: '[secret]',
      '[secret]': ['no. [secret]'],
    }
    expect(redactJson(shown)).toEqual(shown)
    expect(redactText(JSON.stringify(shown))).toBe(JSON.stringify(shown))
    const odd = { password: '[secret hunter2]', token: '[secret env:A] hunter2' }
    expect(redactJson(odd)).toEqual({ password: redacted, token: redacted })
  })

  test('R5: what only says which secret belongs there stays', () => {
    const named = {
      token: 'secret://api_token',
      password: '{secrets.api_token}',
      apiKey: 'store:api-token',
      secret: 'env:TOKEN',
      client_secret: 'file:/run/secrets/a',
    }
    expect(redactJson(named)).toEqual(named)
    expect(redactText(JSON.stringify(named))).toBe(JSON.stringify(named))
    const odd = { token: 'secret://a b', password: 'x {secrets.a}', secret: 'store:a b', apiKey: 'file:a' }
    expect(Object.values(redactJson(odd) as object)).toEqual([redacted, redacted, redacted, redacted])
  })
})

function timed(text: string): number {
  const start = performance.now()
  redactText(text)
  return performance.now() - start
}

test('our own credentials are taken out, and the ids of keys and what they permit stay', () => {
  const secret = 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0-_x'
  for (const token of [
    `lk_abcdefg2_${secret}`,
    `lnk_abcdefghijklmno2.${secret}`,
    `ses_abcdefghijklmno2.${secret}`,
  ])
    expect(redactText(`it said ${token}!`)).toBe('it said [redacted]!')
  for (const plain of ['by apikey:key_abcdefghijklmno2', 'Your roles do not permit apikey:write here.'])
    expect(redactText(plain)).toBe(plain)
})
