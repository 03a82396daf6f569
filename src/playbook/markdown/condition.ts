/** Words of a condition → a computed condition where they say one, else one that is judged. */
import type { Condition } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { oddAmount, plainAmounts } from './amount.ts'
import { quote } from './findings.ts'
import {
  type ReadExpression,
  type StepContext,
  acceptExpression,
  mentioned,
  readsOf,
  reportAt,
  tryExpression,
} from './step-context.ts'
import { isFragment, spellCondition, splitAt } from './spell-condition.ts'
import { Variables } from './variables.ts'
import { wordsOf } from './words.ts'

/** Reads a condition that begins at an offset of the bullet. */
export function readCondition(words: string, from: number, bullet: Bullet, context: StepContext): Condition {
  const text = plainWords(words)
  const direct = tryValues(text, context)
  if (direct.kind === 'value')
    return { kind: 'computed', value: acceptExpression(direct, bullet, from, context) }
  const spelled = spellCondition(text, context)
  if (spelled !== null) {
    const read = tryExpression(spelled, context)
    if (read.kind === 'value')
      return { kind: 'computed', value: acceptSpelled(read, text, from, bullet, context) }
  }
  const mixed = mixedCondition(text, from, bullet, context)
  if (mixed !== null) return mixed
  if (direct.kind === 'broken' && /[<>=]/.test(text.replace(/"[^"]*"|'[^']*'/g, ''))) {
    const odd = oddAmount(text)
    if (odd !== null) return oddComparison(odd, from, bullet, context)
    return { kind: 'computed', value: acceptExpression(direct, bullet, from, context) }
  }
  if (direct.kind === 'words' && direct.lifted.problems.length > 0)
    acceptExpression({ kind: 'value', lifted: { ...direct.lifted, names: [] } }, bullet, from, context)
  if (comparison.test(withoutQuoted(text))) {
    reportAt(bullet, from, from + text.length, context).error(
      'invalid_expression',
      `${quote(text)} compares values among words, and a model would judge all of it`,
      'put the comparison into an `If` of its own, and the words into one below it',
    )
  }
  if (saysOnlyValues(text)) {
    reportAt(bullet, from, from + text.length, context).error(
      'invalid_expression',
      `${quote(text)} is about known values alone, in words that are no form of it`,
      'write it with signs: `$x > 3 and not $y`',
    )
  }
  const condition = judged(text, bullet, context)
  warnPlain(text, from, bullet, context)
  return condition
}

/** Reads an expression, with amounts as people write them where it compares something and is none otherwise. */
function tryValues(text: string, context: StepContext): ReadExpression {
  const read = tryExpression(text, context)
  if (read.kind !== 'broken' || !/[<>]|[=!]=/.test(withoutQuoted(text))) return read
  const plain = plainAmounts(text)
  return plain === text ? read : tryExpression(plain, context)
}

/** Commas that group no thousands would be taken for those between values. */
function oddComparison(
  { text, start }: { readonly text: string; readonly start: number },
  from: number,
  bullet: Bullet,
  context: StepContext,
): Condition {
  reportAt(bullet, from + start, from + start + text.length, context).error(
    'invalid_expression',
    `${quote(text)} is no number`,
    'write it with a dot before the cents, and with commas between thousands or without: 1,000.50 or 1000.50',
  )
  return { kind: 'computed', value: { form: 'expression', source: 'false', calls: [] } }
}

/** Without what only leads over to the steps, and with straight quotes; everything else keeps its place. */
function plainWords(words: string): string {
  const straight = /[“”„‘’]/.test(words)
    ? words.replaceAll(/[“”„]/g, '"').replaceAll(/(?<!\p{L})[‘’]|[‘’](?!\p{L})/gu, "'")
    : words
  const bare = withoutSigns(straight)
  // Only its end is looked at: from anywhere else a long row of signs would be tried again and again.
  const from = Math.max(0, bare.length - longestOpening)
  const opening = stepsOpening.exec(bare.slice(from))
  const said = opening === null ? bare : withoutSigns(bare.slice(0, from + opening.index))
  return /\sthen$/i.test(said.slice(-5)) ? withoutSigns(said.slice(0, -4)) : said
}

/** What says that the steps follow. */
const stepsOpening =
  /[\s:;,.](?:then\s+)?(?:do|perform|follow)\s+(?:the\s+following(?:\s+steps)?|this|these\s+steps)$/i
const longestOpening = 200

/** The text without blanks, colons, commas and full stops at its end. */
function withoutSigns(text: string): string {
  let end = text.length
  while (end > 0 && /[\s:;,.]/.test(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** Words that say nothing by themselves: what is made of them and of values is no matter of opinion. */
const emptyWords = new Set(
  `a an the is are was were be been becomes of than and or nor not no neither either both all any one two three none each every other at least most
  more less fewer greater lower higher bigger smaller larger over under above below between exactly only equal equals to in true false null same different
  half average sum total product difference minus plus times it its this that if when has have does do so ok up from within older younger newer long short
  anything something nothing except there unless days day hours hour weeks week months month years year minutes minute seconds second ago old eur euro euros
  usd dollars dollar gbp pounds pound chf percent k m kg km`.split(/\s+/),
)

/** Whether a condition speaks of variables and values, and of nothing else. */
export function saysOnlyValues(text: string): boolean {
  if (!text.includes('$')) return false
  return isEmpty(withoutQuoted(text).replaceAll(/\$[\p{L}_][\p{L}\p{N}_.]*(?:'s)?/gu, ' '))
}

/** Whether words say nothing by themselves. */
function isEmpty(words: string): boolean {
  return (words.match(/\p{L}+/gu) ?? []).every((word) => emptyWords.has(word.toLowerCase()))
}

/** Words behind a variable that are more often one of its values than a matter of opinion. */
const stateWord =
  /^\$[\p{L}_][\p{L}\p{N}_.]*\s+(?:is|are|was|isn['’]t)\s+(?:not\s+)?(open|closed|pending|active|inactive|paid|unpaid|approved|rejected|denied|cancell?ed|shipped|delivered|delayed|done|completed?|failed|refunded|returned|new|confirmed|verified|expired|yes|no|high|low|medium|blocked|frozen|locked|suspended)(?:\s*,?\s*(?:or\s+)?\p{L}+)*$/iu
/** Words that compare with a number. */
const comparing =
  /\$[\p{L}_][\p{L}\p{N}_.]*\s[^"]*?\b(?:(?:greater|more|higher|larger|less|fewer|lower|smaller)\s+than|at\s+(?:least|most)|exceed(?:s|ed)?|above|below|over|under|equals?)\s+(?:to\s+)?\$?[\p{L}_\d]/iu

/** Words that add a second condition. */
const joined = /\b(?:provided|as\s+long\s+as|if|when|while|unless|except|but|given|although|and|or)\b/i

/** Says where a model is asked what could have been worked out. */
function warnPlain(text: string, from: number, bullet: Bullet, context: StepContext): void {
  if (!text.includes('$')) return
  const at = reportAt(bullet, from, from + text.length, context)
  const word = stateWord.exec(text)?.[1]
  if (word !== undefined)
    at.warn(
      'unquoted_text',
      `a model judges whether ${quote(text)}`,
      `if the text is meant, write "${word}" in quotes`,
    )
  else if (comparing.test(text) && joined.test(text))
    at.error(
      'invalid_expression',
      `${quote(text)} compares values among words, and a model would judge all of it`,
      'put the comparison into an `If` of its own, and the words into one below it',
    )
  else if (comparing.test(text))
    at.warn(
      'irregular_form',
      `${quote(text)} compares values in words that are no form of it, so a model judges it`,
      'write it with signs, such as `$x > 3`, and words in an `If` of their own',
    )
}

function judged(text: string, bullet: Bullet, context: StepContext): Extract<Condition, { kind: 'judged' }> {
  const reads = readsOf(text, bullet, context)
  return { kind: 'judged', text, reads: reads.length > 0 ? reads : alluded(text, context) }
}

/** Signs between a variable and a value: nobody means a judgement by them. */
const comparison = /\$[\p{L}_][\p{L}\p{N}_.]*\s*(?:[<>]=?|[=!]=)|(?:[<>]=?|[=!]=)\s*\$[\p{L}_]/u

function withoutQuoted(text: string): string {
  return /["']/.test(text) ? text.replace(/"[^"]*"|'[^']*'/g, '""') : text
}

/** `$amount < 100 and the customer agrees`: what is known is worked out, and only the words are judged. Null where it is no mixture. */
function mixedCondition(text: string, from: number, bullet: Bullet, context: StepContext): Condition | null {
  for (const operator of ['or', 'and'] as const) {
    const parts = splitAt(text, operator).map((part) =>
      part.replace(/^[\s,;]+|[\s,;]+$/g, '').replace(/^(?:if|when)\s+/i, ''),
    )
    if (parts.length < 2) continue
    const spelled: (string | null)[] = []
    for (const [at, part] of parts.entries())
      spelled.push(spellKnown(part, parts[at + 1], spelled[at - 1], context))
    if (spelled.every((part) => part === null)) continue
    const fragment = parts.find((part, at) => at > 0 && isFragment(splitAt(part, 'and')[0]!))
    // Words about a variable among what is worked out may be the rest of it: `the sum of $a and $b is over 40`.
    const about = parts.find(
      (part, at) =>
        spelled[at] === null && (isEmpty(part) || (part.includes('$') && splitAt(part, 'and').length === 1)),
    )
    const unclear = fragment ?? about ?? (spelled.includes(null) ? undefined : text)
    if (unclear !== undefined) {
      reportAt(bullet, from, from + text.length, context).error(
        'invalid_expression',
        `it is not clear what ${quote(unclear)} says`,
        'say each part in full, such as `$total is less than 5 or $total is more than 100`',
      )
    }
    const source = spelled
      .filter((part) => part !== null)
      .map((part) => `(${part})`)
      .join(` ${operator} `)
    const read = tryExpression(source, context)
    if (read.kind !== 'value') return null
    const known = parts.filter((_, at) => spelled[at] !== null).join(' ')
    const value = acceptSpelled(read, known, from, bullet, context)
    const words = parts.filter((_, at) => spelled[at] === null)
    const trial = { ...context, uses: new Variables() }
    const rest = context.findings.quietly(() => words.map((part) => readCondition(part, from, bullet, trial)))
    // What is left may itself be a mixture only one way round: `a or b and c` needs two levels.
    if (rest.some((part) => part.kind === 'judged' && part.known !== undefined)) {
      reportAt(bullet, from, from + text.length, context).error(
        'invalid_expression',
        `${quote(text)} mixes \`and\` with \`or\`, and comparisons with words`,
        'put the comparisons and the words into `If`s of their own, one below the other',
      )
    }
    if (operator === 'and' && words.some((part) => splitAt(part, 'or').length > 1)) {
      reportAt(bullet, from, from + text.length, context).warn(
        'irregular_form',
        `${quote(text)} mixes \`and\` with \`or\`: ${quote(known)} must hold whatever else does`,
        'put it into an `If` of its own, and the words into one below it',
      )
    }
    return { ...judged(words.join(` ${operator} `), bullet, context), known: { operator, value } }
  }
  return null
}

/**
 * A part of a condition that can be worked out, spelled out. A variable by itself may belong to the words beside it: it is a part of its own
 * behind one that can be worked out, or in front of words.
 */
function spellKnown(
  part: string,
  next: string | undefined,
  before: string | null | undefined,
  context: StepContext,
): string | null {
  if (mentioned(part, context.scope).length === 0 && !part.includes('(')) return null
  if (/^\$?[\p{L}_][\p{L}\p{N}_.]*$/u.test(part)) {
    const first = before === undefined && next !== undefined && !/^(?:the\s+)?\$/i.test(next)
    const declared = context.scope.parameters.get(part.replace('$', ''))?.type === 'bool'
    if (!first && !declared && typeof before !== 'string') return null
  }
  if (tryValues(part, context).kind === 'value') return plainAmounts(part).trimEnd()
  return spellCondition(part, context)
}

/** `If income is below 100`, in a playbook that was given `$gross_income`, is about what it was given. */
function alluded(text: string, context: StepContext): string[] {
  const words = new Set(wordsOf(text))
  return [...context.scope.parameters.keys()].filter((name) => wordsOf(name).some((word) => words.has(word)))
}

/** The spelled-out expression has other offsets than the words, so findings point at all of them. */
function acceptSpelled(
  read: Extract<ReturnType<typeof tryExpression>, { kind: 'value' }>,
  text: string,
  from: number,
  bullet: Bullet,
  context: StepContext,
) {
  const { lifted } = read
  for (const { code, message, suggestion } of lifted.problems) {
    reportAt(bullet, from, from + text.length, context).error(code, message, suggestion)
  }
  readsOf(text, bullet, context)
  return lifted.computation
}

/** Whether the words say a condition that can be computed. */
export function isComputable(words: string, context: StepContext): boolean {
  return context.findings.quietly(() => {
    const read = tryValues(words, context)
    return read.kind === 'value' || spellCondition(words, context) !== null
  })
}
