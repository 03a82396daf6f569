import { type Diagnostic, describeDiagnostic } from '../document/diagnostic.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { LockstepError } from '../shared/lockstep-error.ts'

/**
 * An error as people read it: what is wrong, then what to do about it. Further lines are indented, so that no text from a document
 * can pass for a line of its own.
 */
export function explainError(error: Pick<LockstepError, 'message' | 'hint'>): string {
  const { hint } = error
  const [first = '', ...more] = (aboutFile(error) ?? error.message).split(/\r?\n/).map(escapeControl)
  const lines = more.map((line) => `\n  ${line.trimStart()}`).join('')
  if (hint === null) return `${first}${lines}`
  const help = escapeControl(hint)
  if (more.length > 0) return `${first}${lines}\n  ${capital(help)}`
  return /[.!?]$/.test(first) ? `${first} ${capital(help)}` : `${first}, ${help}`
}

/** A file that is not there is no invalid playbook: what is wrong with it says enough. Null for every other error. */
function aboutFile(error: object): string | null {
  if (!('diagnostics' in error) || !Array.isArray(error.diagnostics)) return null
  const [only, second] = error.diagnostics as readonly Diagnostic[]
  const { file = null, message = '', line = null } = only ?? {}
  if (only === undefined || second !== undefined || line !== null || file === null) return null
  return message.includes(file) ? describeDiagnostic(only) : null
}

/** A hint that follows a whole sentence begins one; what is no plain word, such as a command, stays as it is. */
function capital(text: string): string {
  return /^[a-z]+(?=[\s,:;])/.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text
}
