import type { Facts } from './request.ts'
import type { RunState } from './state.ts'

/** The facts behind a verdict on a call that are not what they usually are; only those, because most calls have none. */
export interface RecordedFacts {
  readonly registered?: false
  readonly risk?: NonNullable<Facts['risk']>
  readonly malformed?: string
  readonly veto?: string
  readonly shown?: true
}

/** The member of an event that holds them, so that the verdict can be made again from the record alone; empty where all is as usual. */
export function recordFacts(
  state: RunState,
  { registered, risk, malformed, veto, shown }: Facts,
): { readonly facts?: RecordedFacts } {
  const facts: RecordedFacts = {
    ...(registered === false ? { registered } : {}),
    // A list of steps does not ask what a tool can do at worst; a program does, and so do checks and undoing.
    ...(!asksForRisk(state) || risk == null ? {} : { risk }),
    ...(malformed == null ? {} : { malformed }),
    ...(veto == null ? {} : { veto }),
    ...(shown === undefined || state.mode !== 'dry-run' ? {} : { shown }),
  }
  return Object.keys(facts).length === 0 ? {} : { facts }
}

function asksForRisk({ program, shape }: RunState): boolean {
  return program !== null || shape.hasCalls || shape.compensates
}
