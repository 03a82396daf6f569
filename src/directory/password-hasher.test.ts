import { expect, test } from 'vitest'
import { PasswordHasher, safeCost } from './password-hasher.ts'

const quick = { N: 16, r: 8, p: 1 }

test('W1: a hash says how it was made, and is checked that way by one that makes them otherwise', async () => {
  const old = await new PasswordHasher(quick).hash('correct horse')
  expect(old).toMatch(/^scrypt\$N=16,r=8,p=1\$/)
  const now = new PasswordHasher({ ...quick, N: 32 })
  expect(await now.check('correct horse', old)).toBe(true)
  expect(await now.check('correct house', old)).toBe(false)
  expect(await now.hash('correct horse')).not.toBe(await now.hash('correct horse'))
})

test('the cost is one that OWASP names, unless another is asked for', async () => {
  expect(safeCost).toEqual({ N: 32_768, r: 8, p: 3 })
  expect(await new PasswordHasher().hash('x')).toMatch(/^scrypt\$N=32768,r=8,p=3\$[\w+/]{22}==\$[\w+/]{43}=$/)
})

test('letters count as people see them, and nothing is cut off', async () => {
  const hasher = new PasswordHasher(quick)
  expect(await hasher.check('caf\u00e9', await hasher.hash('cafe\u0301'))).toBe(true)
  const long = 'x'.repeat(200)
  expect(await hasher.check(`${long}y`, await hasher.hash(long))).toBe(false)
  expect(await hasher.check('a', await hasher.hash('a\u0000b'))).toBe(false)
})

test.each([null, '', 'scrypt', 'scrypt$N=16,r=8,p=1$$', '$2b$10$abc'])(
  '%s is the hash of no password',
  async (hash) => {
    expect(await new PasswordHasher(quick).check('', hash)).toBe(false)
  },
)

test('W2: two are computed at once, fifty wait, and who comes then is sent away', async () => {
  const hasher = new PasswordHasher(quick)
  const all = await Promise.allSettled(Array.from({ length: 60 }, () => hasher.hash('x')))
  const refused = all.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(8)
  for (const each of refused) expect(each).toMatchObject({ reason: { code: 'rate_limited' } })
  expect(await hasher.hash('x')).toMatch(/^scrypt/)
})
