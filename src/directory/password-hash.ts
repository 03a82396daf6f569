/**
 * Hashes of passwords.
 *
 * Invariants
 * W1  A hash says how it was made, so that newer ones can be made in another way.
 * W2  Few are computed at once, and few wait: signing in never takes the whole machine.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { LockstepError } from '../shared/lockstep-error.ts'

/** OWASP's parameters for scrypt that take 32 MB: as hard to guess as those that take more. */
const parameters = { N: 2 ** 15, r: 8, p: 3 } as const
const length = 32
const mostAtOnce = 2
const mostWaiting = 50
const pattern = /^scrypt\$N=(\d+),r=(\d+),p=(\d+)\$([\w+/=]+)\$([\w+/=]+)$/

let running = 0
const waiting: (() => void)[] = []

/** What is kept of a password. Throws `rate_limited` while too many are being computed. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, parameters)
  const { N, r, p } = parameters
  return `scrypt$N=${N},r=${r},p=${p}$${salt.toString('base64')}$${hash.toString('base64')}`
}

/**
 * Says whether the password is the one that was hashed; for null, where there is no hash, it takes as long to say no. Throws `rate_limited` while too many
 * are being computed.
 */
export async function isPassword(password: string, hashed: string | null): Promise<boolean> {
  const [, N, r, p, salt, hash] = pattern.exec(hashed ?? '') ?? []
  if (salt === undefined || hash === undefined) {
    await derive(password, Buffer.alloc(16), parameters)
    return false
  }
  const kept = Buffer.from(hash, 'base64')
  const given = await derive(password, Buffer.from(salt, 'base64'), {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  })
  return kept.length === given.length && timingSafeEqual(kept, given)
}

async function derive(
  password: string,
  salt: Buffer,
  { N, r, p }: { readonly N: number; readonly r: number; readonly p: number },
): Promise<Buffer> {
  await take()
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      // The same letters count, however a keyboard composes them.
      scrypt(password.normalize('NFKC'), salt, length, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
        error === null ? resolve(key) : reject(error),
      )
    })
  } finally {
    giveBack()
  }
}

async function take(): Promise<void> {
  if (running < mostAtOnce) {
    running++
    return
  }
  if (waiting.length >= mostWaiting)
    throw new LockstepError('rate_limited', 'Too many people are signing in at once.', {
      consequence: 'retry',
      hint: 'Try again in a few seconds.',
    })
  await new Promise<void>((resolve) => waiting.push(resolve))
}

/** The place goes to the next in line without becoming free in between. */
function giveBack(): void {
  const next = waiting.shift()
  if (next === undefined) running--
  else next()
}
