import { LockstepError } from '../shared/lockstep-error.ts'

/** The error about a thing that is not there, or not for who asks. */
export function notFound(what: string, id: string): LockstepError {
  return new LockstepError('not_found', `There is no ${what} ${id}.`)
}

/** The thing, or `not_found`. */
export function found<Thing>(thing: Thing | null | undefined, what: string, id: string): Thing {
  if (thing === null || thing === undefined) throw notFound(what, id)
  return thing
}

/** Throws `duplicate` where a name is taken. */
export function assertFree(isTaken: boolean, what: string, name: string): void {
  if (isTaken) throw new LockstepError('duplicate', `There is a ${what} ${name} already.`)
}
