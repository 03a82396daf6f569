/** The codes of thrown errors. Each has a page in docs/errors; a test compares the two. */
export const errorCodes = [
  'invalid_playbook',
  'invalid_input',
  'invalid_value',
  'invalid_snapshot',
  'playbook_mismatch',
  'step_not_completable',
  'step_not_retryable',
  'unknown_step',
  'unknown_tool',
  'duplicate_tool',
  'invalid_tool',
  'tool_failed',
  'call_inside_call',
  'record_failed',
  'journal_conflict',
  'journal_closed',
  'journal_unwritable',
  'journal_unreadable',
  'usage',
  'internal',
] as const

export type ErrorCode = (typeof errorCodes)[number]
