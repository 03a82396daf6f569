import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'

/** What can go wrong on purpose. */
export const faultKinds = ['fail', 'cut', 'delay', 'late'] as const

/**
 * What goes wrong with the next call of a tool: `fail` answers 503 and does nothing; `cut` does it and cuts the connection; `delay` waits, then
 * does it; `late` does it, then waits before it answers.
 */
export interface PracticeFault {
  readonly tool: string
  readonly kind: (typeof faultKinds)[number]
  /** How long is waited, in milliseconds. */
  readonly ms: number
}

const longest = 600_000

/**
 * Reads faults such as `practice.cordon_node=cut, practice.rollback=late:5000, practice.drain_node=fail*2`. Throws `invalid_value` for a
 * tool that is none of `tools`, and for anything else.
 */
export function readFaults(text: string, tools: readonly string[]): PracticeFault[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .flatMap((part) => {
      const match = /^([\w.]+)=(fail|cut|delay|late)(?::(\d{1,7}))?(?:\*(\d{1,3}))?$/.exec(part)
      if (match === null) throw invalid(`'${part}' is no fault.`)
      const [, tool = '', kind, ms = '0', times = '1'] = match
      const fault = checkFault({ tool, kind, ms: Number(ms) }, tools)
      return Array.from({ length: Number(times) }, () => fault)
    })
}

/** Reads one fault from data. Throws `invalid_value` for anything that is none. */
export function checkFault(given: unknown, tools: readonly string[]): PracticeFault {
  const { tool, kind, ms = 0 } = (given ?? {}) as Readonly<Record<string, unknown>>
  if (typeof tool !== 'string' || !tools.includes(tool)) {
    const nearest = typeof tool === 'string' ? nearestName(tool, tools) : null
    throw invalid(
      `There is no practice tool ${JSON.stringify(tool ?? null)}${nearest === null ? '' : `; did you mean ${nearest}?`}.`,
    )
  }
  if (!faultKinds.includes(kind as PracticeFault['kind'])) {
    throw invalid(`A fault is one of ${faultKinds.join(', ')}, not ${JSON.stringify(kind ?? null)}.`)
  }
  if (!Number.isInteger(ms) || (ms as number) < 0 || (ms as number) > longest) {
    throw invalid(`'ms' must be a whole number from 0 to ${longest}.`)
  }
  return { tool, kind: kind as PracticeFault['kind'], ms: ms as number }
}

function invalid(message: string): LockstepError {
  return new LockstepError('invalid_value', message, {
    hint: 'PRACTICE_FAULTS is written as practice.cordon_node=cut, practice.rollback=late:5000, practice.drain_node=fail*2',
  })
}
