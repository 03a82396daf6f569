import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import type { AgentHook } from './hook.ts'
import { PlaybookEnforcerHook } from './playbook-enforcer-hook.ts'
import { describeKind } from './refuse-strangers.ts'

const places: Readonly<Record<Exclude<keyof AgentHook, 'name'>, true>> = {
  beforeModelCall: true,
  afterModelCall: true,
  beforeToolCall: true,
  afterToolCall: true,
  onStep: true,
}
const names = Object.keys(places)

/** Throws `usage` for hooks that would never run: no list, nothing that is called anywhere, or a name that is misspelt. */
export function checkHooks(hooks: unknown): void {
  if (hooks === undefined) return
  if (!Array.isArray(hooks)) {
    throw new LockstepError('usage', `hooks must be a list, not ${describeKind(hooks)}.`)
  }
  for (const hook of hooks as readonly unknown[]) if (!(hook instanceof PlaybookEnforcerHook)) checkHook(hook)
}

function checkHook(hook: unknown): void {
  if (typeof hook !== 'object' || hook === null) {
    throw new LockstepError('usage', `A hook is an object, not ${describeKind(hook)}.`)
  }
  const members = hook as Readonly<Record<string, unknown>>
  for (const name of names) {
    if (members[name] === undefined || typeof members[name] === 'function') continue
    throw new LockstepError(
      'usage',
      `${name} of a hook must be a function, not ${describeKind(members[name])}.`,
    )
  }
  // A hook may keep things of its own, so only what looks like one of the names is a mistake.
  for (const name of namesOf(hook)) {
    const nearest = names.includes(name) || name === 'name' ? null : nearestName(name, names)
    if (nearest === null || typeof members[name] !== 'function') continue
    throw new LockstepError('usage', `A hook has no '${name}', so it would never run.`, {
      hint: `Did you mean '${nearest}'?`,
    })
  }
  if (names.some((name) => members[name] !== undefined)) return
  throw new LockstepError('usage', 'A hook that does nothing was given.', {
    hint: `It may have ${names.join(', ')}.`,
  })
}

/** The names of an object's members, those of its class included. */
function namesOf(hook: object): readonly string[] {
  const found: string[] = []
  for (
    let at: object | null = hook;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  ) {
    found.push(...Object.getOwnPropertyNames(at))
  }
  return found
}
