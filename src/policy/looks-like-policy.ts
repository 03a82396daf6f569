import type { SourceDocument } from '../document/source-document.ts'
import { isJsonObject } from '../shared/json.ts'

const words =
  'tool_allowlist budgets approvals approval_defaults allow_self_approval preconditions rules freeze limits risk break_glass'.split(
    ' ',
  )
/** What playbooks and files of cases have, and policies never do. */
const otherWords = ['steps', 'cases', 'name']

/** Says whether a document is meant as a policy; one that cannot be read is judged by its text. */
export function looksLikePolicy(document: SourceDocument): boolean {
  const value = document.value()
  const has =
    value === undefined
      ? (word: string) => new RegExp(`^["'\\s{]*${word}["']?\\s*:`, 'm').test(document.text)
      : (word: string) => isJsonObject(value) && Object.hasOwn(value, word)
  return words.some(has) && !otherWords.some(has)
}
