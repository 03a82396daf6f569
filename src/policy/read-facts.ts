import { CallHistory } from './call-history.ts'
import type { CompiledPolicy } from './compile-policy.ts'
import type { Counter, PolicyFacts, PolicyRequest } from './policy-request.ts'
import type { FactsFile } from './policy-case-schema.ts'
import { readInstant } from './read-instant.ts'

/** The time where none is given: Monday noon. */
const someMonday = '2026-01-05T12:00:00Z'
const nothing = { cost_usd: 0, tokens: 0, calls: 0, minutes: 0 }

/**
 * The facts as people write them, for a request to these policies. What is left out is the harmless case: nothing spent,
 * nothing counted, no past. A time that is none stays none, and so denies.
 */
export function readFacts(
  file: FactsFile,
  request: PolicyRequest,
  policies: readonly CompiledPolicy[],
): PolicyFacts {
  const past = file.past === undefined ? [] : file.past
  return {
    now: readInstant(file.at ?? someMonday) ?? Number.NaN,
    principal: {
      id: file.principal ?? 'somebody',
      kind: file.identity ?? 'local',
      roles: file.roles ?? [],
    },
    mode: file.mode ?? 'execute',
    inputs: file.inputs ?? {},
    context: file.context ?? {},
    past: past === null ? null : new CallHistory(past, policies),
    counters: file.counters === null ? {} : readCounters(file.counters ?? {}, request.target, policies),
    spent: file.spent === undefined ? { run: nothing, day: nothing } : file.spent,
    breakGlass: file.break_glass ?? null,
  }
}

/** People name a counter by its limit; facts name it by what is counted. */
function readCounters(
  given: NonNullable<FactsFile['counters']>,
  target: string | null,
  policies: readonly CompiledPolicy[],
): Record<string, Counter> {
  const counters: Record<string, Counter> = Object.create(null)
  for (const { rule, key } of policies.flatMap((policy) => policy.counters)) {
    const counted = Object.hasOwn(given, rule) ? given[rule]! : { targets: [] }
    const targets = new Set(counted.targets)
    // Two limits may share what they count; the one that says something is heard.
    if (key in counters && !Object.hasOwn(given, rule)) continue
    counters[key] = {
      calls: counted.calls ?? counted.targets.length,
      targets: targets.size,
      seen: target !== null && targets.has(target),
    }
  }
  return counters
}
