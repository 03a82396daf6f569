/**
 * Writes a ZIP archive (APPNOTE 6.3) into a file, member after member.
 *
 * Invariants
 * Z1  Only what every reader knows: deflate, UTF-8 names, no extensions. What would need more (4 GB, 65,535 members) is refused.
 * Z2  The same members give the same bytes: nothing of the machine or the time is in it.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { crc32, deflateRawSync } from 'node:zlib'
import { LockstepError } from '../shared/lockstep-error.ts'

const most = 0xffff_ffff

/** What the description of every member begins with: version 2.0, a name in UTF-8, deflate, and 1 January 1980, the first day there is. */
export const fixedHead = Buffer.from([20, 0, 0, 8, 8, 0, 0, 0, 0x21, 0])

/** An archive that is being written. */
export class ZipWriter {
  readonly #file: number
  readonly #directory: Buffer[] = []
  #at = 0

  /** Throws what the platform throws if the file cannot be made; whoever it is readable for, others it is not. */
  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600)
  }

  /** Adds a member. Throws `not_available` for what does not fit. */
  add(name: string, content: string | Uint8Array): void {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    const packed = deflateRawSync(bytes)
    if (
      bytes.length > most ||
      this.#at + packed.length > most - 1_000_000 ||
      this.#directory.length >= 65_000
    )
      throw new LockstepError('not_available', 'An archive holds at most 4 GB.', {
        hint: 'export a shorter time',
      })
    const label = Buffer.from(name)
    const about = Buffer.alloc(26)
    fixedHead.copy(about)
    about.writeUInt32LE(crc32(bytes), 10)
    about.writeUInt32LE(packed.length, 14)
    about.writeUInt32LE(bytes.length, 18)
    about.writeUInt16LE(label.length, 22)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(this.#at, 10)
    this.#directory.push(signed('PK\u0001\u0002', Buffer.from([20, 0]), about, tail, label))
    this.#write(signed('PK\u0003\u0004', about, label))
    this.#write(packed)
  }

  /** Ends the archive and closes the file. */
  close(): void {
    const start = this.#at
    for (const entry of this.#directory) this.#write(entry)
    const end = Buffer.alloc(18)
    end.writeUInt16LE(this.#directory.length, 4)
    end.writeUInt16LE(this.#directory.length, 6)
    end.writeUInt32LE(this.#at - start, 8)
    end.writeUInt32LE(start, 12)
    this.#write(signed('PK\u0005\u0006', end))
    closeSync(this.#file)
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) done += writeSync(this.#file, bytes, done)
    this.#at += bytes.length
  }
}

function signed(signature: string, ...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.from(signature, 'latin1'), ...parts])
}
