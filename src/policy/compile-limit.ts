import { counterQuery, type CounterQuery } from './counter-query.ts'
import { unjudged, type PolicyRule, type Utterance } from './policy-rule.ts'
import type { PolicyFile } from './policy-schema.ts'
import { readDuration } from './read-duration.ts'
import type { Counter } from './policy-request.ts'
import type { Situation } from './situation.ts'

type LimitFile = PolicyFile['limits'][number]

/** What a limit counts. */
export function queryOf(limit: LimitFile, tools: readonly string[] | null): CounterQuery {
  const seconds = limit.per === undefined ? null : readDuration(limit.per)
  return counterQuery({ tools, seconds, scope: limit.scope })
}

/** How a limit speaks: where the call would be one too many. */
export function compileLimit(
  limit: LimitFile,
  name: string,
  query: CounterQuery,
): Pick<PolicyRule, 'speak' | 'silence'> {
  const { max_calls, max_targets } = limit
  const time = `${limit.per === undefined ? '' : ` in ${limit.per}`} per ${limit.scope}`
  const verdict = limit.then === 'block' ? 'deny' : 'needs_approval'

  return {
    speak(situation): Utterance | null {
      const counter = counterOf(situation, query.key)
      if (counter === null) return unjudged(name, `nobody counted ${query.key}`)
      if (max_targets !== undefined) {
        // Whatever has no name cannot be told apart, so nobody can say how many there are.
        if (situation.request.target === null) return unjudged(name, 'the tool does not say what it acts on')
        if (counter.targets + (counter.seen ? 0 : 1) > max_targets) {
          const reason =
            limit.message ?? `at most ${max_targets} targets${time}, and there were ${counter.targets}`
          return { verdict, code: 'policy_blast_radius', reason }
        }
      }
      if (max_calls === undefined || counter.calls < max_calls) return null
      const reason = limit.message ?? `at most ${max_calls} calls${time}, and there were ${counter.calls}`
      return { verdict, code: 'policy_rate_limit', reason }
    },
    silence(situation) {
      const counter = counterOf(situation, query.key)!
      const parts = [
        max_calls === undefined ? [] : `${counter.calls} of ${max_calls} calls`,
        max_targets === undefined
          ? []
          : `${counter.targets} of ${max_targets} targets${counter.seen ? ', this one among them' : ''}`,
      ]
      return `so far ${parts.flat().join(' and ')}${time}`
    },
  }
}

function counterOf({ facts }: Situation, key: string): Counter | null {
  if (!Object.hasOwn(facts.counters, key)) return null
  const counter = facts.counters[key]!
  const { calls, targets, seen } = counter
  return isCount(calls) && isCount(targets) && typeof seen === 'boolean' ? counter : null
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value)
}
