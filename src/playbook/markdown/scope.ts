import type { Parameter, Target, ValueType } from '../program.ts'
import type { Variables } from './variables.ts'

/** The variables that a playbook may use: its own, and those of its agent. */
export interface Scope {
  readonly parameters: ReadonlyMap<string, Parameter>
  /** Names without `$` that a step of the playbook sets. */
  readonly locals: ReadonlySet<string>
  /** Names with `$` that any playbook of the agent sets. */
  readonly state: Variables
  /**
   * Names that a natural-language step of the agent brings into being: known to readers, still to be set by that step. Null while they are
   * looked for: what is said of a variable then is said again, or not at all, when they are known.
   */
  readonly elsewhere: Pick<Variables, 'has'> | null
}

/** Names that are there without being set. */
export const givenNames: ReadonlySet<string> = new Set([
  'agent',
  'current_playbook_call',
  'call',
  'timestamp',
  'startup_message',
])

/** Says whether the name is a variable of the scope. */
export function isKnown(scope: Scope, name: string, sigil: boolean): boolean {
  return scope.elsewhere?.has(name) === true || isSet(scope, name, sigil)
}

/** Says whether a step in a definite form, or an earlier one in words, sets the name. */
export function isSet(scope: Scope, name: string, sigil: boolean): boolean {
  return (
    scope.parameters.has(name) ||
    scope.state.has(name) ||
    scope.locals.has(name) ||
    givenNames.has(name) ||
    (!sigil && /^call_\d+$/.test(name))
  )
}

/** Where a value of that name goes: parameters and bare names are the call's own, `$names` the agent's. */
export function targetIn(scope: Scope, name: string, sigil: boolean, type: ValueType = 'any'): Target {
  const own = scope.parameters.get(name)
  const local =
    own !== undefined ||
    (!sigil && !scope.state.has(name)) ||
    (sigil && scope.locals.has(name) && !scope.state.has(name))
  return { name, scope: local ? 'local' : 'state', type: type === 'any' ? (own?.type ?? 'any') : type }
}

/** `base is 10` sets; `Payment is required` only says. */
export function isAssignedBare(target: string, value: string): boolean {
  if (!/^\p{Ll}|^_/u.test(target)) return false
  return (
    /^(?:["'[{(\d$-]|true$|false$|null$)/.test(value) ||
    /^[\p{L}_][\p{L}\p{N}_.]*\s*(?:\(|[-+*/%]\s)/u.test(value)
  )
}
