import { userInfo } from 'node:os'
import type { Principal } from '../policy/policy-request.ts'
import type { Config } from '../source/config.ts'

/** Who has which roles, by name. */
export type People = Config['people']

/** The user of the operating system who runs this process, with the roles that the configuration gives them. */
export function localUser(people: People): Principal {
  const id = userName()
  return { id, kind: 'local', roles: rolesOf(people, id) }
}

/** The roles of a person; who is not listed has none. */
export function rolesOf(people: People, person: string): readonly string[] {
  return Object.hasOwn(people, person) ? people[person]! : []
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In a container a user may have a number and no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
