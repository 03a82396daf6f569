/** Words of a condition, joined in whichever way → the expression they say. */
import { splitTopLevel } from './signature.ts'
import {
  comparingPhrases,
  copula,
  literalOf,
  operand,
  operandOnly,
  partsOfComparison,
  spellComparison,
  verbPhrases,
} from './spell-comparison.ts'
import type { StepContext } from './step-context.ts'

/** The condition in the expression language, or null where the words say none. */
export function spellCondition(words: string, context: StepContext): string | null {
  return spellWhole(withoutShortForms(words.trim()), context)
}

/** What joins anything to anything, in a list too. */
const joining = /,|\s(?:and|n?or)\s/i

/** What joins parts is looked at before the parts, or `is not "a" and $b` would compare with both. */
function spellWhole(text: string, context: StepContext): string | null {
  if (!joining.test(text)) return spellComparison(text, context)
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
  return spellComparison(text, context)
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
  String.raw`^(both\s+|either\s+)?(${value})\s+(and|or)\s+(${value})\s+(${copula}\s.+|(?:${verbPhrases})\s.+|exceed\s.+)$`,
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

const fragmentForm = new RegExp(
  String.raw`^(?:(?:${copula}|${verbPhrases})\s|(?:not\s+)?(?:${comparingPhrases})(?:\s|$)|(?:not\s+)?between\s)`,
  'iu',
)

/** Whether a part of a condition says nothing without the part before it: `more than 100`, `"frozen"`. */
export function isFragment(part: string): boolean {
  const text = part.trim()
  return literal.test(text) || fragmentForm.test(text)
}

const says = new RegExp(String.raw`^(?:${copula}|${verbPhrases})\s`, 'iu')

/** A fragment with the subject, and where it is a mere value the comparison, of the part before it. */
function completed(fragment: string, before: string): string | null {
  const found = partsOfComparison(before)
  if (found === null) return null
  const subject = found[1]!
  if (literal.test(fragment)) {
    const right = found.at(-1)!
    return literal.test(right) ? `${before.slice(0, before.length - right.length)}${fragment}` : null
  }
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

/** Behind these an `and` stands between two values. */
const openPair = /\b(?:between|(?:sum|total|product|difference|average)\s+(?:of|between))\s+(?:the\s+)?\S+$/i

/** Splits at the word where it stands in no quotes, no brackets and behind no `between`. */
function splitOutside(text: string, word: 'and' | 'or'): string[] {
  const parts: string[] = []
  let from = 0
  let end = 0
  const all = splitTopLevel(text, ` ${word} `)
  for (const [at, part] of all.entries()) {
    end += part.length
    const whole = text.slice(from, end)
    end += word.length + 2
    if (word === 'and' && at + 1 < all.length && openPair.test(whole)) continue
    parts.push(whole)
    from = end
  }
  return parts
}
