import type { DenialCode } from '../run/denial-code.ts'

const guide = 'docs/guide/playbooks.md'

/** The refusals that people run into, and the place of the guide that says what is behind each. */
const places: Readonly<Partial<Record<DenialCode | 'finish_refused', string>>> = {
  unexpected_tool: 'a-call-is-refused-although-it-is-right',
  out_of_sequence: 'a-call-is-refused-although-it-is-right',
  finish_refused: 'the-agent-believes-that-a-step-is-done',
  max_tool_calls: 'the-calls-of-a-step-run-out',
  outcome_unknown: 'a-call-is-refused-because-an-earlier-one-is-unknown',
  playbook_complete: 'the-run-is-complete-and-something-still-has-to-be-called',
  step_closed: 'the-run-is-complete-and-something-still-has-to-be-called',
}

/** Where the guide explains a refusal, for people; null where it says nothing about it. */
export function guideLink(code: string): string | null {
  const place = Object.hasOwn(places, code) ? places[code as keyof typeof places] : undefined
  return place === undefined ? null : `see ${guide}#${place}`
}
