import { randomBytes } from 'node:crypto'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** What the ids of the directory begin with. */
export type IdPrefix = 'prj' | 'usr' | 'rbd' | 'key' | 'lnk' | 'ses' | 'psk' | 'rb' | 'pol' | 'wh' | 'hk'

/** An id that was never given out: the prefix and 80 random bits in base32. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomLetters(16)}`
}

/** Random letters and digits of base32, five bits each. */
export function randomLetters(length: number): string {
  return Array.from(randomBytes(length), (byte) => letters[byte & 31]).join('')
}
