import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readSecretValue } from './read-secret-value.ts'

async function read(bytes: string | Buffer, isTTY = false): Promise<{ value: string; said: string }> {
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: () => undefined })
  input.end(bytes)
  let said = ''
  const value = await readSecretValue('shop', input, (text) => (said += text)).catch(
    (error: Error) => error.message,
  )
  return { value, said }
}

describe('readSecretValue', () => {
  it.each([
    ['a-value', 'a-value'],
    ['a-value\n', 'a-value'],
    ['two\nlines\r\n', 'two\nlines'],
    ['ends in two\n\n', 'ends in two\n'],
    [' spaces stay ', ' spaces stay '],
    ['', 'No secret was set: nothing came on standard input.'],
    ['\n', 'No secret was set: nothing came on standard input.'],
  ])('reads %j from a pipe', async (given, expected) => {
    expect(await read(given)).toEqual({ value: expected, said: '' })
  })

  it('refuses what is no text, and what does not end', async () => {
    expect((await read(Buffer.from([0x61, 0xff, 0x61, 0x61]))).value).toContain('not UTF-8')
    expect((await read('x'.repeat(70_000))).value).toContain('more than 65536 bytes')
  })

  it.each([
    ['hunter-22\r', 'hunter-22'],
    ['hunterr\u007f-22\r', 'hunter-22'],
    ['\r', 'No secret was set: nothing was typed.'],
    ['hun\u0003', 'No secret was set: it was given up.'],
    ['', 'No secret was set: nothing was typed.'],
  ])('reads %j from a terminal and shows none of it', async (typed, expected) => {
    expect(await read(typed, true)).toEqual({ value: expected, said: 'Value of shop (not shown): \n' })
  })
})
