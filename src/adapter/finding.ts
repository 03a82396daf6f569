import type { Json } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { type CallValues, compileJsonTemplate, compileToolCondition } from './tool-template.ts'

/** What an answer says about a call whose outcome is unknown. */
export interface DeclaredFinding {
  /** Null only where something else than a condition says it. */
  readonly applied: string | null
  readonly notApplied: string | null
  /** Undefined for none. */
  readonly result: Json | undefined
}

/** What became of a call, as a tool tells it. */
export interface Finding {
  readonly outcome: 'succeeded' | 'failed' | 'unknown'
  readonly result?: Json
  readonly note?: string
}

/** Reads an answer. */
export interface FindingReader {
  /**
   * What the conditions make of the answer. Without `not_applied`, an answer that does not say applied says not applied. What cannot be
   * worked out, and what says both, is unknown.
   */
  judge(values: CallValues): Finding
  /** The finding that a call was applied, with the result that is declared for it. */
  applied(values: CallValues): Finding
}

/** Compiles what answers say. Throws `invalid_tool` for a condition or a placeholder that is no expression. */
export function compileFinding(
  declared: DeclaredFinding,
  name: string,
  more: readonly string[],
): FindingReader {
  const what = `The reconcile of '${name}'`
  const isApplied = declared.applied === null ? null : compileToolCondition(declared.applied, what, more)
  const isNot = declared.notApplied === null ? null : compileToolCondition(declared.notApplied, what, more)
  const makeResult = declared.result === undefined ? null : compileJsonTemplate(declared.result, what, more)
  const applied = (values: CallValues): Finding => {
    if (makeResult === null) return { outcome: 'succeeded' }
    try {
      return { outcome: 'succeeded', result: makeResult(values) }
    } catch (error) {
      // It was applied all the same; what follows finds no result, and says so.
      return { outcome: 'succeeded', note: messageOf(error) }
    }
  }
  return {
    applied,
    judge(values) {
      const yes = isApplied?.(values) ?? null
      const no = isNot === null ? yes === false : isNot(values)
      if (yes === true && no !== true) return applied(values)
      return { outcome: yes !== true && no === true ? 'failed' : 'unknown' }
    },
  }
}
