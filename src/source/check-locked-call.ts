import type { ParsedProgram } from '../playbook/markdown/parse-program.ts'
import type { UnresolvedStep } from '../playbook/markdown/step-context.ts'
import type { Call, Program, Step } from '../playbook/program.ts'

/** What came of checking an answer: the calls that it makes, or why it cannot stand. */
export type CheckedCall =
  | { readonly targets: readonly Call['target'][]; readonly problem: null }
  | { readonly targets: null; readonly problem: string }

/**
 * Checks a call as if the author had written it in place of the bullet: it must name what there is, with arguments that fit, over
 * variables that are set.
 */
export function checkLockedCall(
  step: UnresolvedStep,
  call: string,
  text: string,
  read: (text: string) => Pick<ParsedProgram, 'program' | 'diagnostics'>,
): CheckedCall {
  if (/[\r\n]/.test(call) || call.length > 2000) return refuse('it is not one line')
  if (!/\)\s*$/.test(call)) return refuse('a call is written with parentheses, such as `Name($x)`')
  const written = replaceBullet(step, call, text)
  if (written === null) return refuse('the bullet was not found in the file')
  const { program, diagnostics } = read(written)
  const wrong = diagnostics.find(({ severity, line }) => severity === 'error' && line === step.line)
  if (wrong !== undefined) return refuse(wrong.message)
  const found = program === null ? null : findStep(program, step.step)
  if (found === null) return refuse('the playbook cannot be read with it')
  if (found.kind !== 'call' && found.kind !== 'set') return refuse('it is no call')
  const targets = found.value.calls.map(({ target }) => target)
  return targets.length === 0 ? refuse('it is no call') : { targets, problem: null }
}

function refuse(problem: string): CheckedCall {
  return { targets: null, problem }
}

/** The text with the call in place of the bullet's words. */
function replaceBullet({ line, text: bullet }: UnresolvedStep, call: string, text: string): string | null {
  const lines = text.split('\n')
  const parts = bullet.split('\n')
  const first = lines[line - 1]
  const at = first?.lastIndexOf(parts[0]!) ?? -1
  if (first === undefined || at === -1) return null
  lines.splice(line - 1, parts.length, first.slice(0, at) + call)
  return lines.join('\n')
}

/** The bullet with the id, wherever it is nested. */
function findStep(program: Program, id: string): Step | null {
  const waiting = program.agents.flatMap(({ playbooks }) => playbooks.flatMap(({ steps }) => steps))
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    if (step.id === id && step.kind !== 'if') return step
    if (step.kind === 'if') waiting.push(...step.arms.flatMap(({ steps }) => steps))
    if (step.kind === 'loop' || step.kind === 'each') waiting.push(...step.steps)
  }
  return null
}
