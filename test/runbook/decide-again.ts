import type { CompiledPlaybook } from '../../src/playbook/compile-playbook.ts'
import type { PolicyFact } from '../../src/run/approval.ts'
import { decide } from '../../src/run/decide.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { factsOf, guessRequests } from '../../src/run/guess-request.ts'
import { passTime, perform, startRun } from '../../src/run/perform.ts'
import { sameJson } from '../../src/shared/same-json.ts'

/**
 * Decides a run again from its events alone, as a verifier does, and says where the record and the machine differ; null where they never do. `policyOf` is
 * what policies said to the calls of a tool.
 */
export function decideAgain(
  compiled: CompiledPlaybook,
  recorded: readonly RunEvent[],
  policyOf: (tool: string) => PolicyFact | null,
): string | null {
  const events = JSON.parse(JSON.stringify(recorded)) as RunEvent[]
  const started = events[0]!
  if (started.type !== 'run.started') return 'it does not begin with run.started'
  const { state, events: first } = startRun(compiled, started, { now: started.at })
  let at = 0
  const take = (expected: readonly RunEvent[]): string | null => {
    for (const event of expected) {
      const found = events[at]
      if (!sameJson(JSON.parse(JSON.stringify(event)), found))
        return `at ${at}: ${JSON.stringify(event)} follows, and the record says ${JSON.stringify(found)}`
      at++
    }
    return null
  }
  let problem = take(first)
  while (problem === null && at < events.length) {
    const event = events[at]!
    problem = take(passTime(state, { now: event.at }))
    if (problem !== null || at >= events.length) break
    const next = events[at]!
    const fits = guessRequests(events, at, state)
      .map(({ request, call, target }) => {
        const { facts } = call === null ? { facts: { now: next.at } } : factsOf(call, next.at, target)
        const policy = request.type === 'call' ? policyOf(request.tool) : null
        return { request, facts: { ...facts, policy } }
      })
      .find(({ request, facts }) => {
        const said = decide(state, request, facts)
        return said.length > 0 && said.every((each, offset) => sameJson(plain(each), events[at + offset]))
      })
    problem =
      fits === undefined
        ? `at ${at}: nothing leads to ${JSON.stringify(next)}`
        : take(perform(state, fits.request, fits.facts).events)
  }
  return problem
}

function plain(event: RunEvent): unknown {
  return JSON.parse(JSON.stringify(event))
}
