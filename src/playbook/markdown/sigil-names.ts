import type { ValueType } from '../program.ts'
import { typeNamed } from './signature.ts'

/** A variable as a text mentions it, perhaps with its type: `$count:int`. */
export interface MentionedVariable {
  readonly name: string
  readonly type: ValueType
}

const anyName = /[\p{L}_][\p{L}\p{N}_]*/uy
const letters = /\p{L}+/uy

/** The names that stand behind a `$` in a text, in their order, each as often as it is there. */
export function sigilNames(text: string): string[] {
  const names: string[] = []
  let at = text.indexOf('$')
  while (at !== -1) {
    const end = nameEnd(text, at + 1)
    if (end > at + 1) names.push(text.slice(at + 1, end))
    at = text.indexOf('$', end)
  }
  return names
}

/** The same with their types; one without a type, or with a word that is none, is `any`. */
export function sigilVariables(text: string): MentionedVariable[] {
  const variables: MentionedVariable[] = []
  let at = text.indexOf('$')
  while (at !== -1) {
    const end = nameEnd(text, at + 1)
    if (end > at + 1) variables.push({ name: text.slice(at + 1, end), type: typeAt(text, end) })
    at = text.indexOf('$', end)
  }
  return variables
}

/** Where the name ends that begins at an offset; that offset where none does. */
export function nameEnd(text: string, from: number): number {
  const end = asciiNameEnd(text, from)
  // Most names are ASCII; only where a letter of another script may follow the expression decides.
  if (!(text.charCodeAt(end) > 127)) return end
  anyName.lastIndex = from
  return from + (anyName.exec(text)?.[0].length ?? 0)
}

/** Where the ASCII letters and digits of the name that begins at an offset end. */
export function asciiNameEnd(text: string, from: number): number {
  let end = from
  let code = text.charCodeAt(end)
  while (isAsciiLetter(code) || (end > from && isDigit(code))) code = text.charCodeAt(++end)
  return end
}

function typeAt(text: string, at: number): ValueType {
  if (text[at] !== ':') return 'any'
  letters.lastIndex = at + 1
  const word = letters.exec(text)?.[0]
  return (word === undefined ? null : typeNamed(word)) ?? 'any'
}

function isAsciiLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
