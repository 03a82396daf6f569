/** What the process tells its caller, for every command. */
export const exitCode = {
  done: 0,
  /** Failed, found errors, or ended incomplete. */
  failed: 1,
  /** Called in a way it does not understand. */
  usage: 2,
  needsInput: 3,
  waitsForApproval: 4,
  verificationFailed: 5,
} as const

/** One of the exit codes. */
export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
