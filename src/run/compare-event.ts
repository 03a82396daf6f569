import type { JsonObject } from '../shared/json.ts'
import { sameJson } from '../shared/same-json.ts'
import type { RunEvent } from './event.ts'

/** Says whether an event was recorded as it is worked out again. An older record does not hold the facts of a denial. */
export function isSameEvent(expected: RunEvent, recorded: RunEvent | undefined): boolean {
  if (expected.type !== 'tool.denied' || recorded?.type !== 'tool.denied' || recorded.facts !== undefined)
    return sameJson(expected, recorded)
  const { facts: _facts, ...others } = expected
  return sameJson(others, recorded)
}

/** The type of an event, and what it is about. */
export function describeEvent(event: RunEvent): string {
  const { tool, step, code, status } = event as unknown as JsonObject
  const about = [code, tool, step, status].filter((each) => typeof each === 'string')
  return about.length === 0 ? event.type : `${event.type} (${about.join(', ')})`
}
