/**
 * The variables of a process that the tools of a run read. Whoever works on a run for another terminal has to have the same, or it would act with other
 * rights or on another system than the one that was meant.
 */
import type { Playbook } from '../playbook/playbook.ts'
import { digest } from '../shared/digest.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { Config, SecretReference } from '../source/config.ts'
import { secretsOfConfig } from '../source/config-secrets.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The names of the variables; null where they cannot be known, because a module or a program that finds a secret sees all of them. */
export function variablesOf(config: Config | null, playbook: Pick<Playbook, 'secrets'>): string[] | null {
  const named = Object.values(playbook.secrets).flatMap((text) => /^env:(.+)$/s.exec(text)?.[1] ?? [])
  if (config === null) return named
  const secrets: readonly SecretReference[] = secretsOfConfig(config)
  if (config.modules.length > 0 || secrets.some(({ from }) => from === 'exec')) return null
  const servers = Object.values(config.mcpServers).some((server) => 'command' in server)
  return [
    ...new Set([
      ...named,
      ...secrets.flatMap((secret) => (secret.from === 'env' ? [secret.name] : [])),
      ...config.exec.flatMap(({ passEnv }) => passEnv),
      ...(servers ? ['PATH', 'HOME'] : []),
      ...(config.practice ? ['LOCKSTEP_PRACTICE_URL', 'PRACTICE_FAULTS'] : []),
      'LOCKSTEP_SECRET_KEY',
    ]),
  ].sort()
}

/** What the variables hold, as digests that are of use for this run only. */
export function digestVariables(names: readonly string[], run: string, env: Env = process.env): JsonObject {
  return Object.fromEntries(
    names.map((name) => [name, env[name] === undefined ? null : digest(`${run}\n${name}\n${env[name]}`)]),
  )
}

/** The variables that hold something else here than there; what is no such list differs. */
export function differingVariables(there: Json | undefined, run: string, env: Env = process.env): string[] {
  if (typeof there !== 'object' || there === null || Array.isArray(there)) return ['the environment']
  const names = Object.keys(there)
  const here = digestVariables(names, run, env)
  return names.filter((name) => here[name] !== (there as JsonObject)[name])
}
