import type { Json } from '../../shared/json.ts'
import { compileExpression } from '../../expression/compile-expression.ts'
import { ExpressionError } from '../../expression/expression-error.ts'
import type { Parameter, ValueType } from '../program.ts'

/** What a heading says of a playbook. `problems` are sentences. */
export interface Signature {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly returns: ValueType | null
  readonly hasParentheses: boolean
  readonly problems: readonly string[]
}

const types: Readonly<Record<string, ValueType>> = {
  any: 'any',
  str: 'str',
  string: 'str',
  text: 'str',
  int: 'int',
  integer: 'int',
  float: 'float',
  number: 'float',
  bool: 'bool',
  boolean: 'bool',
  list: 'list',
  array: 'list',
  dict: 'dict',
  object: 'dict',
  none: 'any',
  artifact: 'any',
}

/** The type a word names, or null. */
export function typeNamed(word: string): ValueType | null {
  const key = word
    .trim()
    .toLowerCase()
    .replace(/\[.*\]$/s, '')
  return Object.hasOwn(types, key) ? types[key]! : null
}

/** Reads `Name($a, $b:int=10) -> type`; any text is a name. */
export function parseSignature(heading: string): Signature {
  const problems: string[] = []
  let rest = heading.trim()
  let returns: ValueType | null = null
  const arrow = rest.includes('->') ? /\)?\s*->\s*([^()]*)$/.exec(rest) : null
  if (arrow !== null) {
    const word = arrow[1]!.trim()
    returns = typeNamed(word)
    if (returns === null)
      problems.push(`\`${word}\` is no type; there are str, int, float, bool, list and dict`)
    rest = rest.slice(0, rest.lastIndexOf('->')).trimEnd()
  }
  const open = rest.endsWith(')') ? openingOf(rest) : -1
  if (open <= 0) return { name: rest, parameters: [], returns, hasParentheses: false, problems }
  const parameters = new Map<string, Parameter>()
  for (const part of splitTopLevel(rest.slice(open + 1, -1))) {
    const parameter = parseParameter(part, problems)
    if (parameter === null) continue
    if (parameters.has(parameter.name)) {
      problems.push(`the parameter \`${parameter.name}\` is there twice`)
    } else parameters.set(parameter.name, parameter)
  }
  const name = rest.slice(0, open).trim()
  return { name, parameters: [...parameters.values()], returns, hasParentheses: true, problems }
}

function parseParameter(part: string, problems: string[]): Parameter | null {
  if (part.trim() === '') return null
  const found = /^\s*\$?([\p{L}_][\p{L}\p{N}_]*)\s*(?::\s*([^=]+?))?\s*(?:=\s*(.+))?$/su.exec(part)
  if (found === null) {
    problems.push(`\`${part.trim()}\` is no parameter; write such as \`$total\` or \`$limit:int=10\``)
    return null
  }
  const [, name = '', typeWord, given] = found
  const type = typeWord === undefined ? 'any' : typeNamed(typeWord)
  if (type === null)
    problems.push(`\`${typeWord}\` is no type; there are str, int, float, bool, list and dict`)
  if (given === undefined) return { name, type: type ?? 'any' }
  const value = literalValue(given)
  if (value === undefined) {
    problems.push(
      `the default of \`${name}\` must be written out: a number, a text in quotes, a list or a dict`,
    )
    return { name, type: type ?? 'any' }
  }
  if (!fitsType(value, type ?? 'any')) problems.push(`the default of \`${name}\` is no ${type}`)
  return { name, type: type ?? 'any', default: value }
}

/** The value of an expression that reads nothing; undefined where it is none. */
export function literalValue(source: string): Json | undefined {
  // Most are whole numbers, which need no compiler.
  if (/^(?:0|[1-9]\d{0,14})$/.test(source)) return Number(source)
  const spelled = source
    .trim()
    .replace(/^(?:True|False)$/, (word) => word.toLowerCase())
    .replace(/^None$/, 'null')
  const { expression } = compileExpression<null>(spelled, { profile: 'template', names: [] })
  const value = expression?.evaluate([], null)
  return value === undefined || value instanceof ExpressionError ? undefined : (value as Json)
}

/** Says whether a value is of a type; whole numbers are floats too. */
export function fitsType(value: Json, type: ValueType): boolean {
  switch (type) {
    case 'any':
      return true
    case 'str':
      return typeof value === 'string'
    case 'int':
      return typeof value === 'number' && Number.isInteger(value)
    case 'float':
      return typeof value === 'number'
    case 'bool':
      return typeof value === 'boolean'
    case 'list':
      return Array.isArray(value)
    case 'dict':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
  }
}

/** Where the parenthesis opens that the last character closes; -1 where none does. */
function openingOf(text: string): number {
  let depth = 0
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === ')') depth++
    else if (text[at] === '(' && --depth === 0) return at
  }
  return -1
}

/** Splits at the commas, or at a word in small letters, that stand in no bracket and no quotes; a word counts in large letters too. */
export function splitTopLevel(text: string, separator = ','): string[] {
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (quote !== '') {
      if (sign === '\\') at++
      else if (sign === quote) quote = ''
    } else if (sign === '"' || (sign === "'" && !/[\p{L}\p{N}]/u.test(text[at - 1] ?? ''))) quote = sign
    else if ('([{'.includes(sign)) depth++
    else if (')]}'.includes(sign)) depth--
    else if (depth <= 0 && stands(separator, text, at)) {
      parts.push(text.slice(from, at))
      from = at + separator.length
      at = from - 1
    }
  }
  parts.push(text.slice(from))
  return parts
}

function stands(separator: string, text: string, at: number): boolean {
  if (text.charCodeAt(at) !== separator.charCodeAt(0)) return false
  return text.startsWith(separator, at) || text.slice(at, at + separator.length).toLowerCase() === separator
}
