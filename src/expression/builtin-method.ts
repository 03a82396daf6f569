import { maybe, takes, type Builtin, type CallSite } from './builtin.ts'
import type { Outcome, StaticType } from './compilation.ts'
import { expressionLimit, spend, spendDict, spendText } from './expression-limit.ts'
import { memberNames, readMember, type ExpressionDict, type ExpressionValue } from './expression-value.ts'
import { placeOf } from './same-value.ts'
import { sameValue } from './same-value.ts'

/** A method: a function whose first argument stands before the dot. */
export interface BuiltinMethod extends Builtin {
  readonly of: 'string' | 'list' | 'dict'
}

type Given = readonly (ExpressionValue | undefined)[]

const part = takes('part', 'string')

/** The methods of the language, by name. */
export const builtinMethods: ReadonlyMap<string, BuiltinMethod> = new Map<string, BuiltinMethod>([
  ['lower', convert(true, (text) => text.toLowerCase())],
  ['upper', convert(true, (text) => text.toUpperCase())],
  ['strip', convert(true, (text) => text.trim())],
  ['lstrip', convert(false, (text) => text.trimStart())],
  ['rstrip', convert(false, (text) => text.trimEnd())],
  ['capitalize', convert(false, capitalize)],
  ['title', convert(false, (text) => text.replace(/\p{L}[\p{L}\p{M}\p{N}'’]*/gu, capitalize))],
  ['startswith', question((text, other) => text.startsWith(other))],
  ['endswith', question((text, other) => text.endsWith(other))],
  ['replace', method('string', false, 'string', [takes('old', 'string'), takes('new', 'string')], replace)],
  ['split', method('string', false, 'list', [maybe(part)], split)],
  ['splitlines', method('string', false, 'list', [], splitLines)],
  ['join', { ...method('string', false, 'string', [takes('parts', 'list')], join), generator: true }],
  ['count', method('list', true, 'number', [takes('value', 'any')], count)],
  ['index', method('list', false, 'number', [takes('value', 'any')], index)],
  ['keys', members((_dict, name) => name)],
  ['values', members((dict, name) => readMember(dict, name)!)],
  ['items', members((dict, name) => [name, readMember(dict, name)!])],
])

function method(
  of: BuiltinMethod['of'],
  condition: boolean,
  returns: StaticType,
  parameters: Builtin['parameters'],
  run: Builtin['run'],
): BuiltinMethod {
  return { of, condition, returns, parameters, run }
}

function limit(site: CallSite): Outcome {
  return site.fail('expression_limit', 'the expression takes too much work')
}

function tooLong(what: string, site: CallSite): Outcome {
  return site.fail('expression_limit', `the ${what} becomes too long`)
}

function convert(condition: boolean, apply: (text: string) => string): BuiltinMethod {
  return method('string', condition, 'string', [], ([text], site) =>
    spendText(site.scope, (text as string).length) ? apply(text as string) : limit(site),
  )
}

function question(apply: (text: string, other: string) => boolean): BuiltinMethod {
  return method('string', true, 'boolean', [part], ([text, other], site) =>
    spendText(site.scope, (other as string).length) ? apply(text as string, other as string) : limit(site),
  )
}

function members(pick: (dict: ExpressionDict, name: string) => ExpressionValue): BuiltinMethod {
  return method('dict', true, 'list', [], ([value], site) => {
    const dict = value as ExpressionDict
    const names = memberNames(dict)
    return spendDict(site.scope, names.length) ? names.map((name) => pick(dict, name)) : limit(site)
  })
}

function capitalize(text: string): string {
  const [first = ''] = text
  return first.toUpperCase() + text.slice(first.length).toLowerCase()
}

/** The work of searching: in the worst case each character of the part is compared at each place. */
function spendSearch(text: string, other: string, site: CallSite): boolean {
  return spendText(site.scope, text.length * (1 + (other.length >> 6)))
}

function replace([text, old, by]: Given, site: CallSite): Outcome {
  const [whole, from, to] = [text as string, old as string, by as string]
  if (from === '') return site.fail('out_of_range', '`replace` needs a text to look for')
  if (!spendSearch(whole, from, site)) return limit(site)
  const pieces = whole.split(from)
  const length = whole.length + (pieces.length - 1) * (to.length - from.length)
  if (length > expressionLimit.textLength) return tooLong('string', site)
  return spend(site.scope, pieces.length) && spendText(site.scope, length) ? pieces.join(to) : limit(site)
}

function split([text, separator]: Given, site: CallSite): Outcome {
  const whole = text as string
  if (separator === '')
    return site.fail('out_of_range', '`split` needs a separator; write list(x) for the characters')
  if (!spendSearch(whole, (separator ?? '') as string, site)) return limit(site)
  const pieces =
    separator === undefined
      ? whole.split(/\s+/).filter((piece) => piece !== '')
      : whole.split(separator as string)
  if (pieces.length > expressionLimit.listLength) return tooLong('list', site)
  return spend(site.scope, pieces.length) ? pieces : limit(site)
}

function splitLines([text]: Given, site: CallSite): Outcome {
  const whole = text as string
  if (!spendText(site.scope, whole.length)) return limit(site)
  const lines = whole.split(/\r\n|\r|\n/)
  if (lines.at(-1) === '') lines.pop()
  if (lines.length > expressionLimit.listLength) return tooLong('list', site)
  return spend(site.scope, lines.length) ? lines : limit(site)
}

function join([separator, parts]: Given, site: CallSite): Outcome {
  const pieces = parts as readonly ExpressionValue[]
  if (!spend(site.scope, pieces.length)) return limit(site)
  let length = (separator as string).length * Math.max(0, pieces.length - 1)
  for (const piece of pieces) {
    if (typeof piece !== 'string')
      return site.fail('wrong_type', '`join` joins strings only; write str(x) for the others')
    length += piece.length
  }
  if (length > expressionLimit.textLength) return tooLong('string', site)
  return spendText(site.scope, length) ? pieces.join(separator as string) : limit(site)
}

function count([list, value]: Given, site: CallSite): Outcome {
  const items = list as readonly ExpressionValue[]
  if (!spend(site.scope, items.length)) return limit(site)
  let found = 0
  for (const item of items) {
    const same = sameValue(item, value!, site.scope)
    if (same === null) return limit(site)
    if (same) found++
  }
  return found
}

function index([list, value]: Given, site: CallSite): Outcome {
  const place = placeOf(value!, list as readonly ExpressionValue[], site.scope)
  if (place === null) return limit(site)
  return place < 0 ? site.fail('missing_value', 'the value is not in the list') : place
}
