import { execFileSync } from 'node:child_process'
import { localUser } from './local-user.ts'

const known = new Map<number, string>()

/** The name of a user of this system by their number; null if it has none, or nobody can say. */
export function userOfUid(uid: number): string | null {
  if (uid === process.geteuid?.()) return localUser({}).id
  const name = known.get(uid) ?? lookUp(uid)
  if (name !== null) known.set(uid, name)
  return name
}

/** The platform's library knows only the user of this process; the system's own command asks whatever directory it uses. */
function lookUp(uid: number): string | null {
  try {
    const name = execFileSync('id', ['-un', String(uid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
    }).trim()
    // What is answered with its own number has no name.
    return name === '' || name === String(uid) ? null : name
  } catch {
    return null
  }
}
