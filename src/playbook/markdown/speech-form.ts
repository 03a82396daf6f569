/** What is said to a person and asked of one. */
import type { Condition, StepBody, Target, ValueType, Words } from '../program.ts'
import type { Bullet } from './bullet.ts'
import type { Receiver } from './call-form.ts'
import { readCondition } from './condition.ts'
import { holds } from './glance.ts'
import { opens } from './opening-word.ts'
import { isKnown, isSet } from './scope.ts'
import { sigilVariables } from './sigil-names.ts'
import { splitTopLevel } from './signature.ts'
import {
  type StepContext,
  acceptExpression,
  noteRead,
  readsOf,
  reportAt,
  reportUnset,
  tryExpression,
  writeTarget,
} from './step-context.ts'
import { readTemplate } from './text-template.ts'

/** How many answers a question takes before it is given up. */
export const mostAnswers = 10

const person = String.raw`(?:(?:to|with)\s+)?(?:the\s+|our\s+|your\s+|a\s+)?(?:user|customer|caller|client|person|human|visitor|guest|patient|employee|them|him|her|everyone)`
const letKnow = /^let\s+(?:the\s+)?(?:user|customer|them)\s+know\b/i
const quoted = new RegExp(
  String.raw`^(?:say|tell|greet|thank|welcome|inform|notify|reply|respond|answer|show|display|print|warn|remind|ask|announce)(?:\s+${person})?(?:\s+(?:that|with|as|by saying))?\s*[:,]?\s*["“](.*)["”]\s*(?:${person})?[.!]?$`,
  'iu',
)
const askVerb = /^(?:ask|prompt|keep\s+asking|request\s+(?:from\s+)?(?:the\s+)?(?:user|customer))\b/i
const askInside = /\b(?:and|then)\s+ask\b/i
const asksOnly = new RegExp(
  String.raw`^(?:ask|prompt)(?:\s+${person})?\s+(?:for|to\s+(?:provide|enter|give))\s+(?:(?:their|his|her|the|an?)\s+)?(\$[\p{L}_][\p{L}\p{N}_]*(?::\p{L}+)?(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+)(?:(?:their|his|her|the|an?)\s+)?\$[\p{L}_][\p{L}\p{N}_]*(?::\p{L}+)?)*)[.?]?$`,
  'iu',
)
const askedAgent = new RegExp(String.raw`^(?:ask|tell)\s+(?!${person}\b)(?:the\s+)?(.+)$`, 'iu')

/** Says whether a bullet speaks to another agent of the program, which is no speech to a person. */
export function addressesAgent(text: string, context: StepContext): boolean {
  const rest = askedAgent.exec(text)?.[1]
  if (rest === undefined) return false
  const words = rest.split(/\s+/, 4)
  if (!context.callables.mayNameAgent(words.join(' '))) return false
  return [1, 2, 3, 4].some(
    (count) =>
      count < words.length + 1 && context.callables.agentNamed(words.slice(0, count).join(' ')) !== null,
  )
}

/** Reads a bullet that says or asks something; null where it is no such form. */
export function speechForm(bullet: Bullet, context: StepContext): StepBody | null {
  const { text } = bullet
  // Words in quotes and nothing else are said as they are.
  const bare = text.startsWith('"') || text.startsWith('“') ? /^["“]([^"“”]+)["”]$/u.exec(text) : null
  if (bare !== null) return { kind: 'say', words: literalWords(bare[1]!, 1, true, bullet, context) }
  if ((bullet.opens & opens.speech) === 0) return null
  if (bullet.word === 'say' && /^say\s*\(/i.test(text)) return sayCall(bullet, context)
  if ((bullet.word === 'ask' || bullet.word === 'tell') && addressesAgent(text, context)) return null
  if ((bullet.opens & opens.question) !== 0 && askVerb.test(text)) return readAsk(bullet, context)
  if (!says(bullet)) return null
  if ((bullet.holds & holds.ask) !== 0 && askInside.test(text) && !quoted.test(text))
    return readAsk(bullet, context)
  return { kind: 'say', words: sayWords(bullet, context) }
}

/** Whether the first word is one of saying. */
function says({ word, opens: opened, text }: Bullet): boolean {
  if ((opened & opens.question) !== 0) return false
  return word === 'let' ? letKnow.test(text) : !/^\w/.test(text.slice(word.length, word.length + 1))
}

function sayWords(bullet: Bullet, context: StepContext): Words {
  const { text } = bullet
  const literal = (bullet.holds & holds.quote) === 0 ? null : quoted.exec(text)
  if (literal !== null && !/["“”]/.test(literal[1]!))
    return literalWords(literal[1]!, text.indexOf(literal[1]!, text.search(/["“]/)), true, bullet, context)
  const rest = bullet.word === 'say' ? /^say\s+/i.exec(text) : null
  if (rest !== null) {
    const words = text.slice(rest[0].length)
    if (/^\$[\p{L}_][\p{L}\p{N}_.]*$/u.test(words))
      return literalWords(words, rest[0].length, true, bullet, context)
    // Placeholders are a sign that the words are meant as written.
    if (/\{[^{}]+\}/.test(words)) {
      const read = context.findings.quietly(() => templateOf(words, false, context))
      if (read.holes > 0 && read.braces.length === 0)
        return literalWords(words, rest[0].length, false, bullet, context)
    }
  }
  return { kind: 'written', instruction: text, reads: readsOf(text, bullet, context) }
}

function templateOf(words: string, dollars: boolean, context: StepContext) {
  return readTemplate(words, {
    callables: context.callables,
    agent: context.agent,
    dollars,
    isName: (name, sigil) => isKnown(context.scope, name, sigil),
  })
}

/** Words as written, with their placeholders. */
export function literalWords(
  words: string,
  from: number,
  dollars: boolean,
  bullet: Bullet,
  context: StepContext,
): Words {
  const read = templateOf(words, dollars, context)
  for (const { code, message, suggestion, start, end } of read.problems) {
    reportAt(bullet, from + start, from + end, context).error(code, message, suggestion)
  }
  for (const { name, sigil, start, end } of read.names) {
    if (isKnown(context.scope, name, sigil)) noteRead(name, bullet, context)
    else reportUnset(name, sigil, bullet, from + start, from + end, context)
  }
  for (const { start, end, text } of read.braces) {
    reportAt(bullet, from + start, from + end, context).warn(
      'literal_brace',
      `\`${text}\` is no placeholder and is said as it is`,
      'write `{{` for a brace',
    )
  }
  return { kind: 'literal', value: read.computation }
}

/** `Say(user, "…")`. */
function sayCall(bullet: Bullet, context: StepContext): StepBody | null {
  const found = /^say\s*\((.*)\)\s*$/is.exec(bullet.text)
  if (found === null) return null
  const parts = splitTopLevel(found[1]!)
  const last = parts.at(-1)!.trim()
  const from = bullet.text.lastIndexOf(last)
  const literal = /^(["'])(.*)\1$/s.exec(last)
  if (literal !== null && !literal[2]!.includes(literal[1]!)) {
    return { kind: 'say', words: literalWords(literal[2]!, from + 1, true, bullet, context) }
  }
  const read = tryExpression(last, context)
  if (read.kind === 'value')
    return { kind: 'say', words: { kind: 'literal', value: acceptExpression(read, bullet, from, context) } }
  return { kind: 'say', words: { kind: 'written', instruction: last, reads: readsOf(last, bullet, context) } }
}

/** Reads a question. `receivers` are the variables that an assignment names. */
export function readAsk(bullet: Bullet, context: StepContext, receivers: readonly Receiver[] = []): StepBody {
  const { text } = bullet
  const simple = receivers.length === 0 ? asksOnly.exec(text) : null
  const names =
    receivers.length > 0 ? receivers : simple === null ? askedNames(text, context) : listOf(simple[1]!)
  const type = typeAsked(text)
  const targets = names.map((each): Target =>
    writeTarget(
      each.name,
      each.sigil,
      bullet,
      context,
      each.type === 'any' && names.length === 1 ? type : each.type,
    ),
  )
  const literal = (bullet.holds & holds.quote) === 0 ? null : quoted.exec(text)
  const words: Words | null =
    simple !== null
      ? null
      : literal !== null && !/["“”]/.test(literal[1]!)
        ? literalWords(literal[1]!, text.indexOf(literal[1]!, text.search(/["“]/)), true, bullet, context)
        : {
            kind: 'written',
            instruction: text,
            reads: readsOf(
              text,
              bullet,
              context,
              targets.map((each) => each.name),
            ),
          }
  return {
    kind: 'ask',
    words,
    targets,
    // A question that is nothing but its variables has room for neither.
    until: simple === null ? untilOf(bullet, targets, context) : null,
    maxTurns: (simple === null ? boundIn(text) : null) ?? mostAnswers,
  }
}

const mayBound = /time|turns|iterations|attempts|tries|rounds/i
const bound =
  /[,;]?\s*\(?(?:(?:or|and)\s+)?(?:for\s+)?(?:up\s+to|at\s+most|a\s+maximum\s+of|max(?:imum)?(?:\s+of)?|no\s+more\s+than)\s+(?:\d{1,4}|[a-z]+)\s+(?:times|turns|iterations|attempts|tries|rounds)\)?/i

/** Words without those that give a bound, such as a condition with `, up to 3 times` behind it. */
export function withoutBound(words: string): string {
  return mayBound.test(words) ? words.replace(bound, '') : words
}

/** `up to 3 times`, `at most 4 turns`: the bound that words give. */
export function boundIn(text: string): number | null {
  if (!mayBound.test(text)) return null
  const found =
    /\b(?:up\s+to|at\s+most|a\s+maximum\s+of|max(?:imum)?(?:\s+of)?|no\s+more\s+than)\s+(\d{1,4}|[a-z]+)\s+(?:more\s+)?(?:times|turns|iterations|attempts|tries|rounds|retries|time)\b/i.exec(
      text,
    )?.[1]
  if (found === undefined) return null
  const count = /^\d/.test(found)
    ? Number(found)
    : ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'].indexOf(
        found.toLowerCase(),
      )
  return count >= 1 ? count : null
}

function untilOf(bullet: Bullet, targets: readonly Target[], context: StepContext): Condition | null {
  const { text } = bullet
  const until = /\s(?:un)?till?\s+(.+)$/i.exec(text)
  if (until !== null) {
    const words = withoutBound(until[1]!).replace(/[.]$/, '')
    return context.findings.quietly(() => readCondition(words, 0, bullet, context))
  }
  const [only] = targets
  if (only === undefined || !/\d/.test(text)) return null
  const name = `${only.scope === 'state' ? '$' : ''}${only.name}`
  const source = rangeIn(text.replace(/"[^"]*"/g, '""'), name)
  return source === null ? null : { kind: 'computed', value: { form: 'expression', source, calls: [] } }
}

const figure = String.raw`[€$£¥]?\s?(-?\d[\d,]*(?:\.\d+)?)(?:\s?[€$£¥%])?(?![\p{L}\p{N}]|\s+(?:times|turns|iterations|attempts|tries|rounds|retries|time|characters?|digits?|letters?|words?)\b)`
const both = new RegExp(String.raw`\b(?:between|from)\s+${figure}\s+(?:and|to)\s+${figure}`, 'iu')
const bounds: readonly (readonly [RegExp, string])[] = [
  [
    String.raw`up\s+to|at\s+most|no\s+(?:higher|more|greater|larger|bigger)\s+than|not\s+(?:over|above|more\s+than)|max(?:imum)?(?:\s+of)?:?`,
    '<=',
  ],
  [String.raw`(?<!not\s+)(?:under|below|less\s+than|lower\s+than|smaller\s+than)`, '<'],
  [
    String.raw`at\s+least|no\s+(?:less|lower|smaller)\s+than|not\s+(?:under|below|less\s+than)|min(?:imum)?(?:\s+of)?:?`,
    '>=',
  ],
  [
    String.raw`(?<!(?:not|no)\s+)(?:over|above|more\s+than|higher\s+than|greater\s+than|larger\s+than|bigger\s+than)`,
    '>',
  ],
].map(([words, sign]) => [new RegExp(String.raw`\b(?:${words})\s+${figure}`, 'iu'), sign!] as const)

function plain(number: string): string {
  return number.replaceAll(',', '')
}

/** What the words say of the number that is asked for: all of it is checked. */
function rangeIn(text: string, name: string): string | null {
  const range = both.exec(text)
  if (range !== null) return `${plain(range[1]!)} <= ${name} <= ${plain(range[2]!)}`
  const found = bounds.flatMap(([form, sign]) => {
    const number = form.exec(text)?.[1]
    return number === undefined ? [] : [`${name} ${sign} ${plain(number)}`]
  })
  return found.length === 0 ? null : found.join(' and ')
}

function typeAsked(text: string): ValueType {
  if (!/number|integer|yes/i.test(text)) return 'any'
  if (/\b(?:an?\s+)?(?:whole\s+number|integer)\b/i.test(text)) return 'int'
  if (/\bfor\s+an?\s+number\b/i.test(text)) return 'float'
  if (/\byes\s*(?:or|\/)\s*no\b/i.test(text)) return 'bool'
  return 'any'
}

function listOf(words: string): Receiver[] {
  return sigilVariables(words).map(({ name, type }) => ({ name, sigil: true, type }))
}

/** Variables behind `for`, `provide`, `store in` are what is asked; others that nothing else sets are too. */
function askedNames(text: string, context: StepContext): Receiver[] {
  const stored = /\b(?:store|save|keep|put)\b.*?\s(?:in|as|into)\s+(\$?)([\p{L}_][\p{L}\p{N}_]*)/iu.exec(text)
  if (stored !== null) return [{ name: stored[2]!, sigil: stored[1] === '$', type: 'any' }]
  const asked = /\s(?:for|provide|enter|give|get)\s(.*?)(?:\s(?:un)?till?\s|$)/iu.exec(text)?.[1] ?? ''
  const names = new Map<string, Receiver>()
  for (const each of listOf(asked)) names.set(each.name, each)
  for (const each of listOf(text)) if (!isSet(context.scope, each.name, true)) names.set(each.name, each)
  return [...names.values()]
}
