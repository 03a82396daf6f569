import { maybe, takes, type Builtin, type CallSite } from './builtin.ts'
import type { Outcome } from './compilation.ts'
import { expressionLimit, spend, spendDict, spendText } from './expression-limit.ts'
import { isList, memberNames, type ExpressionDict, type ExpressionValue } from './expression-value.ts'
import { roundNumber } from './round-number.ts'
import { charactersOf, characterCount } from './text-characters.ts'
import { truthOf } from './truth-of.ts'
import { writeText } from './write-text.ts'

const number = takes('x', 'number')
const anything = takes('x', 'any')
const list = takes('x', 'list')

/** The functions of the language, besides `has`, `default`, `any` and `all`, which treat errors in their own way. */
export const builtinFunctions: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  [
    'len',
    { parameters: [takes('x', 'list', 'string', 'dict')], condition: true, returns: 'number', run: lengthOf },
  ],
  ['abs', { parameters: [number], condition: true, returns: 'number', run: ([x]) => Math.abs(x as number) }],
  [
    'round',
    {
      parameters: [number, maybe(takes('digits', 'number'))],
      condition: true,
      returns: 'number',
      run: ([x, digits], site) => round(x as number, (digits ?? 0) as number, site),
    },
  ],
  ['min', extreme('min', (left, right) => left < right)],
  ['max', extreme('max', (left, right) => left > right)],
  ['sum', { parameters: [list], condition: true, returns: 'number', generator: true, run: sum }],
  ['int', { parameters: [takes('x', 'number', 'string')], condition: false, returns: 'number', run: toInt }],
  [
    'float',
    { parameters: [takes('x', 'number', 'string')], condition: false, returns: 'number', run: toFloat },
  ],
  ['str', { parameters: [anything], condition: false, returns: 'string', run: toText }],
  [
    'bool',
    {
      parameters: [anything],
      condition: false,
      returns: 'boolean',
      run: ([x], site) => truthOf(x!, site.scope),
    },
  ],
  [
    'list',
    {
      parameters: [takes('x', 'list', 'string')],
      condition: false,
      returns: 'list',
      generator: true,
      run: toList,
    },
  ],
  [
    'sorted',
    {
      parameters: [list, { name: 'reverse', types: ['boolean'], optional: true, named: true }],
      condition: false,
      returns: 'list',
      generator: true,
      run: sorted,
    },
  ],
  [
    'range',
    {
      parameters: [takes('start', 'number'), maybe(takes('stop', 'number')), maybe(takes('step', 'number'))],
      condition: false,
      returns: 'list',
      run: range,
    },
  ],
  [
    'enumerate',
    {
      parameters: [list, maybe(takes('start', 'number'))],
      condition: false,
      returns: 'list',
      run: enumerate,
    },
  ],
])

function limit(site: CallSite): Outcome {
  return site.fail('expression_limit', 'the expression takes too much work')
}

function lengthOf([x]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  if (isList(x)) return x.length
  if (typeof x === 'string') return spendText(site.scope, x.length) ? characterCount(x) : limit(site)
  const size = memberNames(x as ExpressionDict).length
  return spendDict(site.scope, size) ? size : limit(site)
}

function round(x: number, digits: number, site: CallSite): Outcome {
  if (!Number.isInteger(digits) || Math.abs(digits) > 15) {
    return site.fail('out_of_range', 'the digits of `round` are a whole number from -15 to 15')
  }
  return roundNumber(x, digits)
}

function extreme(
  name: string,
  isBetter: (left: number | string, right: number | string) => boolean,
): Builtin {
  return {
    parameters: [takes('x', 'list', 'number', 'string')],
    condition: true,
    returns: 'any',
    generator: true,
    variadic: true,
    run: (given, site) => {
      const items = given.length === 1 && isList(given[0]) ? given[0] : (given as readonly ExpressionValue[])
      if (given.length === 1 && !isList(given[0])) {
        return site.fail('wrong_type', `\`${name}\` takes a list, or two or more values`)
      }
      if (items.length === 0) return site.fail('out_of_range', `\`${name}\` of an empty list has no value`)
      if (!spend(site.scope, items.length)) return limit(site)
      const kind = orderedKind(items)
      if (kind === null) return site.fail('wrong_type', `\`${name}\` compares numbers only or strings only`)
      let best = items[0] as number | string
      for (const item of items) if (isBetter(item as number | string, best)) best = item as number | string
      return best
    },
  }
}

function orderedKind(items: readonly ExpressionValue[]): 'number' | 'string' | null {
  if (items.every((item) => typeof item === 'number')) return 'number'
  return items.every((item) => typeof item === 'string') ? 'string' : null
}

function sum([x]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  const items = x as readonly ExpressionValue[]
  if (!spend(site.scope, items.length)) return limit(site)
  let total = 0
  for (const item of items) {
    if (typeof item !== 'number') return site.fail('wrong_type', '`sum` adds numbers only')
    total += item
  }
  return Number.isFinite(total) ? total : site.fail('out_of_range', 'the result is too large')
}

function toInt([x]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  if (typeof x === 'number') return Math.trunc(x)
  return /^\s*[+-]?[0-9]{1,400}\s*$/.test(x as string)
    ? exactNumber(x as string, site)
    : site.fail('out_of_range', '`int` reads digits with an optional sign only')
}

function toFloat([x]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  if (typeof x === 'number') return x
  return /^\s*[+-]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?\s*$/.test(x as string)
    ? exactNumber(x as string, site)
    : site.fail('out_of_range', '`float` reads a decimal number only')
}

function exactNumber(text: string, site: CallSite): Outcome {
  const value = Number(text)
  if (!Number.isFinite(value)) return site.fail('out_of_range', 'the number is too large')
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value)
  return isExact ? value : site.fail('out_of_range', 'the number is too large to be kept exactly')
}

function toText([x]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  return writeText(x!, site.scope) ?? site.fail('expression_limit', 'the string becomes too long')
}

function toList([x]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  const items = typeof x === 'string' ? charactersOf(x) : (x as readonly ExpressionValue[])
  if (items.length > expressionLimit.listLength)
    return site.fail('expression_limit', 'the list becomes too long')
  return spend(site.scope, items.length) ? [...items] : limit(site)
}

function sorted([x, reverse]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  const items = x as readonly (number | string)[]
  if (!spend(site.scope, items.length * (1 + Math.ceil(Math.log2(items.length + 1))))) return limit(site)
  if (orderedKind(items) === null)
    return site.fail('wrong_type', '`sorted` orders numbers only or strings only')
  const direction = reverse === true ? -1 : 1
  return items.toSorted((a, b) => (a < b ? -direction : a > b ? direction : 0))
}

function range(given: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  const [start, stop, step] =
    given[1] === undefined ? [0, given[0] as number, 1] : ([given[0], given[1], given[2] ?? 1] as number[])
  if (![start, stop, step].every(Number.isInteger))
    return site.fail('wrong_type', '`range` takes whole numbers')
  if (step === 0) return site.fail('out_of_range', 'the step of `range` is not 0')
  const length = Math.max(0, Math.ceil((stop! - start!) / step!))
  if (length > expressionLimit.listLength) return site.fail('expression_limit', 'the list becomes too long')
  return spend(site.scope, length) ? Array.from({ length }, (_, i) => start! + i * step!) : limit(site)
}

function enumerate([x, start]: readonly (ExpressionValue | undefined)[], site: CallSite): Outcome {
  const items = x as readonly ExpressionValue[]
  const first = (start ?? 0) as number
  return spend(site.scope, items.length * 2) ? items.map((item, i) => [first + i, item]) : limit(site)
}
