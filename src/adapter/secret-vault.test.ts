import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LockstepError } from '../shared/lockstep-error.ts'
import { SecretVault } from './secret-vault.ts'

async function vaultWith(...secrets: string[]): Promise<SecretVault> {
  const vault = new SecretVault(Object.fromEntries(secrets.map((secret, index) => [`S${index}`, secret])))
  for (const index of secrets.keys()) await vault.resolve({ from: 'env', name: `S${index}` })
  return vault
}

describe('SecretVault', () => {
  it('V2: masks what was resolved, and nothing before', async () => {
    const vault = new SecretVault({ A: 'hunter-22' })
    expect(vault.maskText('hunter-22')).toBe('hunter-22')
    await vault.resolve({ from: 'env', name: 'A' })
    expect(vault.maskText('x hunter-22 y')).toBe('x [secret] y')
    expect(vault.maskJson({ 'hunter-22': ['hunter-22', 1, null] })).toEqual({
      '[secret]': ['[secret]', 1, null],
    })
  })

  it('V2: masks what came from the store, and names what is not there', async () => {
    const vault = new SecretVault({}, async (name) => (name === 'shop' ? 'hunter-22' : null))
    expect(await vault.resolve({ from: 'store', name: 'shop' })).toBe('hunter-22')
    expect(vault.maskText('x hunter-22 y')).toBe('x [secret] y')
    await expect(vault.resolve({ from: 'store', name: 'bank' })).rejects.toMatchObject({
      code: 'secret_unavailable',
      message: 'The secret store:bank is not in the store.',
      hint: 'lockstep secret set bank puts it there',
    })
  })

  it('V4: tells why the store cannot be read, and nothing of what a failing one says otherwise', async () => {
    const told = new LockstepError('secret_store_unreadable', 'The secret store x is not whole.')
    const thrown = [told, new Error('hunter-22')]
    const vault = new SecretVault({}, () => Promise.reject(thrown.shift()!))
    const reference = { from: 'store', name: 'shop' } as const
    await expect(vault.resolve(reference)).rejects.toBe(told)
    await expect(vault.resolve(reference)).rejects.toThrow(/^The secret store:shop cannot be had\.$/)
  })

  it('gives the key of the store to no program that prints a secret', async () => {
    const print = 'console.log("key:" + process.env.LOCKSTEP_SECRET_KEY + process.env.PATH.length)'
    process.env['LOCKSTEP_SECRET_KEY'] = 'planted'
    const command = [process.execPath, '-e', print]
    const secret = await new SecretVault().resolve({ from: 'exec', command, cwd: '.' })
    delete process.env['LOCKSTEP_SECRET_KEY']
    expect(secret).toBe(`key:undefined${process.env['PATH']!.length}`)
  })

  it('masks a secret that begins with another one as a whole, and one that is a number', async () => {
    const vault = await vaultWith('abcd', 'abcdefgh', '99887766')
    expect(vault.maskText('abcdefgh abcd')).toBe('[secret] [secret]')
    expect(vault.maskJson({ n: 99887766, m: 998 })).toEqual({ n: '[secret]', m: 998 })
  })

  it('takes a secret for text, not for a pattern', async () => {
    const vault = await vaultWith('a.*b+c', '(((((', 'x|y|z')
    expect(vault.maskText('aXXbbc a.*b+c ((((( x|y|z')).toBe('aXXbbc [secret] [secret] [secret]')
  })

  it('V3: leaves no half of a secret at a cut, wherever it falls', async () => {
    const secret = 'planted-secret-4711'
    const vault = await vaultWith(secret)
    await fc.assert(
      fc.asyncProperty(fc.nat(60), fc.nat(30), async (most, before) => {
        const cut = vault.cutText(`${'.'.repeat(before)}${secret}${'.'.repeat(30)}`, most, false)
        expect(cut).not.toContain(secret.slice(0, 4))
        const upstream = vault.cutText(`${'.'.repeat(before)}${secret.slice(0, 9)}`, 100, false)
        expect(upstream).not.toContain(secret.slice(0, 4))
      }),
    )
  })

  it('masks every line of a key of several lines', async () => {
    const vault = await vaultWith('-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n-----END KEY-----')
    expect(vault.maskText('see MIIEvQIBADANBg')).toBe('see [secret]')
  })
})
