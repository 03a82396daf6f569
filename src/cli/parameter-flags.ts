import type { Playbook } from '../playbook/playbook.ts'
import type { FlagRules } from './read-flags.ts'

/** How the parameters of a program can be given, besides `--input NAME=VALUE`. */
export interface ParameterFlags {
  /** The flag of each parameter that has one of its own. */
  readonly own: ReadonlyMap<string, string>
  /** The flag that each other parameter would have, but an option or another parameter is spelled the same. */
  readonly taken: ReadonlyMap<string, string>
}

const everywhere = ['help', 'h']

/** Gives the parameters of a program flags; one that means two things is no parameter's, so that no option ever sets one. */
export function parameterFlags(playbook: Playbook | null, options: FlagRules): ParameterFlags {
  const own = new Map<string, string>()
  const taken = new Map<string, string>()
  const names = playbook?.program == null ? [] : Object.keys(playbook.inputs)
  for (const name of names) {
    const flag = flagOf(name)
    const shared = names.some((other) => other !== name && flagOf(other) === flag)
    const free = !shared && !Object.hasOwn(options, flag) && !everywhere.includes(flag)
    ;(free ? own : taken).set(name, flag)
  }
  return { own, taken }
}

/** A parameter as a flag is spelled. */
function flagOf(parameter: string): string {
  return parameter
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase()
}
