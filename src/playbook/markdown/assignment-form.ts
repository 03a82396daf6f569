/** `$x = …`, `x is …`, `Set $x to …`, `Add … to …`, `Increment …`, `Append … to …`, `Initialize …`. */
import type { Computation, StepBody, ValueType } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { partOf, reworded } from './bullet.ts'
import { saysOnlyValues } from './condition.ts'
import { readAsk } from './speech-form.ts'
import { callInWords } from './call-form.ts'
import { naturalValue } from './act-form.ts'
import {
  type StepContext,
  acceptExpression,
  reportAt,
  reportUnset,
  tryExpression,
  writeTarget,
  noteRead,
} from './step-context.ts'
import { quote } from './findings.ts'
import { holds } from './glance.ts'
import { opens } from './opening-word.ts'
import { typeNamed } from './signature.ts'
import { isAssignedBare, isKnown } from './scope.ts'
import { nameEnd } from './sigil-names.ts'

const word = String.raw`[\p{L}_][\p{L}\p{N}_]*`
const dollarForm = new RegExp(
  String.raw`^\$(${word})\s*(?::\s*([\p{L}]+)\s*)?(?:=(?!=)|:=|\b(?:is|becomes)\b(?!\s*(?:not\s|>|<)))\s*(.+)$`,
  'iu',
)
const bareForm = new RegExp(String.raw`^(${word})\s+(?:is|=(?!=))\s+(.+)$`, 'u')
const setForm = new RegExp(
  String.raw`^(?:set|initiali[sz]e|reset)\s+(?:the\s+)?(\$?)(${word})(?:\s+variable)?\s+(?:to|as|with|=)\s+(.+)$`,
  'iu',
)
const emptyForm = new RegExp(
  String.raw`^initiali[sz]e\s+(?:an?\s+)?(?:new\s+)?(?:empty\s+)?(list|dict|dictionary|string|text|counter)\s+(?:as|called|named)?\s*(\$?)(${word})$`,
  'iu',
)
const addForm = new RegExp(
  String.raw`^(add|append|push)\s+(.+?)\s+(?:to|onto)\s+(?:the\s+)?(\$?)(${word})(?:\s+list)?\.?$`,
  'iu',
)
const subtractForm = new RegExp(String.raw`^subtract\s+(.+?)\s+from\s+(?:the\s+)?(\$?)(${word})\.?$`, 'iu')
const stepForm = new RegExp(
  String.raw`^(increment|increase|decrement|decrease)\s+(?:the\s+)?(\$?)(${word})(?:\s+by\s+(.+?))?\.?$`,
  'iu',
)

const changeSigns = new RegExp(String.raw`^\$(${word})\s*(?:([-+*/%])=\s*(.+)|(\+\+|--))$`, 'u')
const letForm = new RegExp(
  String.raw`^(?:let|calculate|compute|define|determine|assign|then|now|next|and)[,:]?\s+(?=\$${word}\s*(?:[-+*/%]?=(?!=)|\bbe\b))`,
  'iu',
)
const partForm = new RegExp(String.raw`^(?:set\s+)?\$(${word})\s*(?:\.|\[)[^=]*?(?:=(?!=)|\bto\b)`, 'iu')
const severalForm = new RegExp(String.raw`^\$${word}(?:\s*,\s*\$?${word})+\s*=(?!=)`, 'u')
const setWithout = new RegExp(String.raw`^set\s+(?:the\s+)?(\$${word})\s*(.*)$`, 'iu')
const anySign = new RegExp(String.raw`^\$${word}\s*[-+*/%|&^?<>!:]*=`, 'u')

/** Reads a bullet that sets a variable; null where it is no such form. */
export function assignmentForm(bullet: Bullet, context: StepContext): StepBody | null {
  const opening = (bullet.opens & opens.assignment) !== 0 ? letForm.exec(bullet.text) : null
  if (opening !== null) {
    const rest = partOf(bullet, opening[0].length, bullet.id)
    return assignmentForm(
      {
        ...reworded(rest, rest.text.replace(/^(\$\S+\s+)be(?=\s)/iu, '$1 =')),
        children: bullet.children,
      },
      context,
    )
  }
  return plainAssignment(bullet, context) ?? brokenAssignment(bullet, context)
}

/** What looks like setting something and is no form of it: left to a model, nothing might be set. */
function brokenAssignment(bullet: Bullet, context: StepContext): StepBody | null {
  const { text } = bullet
  if (bullet.word !== 'set' && !text.startsWith('$')) return null
  const set = setWithout.exec(text)
  const [message, suggestion] = partForm.test(text)
    ? ['a part of a value cannot be set by itself', 'set the whole variable']
    : severalForm.test(text)
      ? ['several variables cannot be set in one step', 'write a step for each']
      : set !== null
        ? [
            `${quote(text)} does not say what ${set[1]!} is to be`,
            `did you mean ${quote(`Set ${set[1]!} to ${set[2] === '' ? '…' : set[2]!}`)}?`,
          ]
        : anySign.test(text)
          ? [`${quote(text)} sets nothing`, 'write `$x = …`']
          : [null, null]
  if (message === null) return null
  reportAt(bullet, 0, text.length, context).error('invalid_expression', message, suggestion)
  return { kind: 'set', target: { name: '_', scope: 'local', type: 'any' }, value: plain('null') }
}

function plainAssignment(bullet: Bullet, context: StepContext): StepBody | null {
  const { text } = bullet
  const dollar = text.startsWith('$') ? dollarAssignment(bullet, context) : null
  if (dollar !== null) return dollar
  const bare = mayBeBare(bullet) ? bareForm.exec(text) : null
  if (bare !== null && (isAssignedBare(bare[1]!, bare[2]!) || context.scope.locals.has(bare[1]!))) {
    return assign(bare[1]!, false, undefined, bare[2]!, bullet, context)
  }
  if ((bullet.opens & opens.changing) !== 0) return changeForm(bullet, context)
  if ((bullet.opens & opens.giving) === 0) return null
  const empty = emptyForm.exec(text)
  if (empty !== null) {
    const kind = empty[1]!.toLowerCase()
    const source = kind === 'list' ? '[]' : kind.startsWith('dict') ? '{}' : kind === 'counter' ? '0' : '""'
    return {
      kind: 'set',
      target: writeTarget(empty[3]!, empty[2] === '$', bullet, context),
      value: plain(source),
    }
  }
  const set = setForm.exec(text)
  if (set !== null)
    return assign(set[2]!, set[1] === '$', undefined, set[3]!.replace(/\.$/, ''), bullet, context)
  return null
}

/** A glance: most bullets that begin with a word set nothing. */
function mayBeBare({ text, holds: held }: Bullet): boolean {
  return (held & (holds.equals | holds.is)) !== 0 && (text.includes(' is ') || text.includes('='))
}

/** `$x = …`, `$x += …`, `$x is …`. */
function dollarAssignment(bullet: Bullet, context: StepContext): StepBody | null {
  const { text } = bullet
  const simple = valueBehind(bullet)
  if (simple !== -1)
    return assign(text.slice(1, simple - 3), true, undefined, text.slice(simple), bullet, context)
  const changed = changeSigns.exec(text)
  if (changed !== null) {
    const [, name = '', sign = changed[4]![0]!, words = '1'] = changed
    if (!isKnown(context.scope, name, true)) reportUnset(name, true, bullet, 0, name.length + 1, context)
    const body = change(name, true, words, (value) => `$${name} ${sign} ${value}`, bullet, context)
    if (body !== null) return body
  }
  const found = dollarForm.exec(text)
  return found === null ? null : assign(found[1]!, true, found[2], found[3]!, bullet, context)
}

/** Where the value begins in `$x = …`, the commonest form of all, which needs no expression; -1 in every other. */
function valueBehind({ text, holds: held }: Bullet): number {
  const end = nameEnd(text, 1)
  if (end === 1 || !text.startsWith(' = ', end)) return -1
  const from = end + 3
  const code = text.charCodeAt(from)
  if (!(code > 32) || code === 61 || (code > 127 && /\s/.test(text[from]!))) return -1
  return (held & holds.lineFeed) !== 0 && /[\n\r\u2028\u2029]/.test(text) ? -1 : from
}

function changeForm(bullet: Bullet, context: StepContext): StepBody | null {
  const { text } = bullet
  const add = addForm.exec(text)
  if (add !== null && isKnown(context.scope, add[4]!, add[3] === '$')) {
    const own = (add[3] ?? '') + add[4]!
    const join = (value: string): string =>
      add[1]!.toLowerCase() === 'add'
        ? // What `+` means is known when the value is: a list takes an element, a number a number.
          `${own} + [${value}] if str([${own}])[:2] == "[[" else ${own} + ${value}`
        : `${own} + [${value}]`
    return change(add[4]!, add[3] === '$', add[2]!, join, bullet, context)
  }
  const subtract = subtractForm.exec(text)
  if (subtract !== null && isKnown(context.scope, subtract[3]!, subtract[2] === '$')) {
    const own = subtract[2]! + subtract[3]!
    return change(
      subtract[3]!,
      subtract[2] === '$',
      subtract[1]!,
      (value) => `${own} - ${value}`,
      bullet,
      context,
    )
  }
  const step = stepForm.exec(text)
  if (step === null) return null
  const [, verb = '', sigil = '', name = '', by = '1'] = step
  if (!isKnown(context.scope, name, sigil === '$')) {
    if (sigil === '') return null
    const at = text.indexOf(`$${name}`)
    reportUnset(name, true, bullet, at, at + name.length + 1, context)
  }
  const sign = /^(?:inc)/i.test(verb) ? '+' : '-'
  return change(name, sigil === '$', by, (value) => `${sigil}${name} ${sign} ${value}`, bullet, context)
}

/** Sets a variable to what becomes of its own value and another one. */
function change(
  name: string,
  sigil: boolean,
  words: string,
  join: (value: string) => string,
  bullet: Bullet,
  context: StepContext,
): StepBody | null {
  const bare = words.trim().replace(/^the\s+/i, '')
  const read = tryExpression(withoutSeparators(bare), context)
  const from = bullet.text.indexOf(bare)
  if (read.kind !== 'value') {
    if (!/^[-+]?\$?\d/.test(bare)) return null
    reportAt(bullet, from, from + bare.length, context).error(
      'invalid_expression',
      `${quote(bare)} is no number`,
      'write a number such as 1000, or an expression: `$x = $x * 1.1`',
    )
    return { kind: 'set', target: writeTarget(name, sigil, bullet, context), value: plain('null') }
  }
  const { source, calls } = acceptExpression(read, bullet, from, context)
  noteRead(name, bullet, context)
  const value = /^[\p{L}\p{N}_$.]+$/u.test(source) || /^"[^"]*"$/.test(source) ? source : `(${source})`
  return {
    kind: 'set',
    target: writeTarget(name, sigil, bullet, context),
    value: { form: 'expression', source: join(value), calls },
  }
}

function assign(
  name: string,
  sigil: boolean,
  typeWord: string | undefined,
  words: string,
  bullet: Bullet,
  context: StepContext,
): StepBody | null {
  let type: ValueType = 'any'
  if (typeWord !== undefined) {
    const named = typeNamed(typeWord)
    if (named === null)
      reportAt(bullet, 0, bullet.text.length, context).error(
        'wrong_type',
        `\`${typeWord}\` is no type`,
        'there are str, int, float, bool, list and dict',
      )
    else type = named
  }
  if (type === 'any' && mayBeWhether(words) && /^whether\s/i.test(words)) type = 'bool'
  const from = bullet.text.lastIndexOf(words)
  const read = tryExpression(withoutSeparators(words), context)
  if (read.kind === 'value' || read.kind === 'broken') {
    const value = acceptExpression(read, bullet, from, context)
    checkType(read, type, bullet, from, context)
    const target = writeTarget(name, sigil, bullet, context, type)
    return read.kind === 'value' && read.lifted.isCall
      ? { kind: 'call', value, target }
      : { kind: 'set', target, value }
  }
  const part = partOf(bullet, from, bullet.id)
  const asked = /^ask\b/i.test(words) ? readAsk(part, context, [{ name, sigil, type }]) : null
  if (asked !== null) return asked
  const called = callInWords(part, context, { name, sigil, type })
  if (called !== null) return called
  if (read.kind === 'words' && /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(words.trim())) {
    reportAt(bullet, from, from + words.length, context).warn(
      'unquoted_text',
      `\`${words.trim()}\` is no variable, so it is read as text`,
      `write "${words.trim()}" in quotes`,
    )
    return {
      kind: 'set',
      target: writeTarget(name, sigil, bullet, context, type),
      value: plain(JSON.stringify(words.trim())),
    }
  }
  if (read.kind === 'words' && !/\p{L}\s+\p{L}/u.test(words)) {
    acceptExpression(read, bullet, from, context)
    return { kind: 'set', target: writeTarget(name, sigil, bullet, context, type), value: plain('null') }
  }
  if (saysOnlyValues(words) || /\d/.test(words)) reportUnclearValue(name, words, from, bullet, context)
  return naturalValue(part, { name, sigil, type }, context)
}

function mayBeWhether(words: string): boolean {
  return (words.charCodeAt(0) | 32) === 119
}

const bounded =
  /^(?:at\s+(?:most|least)|no\s+(?:more|less|higher|lower)\s+than|up\s+to|(?:the\s+)?(?:smaller|larger|lesser|greater|minimum|maximum|half|double|sum|difference|product|average)\b|\d[\d.,]*\s*(?:%|percent)\s+of\b|half\s+of\b|twice\b)/i

/** A value over known values, in words that are no form of it: a model would make one up. */
function reportUnclearValue(
  name: string,
  words: string,
  from: number,
  bullet: Bullet,
  context: StepContext,
): void {
  if (!saysOnlyValues(words) && !bounded.test(words)) return
  reportAt(bullet, from, from + words.length, context).error(
    'invalid_expression',
    `${quote(words)} is about known values, and a model would set ${quote(`$${name}`)}`,
    'write an expression, such as `$x = min($x, 100)` or `$x = $x * 0.1`',
  )
}

/** `1,000` as the expression language writes it. */
function withoutSeparators(words: string): string {
  return words.includes(',') && /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(words.trim())
    ? words.replaceAll(',', '')
    : words
}

/** Reports a value that is written out and is not of the type that it must have. */
export function checkType(
  read: ReturnType<typeof tryExpression>,
  type: ValueType,
  bullet: Bullet,
  from: number,
  context: StepContext,
): void {
  if (read.kind !== 'value' || read.lifted.literal === undefined || type === 'any') return
  const { literal } = read.lifted
  const fits =
    (type === 'str' && typeof literal === 'string') ||
    (type === 'bool' && typeof literal === 'boolean') ||
    (type === 'float' && typeof literal === 'number') ||
    (type === 'int' && typeof literal === 'number' && Number.isInteger(literal))
  if (!fits)
    reportAt(bullet, from, bullet.text.length, context).error(
      'wrong_type',
      `${JSON.stringify(literal)} is no ${type}`,
    )
}

function plain(source: string): Computation {
  return { form: 'expression', source, calls: [] }
}
