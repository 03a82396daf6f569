import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { looksLikeZip, readZip } from './zip-reader.ts'
import { ZipWriter } from './zip-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-zip-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const limits = { bytes: 1_000_000, members: 100 }

function zip(members: readonly (readonly [string, string | Uint8Array])[]): Buffer {
  const path = join(folder, 'x.zip')
  const writer = new ZipWriter(path)
  for (const [name, content] of members) writer.add(name, content)
  writer.close()
  return readFileSync(path)
}

const two = () =>
  zip([
    ['a.txt', 'one'],
    ['b.txt', 'two'],
  ])

/** The bytes with others in one place. */
function patched(bytes: Buffer, at: number, write: (copy: Buffer, at: number) => void): Buffer {
  const copy = Buffer.from(bytes)
  write(copy, at)
  return copy
}

/** Where the directory describes the member of that number. */
function described(bytes: Buffer, number: number): number {
  let at = bytes.readUInt32LE(bytes.length - 22 + 16)
  for (let index = 0; index < number; index++) at += 46 + bytes.readUInt16LE(at + 28)
  return at
}

describe('an archive', () => {
  test('gives back what was put in, and is the same bytes every time (Z2)', () => {
    const member = fc.tuple(
      fc.stringMatching(/^[a-z]{1,8}(?:\/[a-z.]{1,8}[a-z])?$/),
      fc.uint8Array({ maxLength: 300 }),
    )
    const all = fc.uniqueArray(member, { selector: ([name]) => name, maxLength: 8 })
    fc.assert(
      fc.property(all, (members) => {
        const bytes = zip(members)
        expect(looksLikeZip(bytes)).toBe(true)
        const read = readZip(bytes, limits)
        expect([...read].map(([name, content]) => [name, new Uint8Array(content)])).toEqual(members)
        expect(zip(members).equals(bytes)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test.each(['../up', '/root', 'a/../../b', 'a\\b', 'C:evil', 'a//b', './a', 'a\u0000b', 'a/', ''])(
    'X1: refuses the name %j',
    (name) => {
      expect(() => readZip(zip([[name, 'x']]), limits)).toThrow(/is no name of a member/)
    },
  )

  test('X2: refuses what unpacks to more than is allowed, or to more than it says', () => {
    const bomb = zip([['zeros', Buffer.alloc(2_000_000)]])
    expect(bomb.length).toBeLessThan(5_000)
    expect(() => readZip(bomb, limits)).toThrow(/unpacks to more than 1000000 bytes/)
    const lies = patched(bomb, described(bomb, 0), (copy, at) => {
      copy.writeUInt32LE(10, at + 24)
      copy.writeUInt32LE(10, 22)
    })
    expect(() => readZip(lies, limits)).toThrow(/does not unpack to what it says/)
    const many = zip(Array.from({ length: 101 }, (_, index) => [`m${index}`, '']))
    expect(() => readZip(many, limits)).toThrow(/101 members, and 100 are allowed/)
  })

  test('X3: refuses two descriptions, two members of one name, and members that overlap', () => {
    const same = zip([
      ['a.txt', 'one'],
      ['a.txt', 'two'],
    ])
    expect(() => readZip(same, limits)).toThrow(/is in it twice/)
    const bytes = two()
    const renamed = patched(bytes, bytes.indexOf('a.txt'), (copy, at) => void copy.write('z', at))
    expect(() => readZip(renamed, limits)).toThrow(/is described in two ways/)
    const onto = patched(bytes, described(bytes, 1), (copy, at) => void copy.writeUInt32LE(0, at + 42))
    expect(() => readZip(onto, limits)).toThrow(/overlaps another member|described in two ways/)
  })

  test('refuses what is encrypted, packed in another way, cut off, longer, or damaged anywhere', () => {
    const bytes = two()
    const first = described(bytes, 0)
    const otherwise = (offset: number, value: number) =>
      patched(bytes, first, (copy, at) => void copy.writeUInt16LE(value, at + offset))
    expect(() => readZip(otherwise(8, 0x801), limits)).toThrow(/was not packed by Lockstep/)
    expect(() => readZip(otherwise(10, 14), limits)).toThrow(/was not packed by Lockstep/)
    expect(() => readZip(Buffer.concat([bytes, Buffer.from('x')]), limits)).toThrow(
      /no end, or something behind it/,
    )
    for (let length = 0; length < bytes.length; length++)
      expect(() => readZip(bytes.subarray(0, length), limits)).toThrow(/cannot be trusted/)
  })

  test('X4: refuses every change of a single byte', () => {
    const bytes = two()
    for (let at = 0; at < bytes.length; at++) {
      const changed = patched(bytes, at, (copy) => void (copy[at]! ^= 1))
      expect(() => readZip(changed, limits), `byte ${at}`).toThrow(/cannot be trusted/)
    }
  })
})
