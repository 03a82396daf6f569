import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { SecretVault } from '../secret-vault.ts'
import { forwardLines } from './forward-lines.ts'

async function forward(chunks: readonly (string | Buffer)[]): Promise<string> {
  const vault = new SecretVault({ TOKEN: 'planted-4711' })
  await vault.resolve({ from: 'env', name: 'TOKEN' })
  const from = new PassThrough()
  let told = ''
  forwardLines(
    from,
    (...args) => vault.cutText(...args),
    (text) => {
      told += text
    },
  )
  for (const chunk of chunks) from.write(chunk)
  await new Promise((resolve) => {
    from.on('end', resolve).end()
  })
  return told
}

test('masks a secret that arrives in pieces', async () => {
  expect(await forward(['key plan', 'ted-47', '11 is used\nnext', ' line'])).toBe(
    'key [secret] is used\nnext line\n',
  )
})

test('keeps empty lines and letters that arrive in pieces', async () => {
  const letter = Buffer.from('é')
  expect(await forward([letter.subarray(0, 1), letter.subarray(1), '\n\nb\n'])).toBe('é\n\nb\n')
})

test.each([65_530, 65_536, 131_066, 131_072])(
  'leaves out the rest of a line without end, and no half of a secret at %i',
  async (length) => {
    const told = await forward(['x'.repeat(length), 'planted-4711', 'y'.repeat(200_000), '\nshort\n'])
    expect(told).not.toContain('plante')
    expect(told.endsWith('\nshort\n')).toBe(true)
    expect(told.length).toBeLessThan(66_000)
  },
)
