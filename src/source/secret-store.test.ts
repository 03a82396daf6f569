import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { canonicalJson } from '../shared/canonical-json.ts'
import type { Json } from '../shared/json.ts'
import { SecretKey } from './secret-key.ts'
import { SecretStore } from './secret-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-store-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hex = '0123456789abcdef'.repeat(4)

function home(): string {
  return mkdtempSync(join(folder, 'home-'))
}

function storeIn(at: string, env: Record<string, string> = {}): SecretStore {
  return new SecretStore({ home: at, env, now: () => 0 })
}

function mode(path: string): number {
  return statSync(path).mode & 0o777
}

/** What is thrown, as a value. */
async function thrown(work: () => unknown): Promise<{ code: string; message: string; hint: string }> {
  try {
    await work()
  } catch (error) {
    return error as { code: string; message: string; hint: string }
  }
  throw new Error('nothing was thrown')
}

describe('SecretStore', () => {
  it('keeps secrets by name, replaces and removes them, and tells names and times only', async () => {
    const at = home()
    expect(storeIn(at).list()).toEqual([])
    expect(storeIn(at).get('shop')).toBe(null)
    expect(existsSync(join(at, 'keys'))).toBe(false)
    expect(await storeIn(at).set('shop', 'first-value')).toBe('new')
    expect(await storeIn(at).set('bank.api-key', 'line 1\nline 2 – ü')).toBe('new')
    expect(await storeIn(at).set('shop', 'second-value')).toBe('replaced')
    expect(storeIn(at).list()).toEqual([
      { name: 'bank.api-key', setAt: '1970-01-01T00:00:00.000Z' },
      { name: 'shop', setAt: '1970-01-01T00:00:00.000Z' },
    ])
    expect(storeIn(at).get('shop')).toBe('second-value')
    expect(storeIn(at).get('bank.api-key')).toBe('line 1\nline 2 – ü')
    await storeIn(at).remove('shop')
    expect(storeIn(at).get('shop')).toBe(null)
    expect(await thrown(() => storeIn(at).remove('bank.api-kez'))).toMatchObject({
      code: 'secret_unavailable',
      hint: 'did you mean bank.api-key?',
    })
  })

  it('T3: is readable by its owner alone, also after somebody opened it up', async () => {
    const at = home()
    await storeIn(at).set('shop', 'a-value')
    expect([mode(storeIn(at).path), mode(join(at, 'keys', 'secrets.json'))]).toEqual([0o600, 0o600])
    expect(mode(join(at, 'keys'))).toBe(0o700)
    chmodSync(storeIn(at).path, 0o644)
    await storeIn(at).set('shop', 'another')
    expect(mode(storeIn(at).path)).toBe(0o600)
  })

  it('T1: no planted secret shows in the bytes of the file, in whichever form', async () => {
    const at = home()
    const secret = fc.string({ minLength: 16, maxLength: 200, unit: 'grapheme' })
    await fc.assert(
      fc.asyncProperty(fc.array(secret, { minLength: 1, maxLength: 4 }), async (secrets) => {
        for (const [index, each] of secrets.entries()) await storeIn(at).set(`S${index}`, each)
        const file = readFileSync(storeIn(at).path, 'latin1')
        for (const [index, each] of secrets.entries()) {
          const bytes = Buffer.from(each)
          for (const form of ['latin1', 'base64', 'base64url', 'hex'] as const)
            expect(file).not.toContain(bytes.toString(form).replace(/=+$/, ''))
          expect(storeIn(at).get(`S${index}`)).toBe(each)
        }
      }),
      { numRuns: 40 },
    )
  })

  it('T1: gives nothing for an entry under another name, even where the seal is right', async () => {
    const at = home()
    const env = { LOCKSTEP_SECRET_KEY: hex }
    await storeIn(at, env).set('low', 'low-value')
    await storeIn(at, env).set('root', 'root-value')
    const key = new SecretKey(Buffer.from(hex, 'hex'))
    const { seal: _, ...file } = JSON.parse(readFileSync(storeIn(at).path, 'utf8')) as {
      entries: { name: string }[]
      seal: string
    }
    const [one, other] = file.entries
    const swapped = {
      ...file,
      entries: [
        { ...other!, name: one!.name },
        { ...one!, name: other!.name },
      ],
    }
    const seal = key.seal(canonicalJson(swapped as unknown as Json))
    writeFileSync(storeIn(at).path, JSON.stringify({ ...swapped, seal }))
    expect(storeIn(at, env).list()).toHaveLength(2)
    for (const name of ['low', 'root']) {
      const { code, message } = await thrown(() => storeIn(at, env).get(name))
      expect(code).toBe('secret_store_unreadable')
      expect(message).not.toContain('value')
    }
  })

  it('T2: uses nothing of a file in which any byte differs or is missing, and leaves it as it is', async () => {
    const at = home()
    await storeIn(at).set('shop', 'a-value')
    await storeIn(at).set('bank', 'another-value')
    const whole = readFileSync(storeIn(at).path)
    const broken = fc.oneof(
      fc
        .nat(whole.length - 1)
        .map((index) => whole.map((byte, place) => (place === index ? byte ^ 1 : byte))),
      // The last line break means nothing.
      fc.nat(whole.length - 2).map((length) => whole.subarray(0, length)),
    )
    await fc.assert(
      fc.asyncProperty(broken, async (bytes) => {
        fc.pre(bytes.length !== whole.length || bytes.at(-1) === whole.at(-1))
        writeFileSync(storeIn(at).path, bytes)
        for (const work of [
          () => storeIn(at).list(),
          () => storeIn(at).get('shop'),
          () => storeIn(at).set('shop', 'new-value'),
          () => storeIn(at).remove('shop'),
        ]) {
          const { code, hint } = await thrown(work)
          expect([code, hint]).toEqual([
            'secret_store_unreadable',
            expect.stringContaining('if that is lost, move the file away'),
          ])
        }
        expect(readFileSync(storeIn(at).path).equals(Buffer.from(bytes))).toBe(true)
      }),
      { numRuns: 60 },
    )
    writeFileSync(storeIn(at).path, whole)
    expect(storeIn(at).get('shop')).toBe('a-value')
  })

  it('T2: says that an entry was taken out or put back by hand', async () => {
    const at = home()
    await storeIn(at).set('shop', 'old-value')
    const old = JSON.parse(readFileSync(storeIn(at).path, 'utf8')) as { entries: unknown[] }
    await storeIn(at).set('shop', 'new-value')
    const now = JSON.parse(readFileSync(storeIn(at).path, 'utf8')) as { entries: unknown[] }
    for (const entries of [[], old.entries]) {
      writeFileSync(storeIn(at).path, JSON.stringify({ ...now, entries }))
      expect((await thrown(() => storeIn(at).get('shop'))).message).toContain('was changed by something else')
    }
  })

  it('takes the key from the environment first, and makes no key for a file that has one', async () => {
    const at = home()
    const env = { LOCKSTEP_SECRET_KEY: hex }
    await storeIn(at, env).set('shop', 'a-value')
    expect(existsSync(join(at, 'keys'))).toBe(false)
    expect(storeIn(at, { LOCKSTEP_SECRET_KEY: Buffer.from(hex, 'hex').toString('base64') }).get('shop')).toBe(
      'a-value',
    )
    // Without the variable there is no key, and none is made up.
    for (const work of [() => storeIn(at).get('shop'), () => storeIn(at).set('shop', 'a-value')])
      expect(await thrown(work)).toMatchObject({
        code: 'secret_store_unreadable',
        message: expect.stringContaining('has no key'),
        hint: expect.stringContaining('LOCKSTEP_SECRET_KEY'),
      })
    expect(existsSync(join(at, 'keys'))).toBe(false)
    const other = { LOCKSTEP_SECRET_KEY: 'f'.repeat(64) }
    expect((await thrown(() => storeIn(at, other).list())).message).toContain('was written with another key')
    const word = await thrown(() => storeIn(at, { LOCKSTEP_SECRET_KEY: 'correct horse' }).list())
    expect([word.code, word.message.includes('horse')]).toEqual(['secret_store_unreadable', false])
    mkdirSync(join(at, 'keys'))
    for (const text of ['', '{}', '{"key":"ab"}']) {
      writeFileSync(join(at, 'keys', 'secrets.json'), text)
      expect((await thrown(() => storeIn(at).list())).message).toContain(join(at, 'keys', 'secrets.json'))
    }
  })

  it('T3: loses nothing when many write at once', async () => {
    const at = home()
    const names = Array.from({ length: 12 }, (_, index) => `S${index}`)
    await Promise.all(names.map((name) => storeIn(at).set(name, `value of ${name}`)))
    expect(
      storeIn(at)
        .list()
        .map(({ name }) => name),
    ).toEqual(names.toSorted())
    expect(names.map((name) => storeIn(at).get(name))).toEqual(names.map((name) => `value of ${name}`))
    expect(existsSync(`${storeIn(at).path}.lock`)).toBe(false)
  })

  it.each(['', 'abc', 'a\0bcd', 'half \ud800 one', 'x'.repeat(65_537)])(
    'refuses a value that is no secret (%#), and makes nothing for it',
    async (value) => {
      const at = home()
      expect(await thrown(() => storeIn(at).set('shop', value))).toMatchObject({ code: 'invalid_value' })
      expect(existsSync(join(at, 'keys'))).toBe(false)
    },
  )

  it.each(['', '9a', 'a b', 'a/b', '../x', 'a=b', 'ü', 'x'.repeat(129)])(
    'refuses the name %j without repeating it',
    async (name) => {
      const { code, message } = await thrown(() => storeIn(home()).set(name, 'a-value'))
      expect([code, message]).toEqual(['invalid_value', 'That is no name of a secret.'])
    },
  )

  it('takes names that mean something to JavaScript for names', async () => {
    const at = home()
    for (const name of ['__proto__', 'constructor']) await storeIn(at).set(name, `value of ${name}`)
    expect(storeIn(at).get('__proto__')).toBe('value of __proto__')
    expect(storeIn(at).get('toString')).toBe(null)
  })

  it('says where it cannot be written', async () => {
    const file = join(home(), 'file')
    writeFileSync(file, '')
    expect(await thrown(() => storeIn(join(file, 'x')).set('shop', 'a-value'))).toMatchObject({
      code: 'secret_store_unwritable',
      message: expect.stringContaining('Nothing was changed'),
    })
  })
})
