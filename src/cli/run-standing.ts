import { relative, resolve } from 'node:path'
import type { JournalEntry } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import type { PolicyMode, Principal } from '../policy/policy-request.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { requestersOf } from '../run/requesters-of.ts'
import type { Config } from '../source/config.ts'
import type { PolicySetup } from '../tool/policy-guard.ts'
import { localUser, type People } from './local-user.ts'
import { readPolicyFile, showProblems } from './policy-file.ts'
import type { Terminal } from './terminal.ts'

/** Under which policies a run of the command line stands, and who is behind it. */
export interface RunStanding {
  readonly policies: readonly CompiledPolicy[]
  /** Where they were read, absolute. */
  readonly paths: readonly string[]
  readonly people: People
  readonly principal: Principal
  /** Everybody who had a part in asking for the run, who cannot approve its calls. */
  readonly requesters: readonly string[]
  /** Why the glass is broken, where somebody who may does. */
  readonly breakGlass?: string
}

/**
 * Reads the policies of the configuration and those that are named, each once, as they are now; null after showing what is wrong with
 * them. `before` is what a run that is taken up has on record.
 */
export function openStanding(
  config: Config | null,
  named: readonly string[],
  terminal: Terminal,
  before: readonly JournalEntry[] = [],
): RunStanding | null {
  const paths = [...new Set([...(config?.policies ?? []), ...named.map((path) => resolve(path))])]
  const files = paths.map((path) => readPolicyFile(relative('.', path)))
  const policies = files.flatMap(({ policy }) => policy ?? [])
  if (policies.length < files.length) {
    for (const file of files) if (file.policy === null) showProblems(file, terminal.err, terminal)
    return null
  }
  const people = config?.people ?? {}
  const principal = localUser(people)
  const requesters = [...new Set([principal.id, ...requestersOf(before)])]
  return { policies, paths, people, principal, requesters }
}

/** The standing of a run by a playbook: where no policy is named, the defaults hold for a playbook with calls that the runtime makes. */
export function underDefaults(standing: RunStanding, { steps }: Playbook): RunStanding {
  const calls = steps.some(({ tool }) => tool !== null)
  return standing.policies.length > 0 || !calls ? standing : { ...standing, policies: [defaultPolicy()] }
}

/** The same standing with the glass broken, where a reason is given. Throws `invalid_input` if no policy lets whoever asks. */
export function withGlassBroken(standing: RunStanding, reason: string | null): RunStanding {
  if (reason === null) return standing
  const { id, roles } = standing.principal
  const may = standing.policies.some(({ breakGlass }) => roles.some((role) => breakGlass?.roles.has(role)))
  if (reason.trim() !== '' && may) return { ...standing, breakGlass: reason }
  throw new LockstepError(
    'invalid_input',
    may
      ? 'Breaking the glass takes a reason.'
      : `The glass stays whole: no policy of this run lets ${id} break it.`,
    {
      hint: may
        ? null
        : '`break_glass` of a policy names the roles, and `people` of the configuration who has them',
    },
  )
}

/** What is told first of a run whose glass is broken. */
export function describeGlass({ breakGlass, principal }: RunStanding): readonly string[] {
  return breakGlass === undefined ? [] : [`THE GLASS IS BROKEN by ${principal.id}: ${breakGlass}`]
}

/** What an agent is told of it; nothing where there is no policy, and then none is asked. */
export function policySetup(
  { policies, principal, requesters, breakGlass }: RunStanding,
  mode: PolicyMode,
): PolicySetup | undefined {
  return policies.length === 0
    ? undefined
    : { policies, principal, requesters, mode, breakGlass: breakGlass ?? null }
}
