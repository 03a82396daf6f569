/** Why a call, a declaration or a final answer was refused. Each has a page in docs/errors. */
export const denialCodes = [
  'invalid_tool_name',
  'invalid_arguments',
  'unknown_tool',
  'duplicate_call',
  'vetoed',
  'run_ended',
  'step_failed',
  'run_paused',
  'run_cancelled',
  'timeout',
  'outcome_unknown',
  'playbook_complete',
  'unexpected_tool',
  'out_of_sequence',
  'step_closed',
  'max_tool_calls',
  'max_extra_calls',
  'arguments_required',
  'argument_rule',
  'rule',
  'policy',
  'awaiting_approval',
  'gate_error',
  'unadmitted_call',
] as const

export type DenialCode = (typeof denialCodes)[number]

/** Denials that concern the call itself, not the playbook: they bind even where the playbook only observes. */
const hardCodes: ReadonlySet<DenialCode> = new Set<DenialCode>([
  'invalid_tool_name',
  'invalid_arguments',
  'unknown_tool',
  'duplicate_call',
  'vetoed',
  'policy',
  'awaiting_approval',
  'gate_error',
])

/** Says whether the denial stands although the playbook only observes (G13). */
export function bindsObservers(code: DenialCode): boolean {
  return hardCodes.has(code)
}
