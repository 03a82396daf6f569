/** Words of a condition → the expression they say. */
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

const copula = String.raw`(?:is|are|becomes|become|gets|turns|was)`
const longestFirst = (table: object): string =>
  Object.keys(table)
    .toSorted((a, b) => b.length - a.length)
    .join('|')
const between = new RegExp(String.raw`^(.+?)\s+${copula}\s+(not\s+)?between\s+(.+?)\s+and\s+(.+)$`, 'iu')
const binaryForm = new RegExp(String.raw`^(.+?)\s+${copula}\s+(${longestFirst(binary)})\s+(.+)$`, 'iu')
const verbForm = new RegExp(String.raw`^(.+?)\s+(${longestFirst(verbs)})\s+(.+)$`, 'iu')
const unaryForm = new RegExp(String.raw`^(.+?)\s+${copula}\s+(${longestFirst(unary)})$`, 'iu')
const isForm = new RegExp(String.raw`^(.+?)\s+${copula}\s+(not\s+)?(.+)$`, 'iu')

/** The condition in the expression language, or null where the words say none. */
export function spellCondition(words: string, context: StepContext): string | null {
  return spellWhole(withoutShortForms(words.trim()), context)
}

/** What joins anything to anything, in a list too. */
const joining = /,|\s(?:and|n?or)\s/i

/** What joins parts is looked at before the parts, or `is not "a" and $b` would compare with both. */
function spellWhole(text: string, context: StepContext): string | null {
  if (!joining.test(text)) return spellPart(text, context)
  const listed = spellQuantified(text, context) ?? spellList(text, context) ?? spellShared(text, context)
  if (listed !== null) return listed
  const all = splitAt(text, 'and')
  // `is "a" or "b" and $c`: the list is one part, not the end of one.
  const lists = all.length > 1 && all.some((part) => spellList(part, context) !== null)
  if (lists && all.every((part) => splitAt(part, 'or').length === 1 || spellList(part, context) !== null))
    return spellParts(all, 'and', context)
  for (const word of ['or', 'and'] as const) {
    const parts = splitAt(text, word)
    if (parts.length > 1) return spellParts(parts, word, context)
  }
  return spellPart(text, context)
}

const literal = /^(?:"[^"]*"|'[^']*'|-?\$?\d[\d,.]*|true|false|null|none)$/i
const listForm = new RegExp(
  String.raw`^(.+?)\s+${copula}\s+(not\s+|neither\s+)?(?:(?:one|any)\s+of\s+|either\s+)?(.+)$`,
  'iu',
)
const itemBorder = /\s*,(?!\d{3}(?!\d))\s*(?:n?or\s+)?|\s+n?or\s+/i

/** `$status is "a", "b" or "c"`: one of them; with `not`, none of them. */
function spellList(text: string, context: StepContext): string | null {
  const found = listForm.exec(text)
  if (found === null) return null
  const items = found[3]!.split(itemBorder).map((item) => item.trim())
  const left = operand(found[1]!, context)
  if (items.length < 2 || left === null || joins(found[1]!)) return null
  const spelled = items.map((item) =>
    literal.test(item) ? operand(item, context) : literalOf(left, item, context),
  )
  if (spelled.some((item) => item === null)) return null
  return `${left} ${found[2] === undefined ? 'in' : 'not in'} [${spelled.join(', ')}]`
}

const value = String.raw`(?:the\s+)?\$?[\p{L}_][\p{L}\p{N}_.]*`
const sharedForm = new RegExp(
  String.raw`^(both\s+|either\s+)?(${value})\s+(and|or)\s+(${value})\s+(${copula}\s.+|(?:${longestFirst(verbs)})\s.+|exceed\s.+)$`,
  'iu',
)

/** `both $a and $b are over 100` says it of each. */
function spellShared(text: string, context: StepContext): string | null {
  const found = sharedForm.exec(text)
  if (found === null) return null
  const [, both, one, word, other, said] = found as unknown as [
    string,
    string | undefined,
    string,
    string,
    string,
    string,
  ]
  if (both === undefined && !/^are\b/i.test(said)) return null
  const spelled = [one, other].map((subject) =>
    spellWhole(`${subject} ${said.replace(/^exceed\b/i, 'exceeds')}`, context),
  )
  return spelled.every((part) => part !== null)
    ? spelled.map((part) => `(${part})`).join(` ${word.toLowerCase()} `)
    : null
}

const quantified = new RegExp(
  String.raw`^(not\s+)?(at\s+least\s+one\s+of|(?:any|either|one)\s+of|all\s+of|both\s+of|both|either|neither)\s+(${value}(?:(?:\s*,\s*|\s*,?\s+(?:and|or|nor)\s+)${value})+)(?:\s+(${copula}\s.+))?$`,
  'iu',
)

/** `at least one of $a and $b`, `neither $a nor $b is over 3`: said of all or of some of them. */
function spellQuantified(text: string, context: StepContext): string | null {
  const found = quantified.exec(text)
  if (found === null) return null
  const [, not, how = '', list = '', said] = found
  const every = /^(?:all|both)/i.test(how)
  const none = /^neither/i.test(how) !== (not !== undefined)
  const subjects = list.split(/\s*,\s*(?:(?:and|or|nor)\s+)?|\s+(?:and|or|nor)\s+/i)
  const truth = said === undefined || /^(?:is|are)\s+(?:true|so)$/i.test(said)
  const spelled = subjects.map((subject) =>
    truth
      ? isNoTruth(subject, context)
        ? null
        : operandOnly(subject, context)
      : spellWhole(`${subject} ${said}`, context),
  )
  if (spelled.some((part) => part === null)) return null
  const joined = spelled.map((part) => `(${part})`).join(every ? ' and ' : ' or ')
  return none ? `not (${joined})` : joined
}

/** Each part by itself; one that leaves its subject out has that of the part before it. */
function spellParts(parts: readonly string[], word: 'and' | 'or', context: StepContext): string | null {
  const spelled: string[] = []
  let before = ''
  let denied = 0
  for (const [at, given] of parts.entries()) {
    const part = given.trim().replace(/^(?:if|when)\s+/i, '')
    // `$a or $b is false`: of one of them, or of both?
    if (at + 1 < parts.length && isBare(part) && saysTruth.test(parts[at + 1]!)) return null
    const full = isFragment(part) ? completed(part, before) : part
    const own = full === null || isNoTruth(full, context) ? null : spellWhole(full, context)
    if (own === null) return null
    spelled.push(`(${own})`)
    if (literal.test(part) && /\b(?:not|no|never)\b/i.test(before)) denied++
    before = full!
  }
  // `does not contain "x" or "y"` means neither; mixed with more, nobody can say.
  if (word === 'or' && denied > 0) return denied === parts.length - 1 ? spelled.join(' and ') : null
  return spelled.join(` ${word} `)
}

const phrases = `${longestFirst(binary)}|${longestFirst(unary)}`
const fragmentForm = new RegExp(
  String.raw`^(?:(?:${copula}|${longestFirst(verbs)})\s|(?:not\s+)?(?:${phrases})(?:\s|$)|(?:not\s+)?between\s)`,
  'iu',
)

/** Whether a part of a condition says nothing without the part before it: `more than 100`, `"frozen"`. */
export function isFragment(part: string): boolean {
  const text = part.trim()
  return literal.test(text) || fragmentForm.test(text)
}

/** A fragment with the subject, and where it is a mere value the comparison, of the part before it. */
function completed(fragment: string, before: string): string | null {
  const found =
    binaryForm.exec(before) ??
    verbForm.exec(before) ??
    unaryForm.exec(before) ??
    isForm.exec(before) ??
    between.exec(before)
  if (found === null) return null
  const subject = found[1]!
  if (literal.test(fragment)) {
    const right = found.at(-1)!
    return literal.test(right) ? `${before.slice(0, before.length - right.length)}${fragment}` : null
  }
  const says = new RegExp(String.raw`^(?:${copula}|${longestFirst(verbs)})\s`, 'iu')
  return says.test(fragment) ? `${subject} ${fragment}` : `${subject} is ${fragment}`
}

const saysTruth =
  /^\s*(?:the\s+)?\$?[\p{L}_][\p{L}\p{N}_.]*\s+(?:is|are)\s+(?:not\s+)?(?:true|false|missing|empty|set|known)\s*$/iu

function isBare(part: string): boolean {
  return /^(?:the\s+)?\$?[\p{L}_][\p{L}\p{N}_.]*$/iu.test(part)
}

/** A variable by itself that is declared to be no yes or no: what is meant of it, nobody can say. */
function isNoTruth(part: string, { scope }: StepContext): boolean {
  const name = /^(?:the\s+)?\$?([\p{L}_][\p{L}\p{N}_]*)$/iu.exec(part)?.[1]
  const type = name === undefined ? undefined : scope.parameters.get(name)?.type
  return type !== undefined && type !== 'any' && type !== 'bool'
}

/** Whether a text joins several things outside of quotes and brackets. */
function joins(text: string): boolean {
  return splitAt(text, 'and').length > 1 || splitAt(text, 'or').length > 1
}

/** `isn't` in full, and what has a word of its own in it that joins otherwise, by another name. */
function withoutShortForms(text: string): string {
  const full = /n['’]t\s/i.test(text)
    ? text.replace(/\b(is|are|was|does|do|has)n['’]t(?=\s)/gi, '$1 not')
    : text
  if (!/\sor\s/i.test(full)) return full
  return full
    .replace(/\b(?:greater|more|higher|larger)\s+than\s+or\s+equal\s+to\b/gi, 'at least')
    .replace(/\b(?:less|fewer|lower|smaller)\s+than\s+or\s+equal\s+to\b/gi, 'at most')
    .replace(/\bequal\s+to\s+or\s+(?:greater|more|higher|larger)\s+than\b/gi, 'at least')
    .replace(/\bequal\s+to\s+or\s+(?:less|fewer|lower|smaller)\s+than\b/gi, 'at most')
    .replace(/(?<!\S)(\S+)\s+or\s+(?:more|greater|higher|above|over)$/i, 'at least $1')
    .replace(/(?<!\S)(\S+)\s+or\s+(?:less|fewer|lower|below|under)$/i, 'at most $1')
}

const andWord = /\s+and\s+/i
const orWord = /\s+or\s+/i

/** The parts of a text between a word, where it stands in no quotes, no brackets and behind no `between`. */
export function splitAt(text: string, word: 'and' | 'or'): string[] {
  if (/["'([{]/.test(text) || /\b(?:between|sum|total|product|difference|average)\b/i.test(text))
    return splitOutside(text, word)
  return text.split(word === 'and' ? andWord : orWord)
}

/** Splits at the word where it stands in no quotes, no brackets and behind no `between`. */
function splitOutside(text: string, word: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (quote !== '') {
      if (sign === quote) quote = ''
    } else if (sign === '"') quote = sign
    else if ('([{'.includes(sign)) depth++
    else if (')]}'.includes(sign)) depth--
    else if (
      depth === 0 &&
      sign === ' ' &&
      text.slice(at + 1, at + 2 + word.length).toLowerCase() === `${word} `
    ) {
      const part = text.slice(from, at)
      if (
        word === 'and' &&
        /\b(?:between|(?:sum|total|product|difference|average)\s+(?:of|between))\s+(?:the\s+)?\S+$/i.test(
          part,
        )
      )
        continue
      parts.push(part)
      from = at + word.length + 2
      at = from - 1
    }
  }
  parts.push(text.slice(from))
  return parts
}

function spellPart(text: string, context: StepContext): string | null {
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

function literalOf(left: string, words: string, context: StepContext): string | null {
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
function operandOnly(text: string, context: StepContext): string | null {
  return mentioned(text, context.scope).some((name) => isKnown(context.scope, name, true))
    ? operand(text, context)
    : null
}

function isLookup(source: string): boolean {
  return /^\$?[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[[^\]]*\])*$/u.test(source)
}
