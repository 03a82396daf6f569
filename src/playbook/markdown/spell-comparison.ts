/** Words that compare values, or speak of one → the expression they say. */
import { type StepContext, mentioned, tryExpression } from './step-context.ts'
import { isKnown } from './scope.ts'
import { nameEnd } from './sigil-names.ts'

type Render = (left: string, right: string) => string
const infix =
  (sign: string): Render =>
  (left, right) =>
    `${left} ${sign} ${right}`
const emptyValues = '[null, "", [], {}]'
const looked = (left: string): string => (isLookup(left) ? `default(${left}, null)` : `(${left})`)

/** Phrases between two values. */
const binary: Readonly<Record<string, Render>> = {
  'no more than': infix('<='),
  'no less than': infix('>='),
  'not more than': infix('<='),
  'not less than': infix('>='),
  exactly: infix('=='),
  'bigger than': infix('>'),
  'greater than': infix('>'),
  'more than': infix('>'),
  'higher than': infix('>'),
  'larger than': infix('>'),
  'less than': infix('<'),
  'fewer than': infix('<'),
  'lower than': infix('<'),
  'smaller than': infix('<'),
  'at least': infix('>='),
  'at most': infix('<='),
  above: infix('>'),
  over: infix('>'),
  below: infix('<'),
  under: infix('<'),
  'not equal to': infix('!='),
  'equal to': infix('=='),
  'divisible by': (left, right) => `${left} % ${right} == 0`,
  'not divisible by': (left, right) => `${left} % ${right} != 0`,
  'not greater than': infix('<='),
  'not above': infix('<='),
  'not over': infix('<='),
  'not under': infix('>='),
  'not at least': infix('<'),
  'not at most': infix('>'),
  'not below': infix('>='),
  'not one of': infix('not in'),
  'one of': infix('in'),
  'not in': infix('not in'),
  in: infix('in'),
}

/** Phrases that need no `is`. */
const verbs: Readonly<Record<string, Render>> = {
  'does not exceed': infix('<='),
  exceeds: infix('>'),
  'does not equal': infix('!='),
  equals: infix('=='),
  'differs from': infix('!='),
  'does not contain': (left, right) => `${right} not in ${left}`,
  'does not include': (left, right) => `${right} not in ${left}`,
  contains: (left, right) => `${right} in ${left}`,
  includes: (left, right) => `${right} in ${left}`,
  'starts with': (left, right) => `${left}.startswith(${right})`,
  'ends with': (left, right) => `${left}.endswith(${right})`,
  reaches: infix('>='),
  'falls below': infix('<'),
  'drops below': infix('<'),
}

/** Phrases behind one value. */
const unary: Readonly<Record<string, (left: string) => string>> = {
  'not empty': (left) => `${looked(left)} not in ${emptyValues}`,
  'not blank': (left) => `${looked(left)} not in ${emptyValues}`,
  empty: (left) => `${looked(left)} in ${emptyValues}`,
  blank: (left) => `${looked(left)} in ${emptyValues}`,
  'not set': (left) => `not has(${left})`,
  unset: (left) => `not has(${left})`,
  missing: (left) => `not has(${left})`,
  set: (left) => `has(${left})`,
  'not known': (left) => `not has(${left})`,
  known: (left) => `has(${left})`,
  'not negative': (left) => `${left} >= 0`,
  'not positive': (left) => `${left} <= 0`,
  negative: (left) => `${left} < 0`,
  positive: (left) => `${left} > 0`,
  zero: (left) => `${left} == 0`,
  'not zero': (left) => `${left} != 0`,
  even: (left) => `${left} % 2 == 0`,
  odd: (left) => `${left} % 2 != 0`,
  'not even': (left) => `${left} % 2 != 0`,
  'not odd': (left) => `${left} % 2 == 0`,
}

/** The words that say what something is. */
export const copula = String.raw`(?:is|are|becomes|become|gets|turns|was)`
const longestFirst = (table: object): string =>
  Object.keys(table)
    .toSorted((a, b) => b.length - a.length)
    .join('|')
const between = new RegExp(String.raw`^(.+?)\s+${copula}\s+(not\s+)?between\s+(.+?)\s+and\s+(.+)$`, 'iu')
const binaryForm = new RegExp(String.raw`^(.+?)\s+${copula}\s+(${longestFirst(binary)})\s+(.+)$`, 'iu')
const verbForm = new RegExp(String.raw`^(.+?)\s+(${longestFirst(verbs)})\s+(.+)$`, 'iu')
const unaryForm = new RegExp(String.raw`^(.+?)\s+${copula}\s+(${longestFirst(unary)})$`, 'iu')
const isForm = new RegExp(String.raw`^(.+?)\s+${copula}\s+(not\s+)?(.+)$`, 'iu')

/** The phrases that need no `is`, as the part of an expression. */
export const verbPhrases = longestFirst(verbs)
/** The phrases behind an `is`, likewise. */
export const comparingPhrases = `${longestFirst(binary)}|${longestFirst(unary)}`

/** What a comparison in words is made of: all of it, its subject first, and last what is compared with; null where it is none. */
export function partsOfComparison(text: string): RegExpExecArray | null {
  return (
    binaryForm.exec(text) ??
    verbForm.exec(text) ??
    unaryForm.exec(text) ??
    isForm.exec(text) ??
    between.exec(text)
  )
}

/** One comparison in the expression language, or null where the words say none. */
export function spellComparison(text: string, context: StepContext): string | null {
  const range = /between/i.test(text) ? between.exec(text) : null
  if (range !== null) {
    const [left, low, high] = [
      operand(range[1]!, context),
      operand(range[3]!, context),
      operand(range[4]!, context),
    ]
    if (left === null || low === null || high === null) return null
    return range[2] === undefined ? `${low} <= ${left} <= ${high}` : `not (${low} <= ${left} <= ${high})`
  }
  const one = unaryForm.exec(text)
  if (one !== null) {
    const left = operand(one[1]!, context)
    const render = unary[one[2]!.toLowerCase().replace(/\s+/g, ' ')]!
    if (left !== null && (!render('x').includes('has(') || isLookup(left))) return render(left)
  }
  for (const [form, table] of [
    [binaryForm, binary],
    [verbForm, verbs],
  ] as const) {
    const two = form.exec(text)
    if (two === null) continue
    const phrase = two[2]!.toLowerCase().replace(/\s+/g, ' ')
    const left = operand(two[1]!, context)
    const right = phrase.endsWith('one of') ? choices(two[3]!, context) : operand(two[3]!, context)
    if (left !== null && right !== null) return table[phrase]!(left, right)
  }
  const is = isForm.exec(text)
  if (is !== null) return spellIs(is[1]!, is[2] !== undefined, is[3]!, context)
  return operandOnly(text, context)
}

/** `$status is open`: equality with a value, or with a text that the program gives the variable somewhere. */
function spellIs(
  leftWords: string,
  negated: boolean,
  rightWords: string,
  context: StepContext,
): string | null {
  const left = operand(leftWords, context)
  if (left === null) return null
  const range = /^(-?[\d.,]*\d)\s*[-–—]\s*(\d[\d.,]*)$/.exec(rightWords.trim())
  if (range !== null) {
    const [low, high] = [operand(range[1]!, context), operand(range[2]!, context)]
    if (low === null || high === null) return null
    return negated ? `not (${low} <= ${left} <= ${high})` : `${low} <= ${left} <= ${high}`
  }
  const right = operand(rightWords, context) ?? literalOf(left, rightWords, context)
  return right === null ? null : `${left} ${negated ? '!=' : '=='} ${right}`
}

/** The text of those that the program gives a variable which the words are; null where they are none. */
export function literalOf(left: string, words: string, context: StepContext): string | null {
  const name = /^\$?([\p{L}_][\p{L}\p{N}_]*)$/u.exec(left)?.[1]
  if (name === undefined) return null
  const wanted = words.trim().toLowerCase()
  for (const literal of context.literalsOf(name)) {
    if (literal.toLowerCase() === wanted) return JSON.stringify(literal)
  }
  return null
}

function choices(words: string, context: StepContext): string | null {
  const whole = operand(words, context)
  if (whole !== null && /^[$[]/.test(whole)) return whole
  const items = words.split(/\s*,\s*(?:or\s+|and\s+)?|\s+or\s+/i).filter((item) => item !== '')
  const spelled = items.map((item) => operand(item, context))
  return spelled.every((item) => item !== null) && spelled.length > 1 ? `[${spelled.join(', ')}]` : null
}

const numberWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

const signs: Readonly<Record<string, string>> = {
  'sum of': '+',
  'total of': '+',
  'product of': '*',
  'difference between': '-',
}
const sumForm = new RegExp(
  String.raw`^(?:the\s+)?(${Object.keys(signs).join('|')})\s+((?:the\s+)?\$?[\p{L}_\d][\p{L}\p{N}_.]*(?:(?:\s*,\s*|\s*,?\s+and\s+)(?:the\s+)?\$?[\p{L}_\d][\p{L}\p{N}_.]*)+)$`,
  'iu',
)

/** A value as the expression language writes it, or null where the words are none. */
export function operand(words: string, context: StepContext): string | null {
  const text = words.trim().replace(/^the\s+(?=\$)/i, '')
  // A variable is no number, no word for one, and no sum in words.
  if (isVariable(text)) return tryExpression(text, context).kind === 'value' ? text : null
  const money = /^[$€£]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?$/.exec(text)
  if (money !== null) return money[1]!.replaceAll(',', '').replace(/^0+(?=\d)/, '') + (money[2] ?? '')
  const counted = numberWords.indexOf(text.toLowerCase())
  if (counted !== -1) return String(counted)
  if (/^(?:true|false|null)$/i.test(text)) return text.toLowerCase()
  if (/^(?:none|nothing)$/i.test(text)) return 'null'
  const sum = sumForm.exec(text)
  if (sum !== null) {
    const parts = sum[2]!.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i).map((part) => operand(part, context))
    const sign = signs[sum[1]!.toLowerCase()]!
    return parts.every((part) => part !== null) ? `(${parts.join(` ${sign} `)})` : null
  }
  const counting =
    /^(?:the\s+)?(?:number|count|length|size)\s+of\s+(?:items\s+in\s+)?(?:the\s+)?(\$?[\p{L}_][\p{L}\p{N}_.]*)$/iu.exec(
      text,
    )
  const source = counting === null ? text : `len(${counting[1]!})`
  const read = tryExpression(source, context)
  if (read.kind !== 'value') return null
  if (counting !== null) return source
  return /^[\p{L}\p{N}_$."'[\]]+$/u.test(text) || /^(?:"[^"]*"|'[^']*')$/.test(text) ? text : `(${text})`
}

function isVariable(text: string): boolean {
  return text.startsWith('$') && text.length > 1 && nameEnd(text, 1) === text.length
}

/** A part that is a value by itself, such as `$done` beside another condition. */
export function operandOnly(text: string, context: StepContext): string | null {
  return mentioned(text, context.scope).some((name) => isKnown(context.scope, name, true))
    ? operand(text, context)
    : null
}

function isLookup(source: string): boolean {
  return /^\$?[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[[^\]]*\])*$/u.test(source)
}
