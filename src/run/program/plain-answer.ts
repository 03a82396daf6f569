import type { Json } from '../../shared/json.ts'
import type { Slot } from './question.ts'

/**
 * The value that a reply plainly is, without a model; null where someone has to understand it. It is total and guesses nothing: a reply
 * that could mean something else is left to a model.
 *
 * Only a reply to a question for one value is read.
 * - `int`, `float`: digits, with a sign and, for `float`, a decimal point. No thousands separators: `1,000` and `1.000` are a thousand here
 *   and one there. No leading zeros, no more digits than are exact, no units.
 * - `bool`: yes, no and their short forms; not `sure` or `ok`, which agree to things that were not asked. It answers the question as it was
 *   put, so it is only to be used where the question asks for the variable itself.
 * - `str`, `any`: one word or mark such as `ORD-42`, an email or web address, or a text in quotation marks. Words that people say instead of
 *   an answer (`help`, `cancel`, `why`) are none. For `any` a number is a number unless the variable's name says that it is a label
 *   (`order_id`, `phone`).
 *
 * `bareWords: 'open'` leaves words of letters alone to a model: where a message may set off a trigger, `refund` may be one.
 */
export function plainAnswer(
  slots: readonly Slot[],
  reply: string,
  bareWords: 'value' | 'open' = 'value',
): { readonly [slot: string]: Json } | null {
  const [slot] = slots
  if (slot === undefined || slots.length > 1) return null
  const value = read(slot, reply.trim(), bareWords)
  return value === null ? null : Object.fromEntries([[slot.name, value]])
}

function read({ name, type }: Slot, reply: string, bareWords: 'value' | 'open'): Json {
  // Longer is no plain answer, and nothing here has to read a novel.
  if (reply === '' || reply.length > longest) return null
  switch (type) {
    case 'int':
      return readInt(reply)
    case 'float':
      return readInt(reply) ?? readDecimal(reply)
    case 'bool':
      return readBool(reply)
    case 'str':
      return readText(reply, bareWords)
    case 'any':
      return (isLabel(name) ? null : (readInt(reply) ?? readDecimal(reply))) ?? readText(reply, bareWords)
    case 'list':
    case 'dict':
      return null
  }
}

const longest = 200

function readInt(reply: string): number | null {
  if (!/^[+-]?(?:0|[1-9]\d*)\.?$/.test(reply)) return null
  const value = Number(reply.replace(/\.$/, ''))
  if (!Number.isSafeInteger(value)) return null
  return value === 0 ? 0 : value
}

/** With three digits after the point it may be a thousand. */
function readDecimal(reply: string): number | null {
  const digits = /^[+-]?(0|[1-9]\d*)\.(\d+)$/.exec(reply)
  if (digits === null) return null
  const [, whole = '', part = ''] = digits
  if (whole.length + part.length > 15 || (part.length === 3 && whole !== '0' && whole.length <= 3))
    return null
  const value = Number(reply)
  return value === 0 ? 0 : value
}

const yes: ReadonlySet<string> = new Set(['yes', 'y', 'yeah', 'yep', 'yup', 'true'])
const no: ReadonlySet<string> = new Set(['no', 'n', 'nope', 'nah', 'false'])

function readBool(reply: string): boolean | null {
  const word = reply.toLowerCase().replace(/[.!]$/, '')
  return yes.has(word) ? true : no.has(word) ? false : null
}

/** What people say instead of an answer. */
const noAnswer: ReadonlySet<string> = new Set(
  `yes y yeah yep yup true no n nope nah false ok okay sure fine maybe perhaps none nothing nobody null nil unknown dunno idk na
  help cancel stop quit exit abort end back skip next again repeat retry wait later continue go start restart undo menu done
  hi hello hey hallo bye goodbye thanks thank please sorry pardon what why who whom whose how when where which huh hm hmm um er
  agent human operator person support it this that these those same other another different any anything all both either neither
  not never new change edit delete remove wrong right correct`.split(/\s+/),
)

const quotes: readonly (readonly [string, string])[] = [
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
  ['`', '`'],
]

function readText(reply: string, bareWords: 'value' | 'open'): string | null {
  for (const [open, close] of quotes) {
    if (reply.length < 3 || !reply.startsWith(open) || !reply.endsWith(close)) continue
    const inside = reply.slice(1, -1)
    return inside.includes(open) || inside.includes(close) || inside.trim() === '' ? null : inside
  }
  if (/^https?:\/\/[^\s<>"]*[^\s<>".,;:!?)]$/i.test(reply)) return reply
  if (!/^\+?[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}._@+#/:-]*[\p{L}\p{M}\p{N}])?$/u.test(reply)) return null
  if (noAnswer.has(reply.toLowerCase())) return null
  // A date, a fraction and `he/she` have marks between them too; what has a digit or an at sign is no phrase.
  const word = !/[\p{N}@]/u.test(reply)
  return word && bareWords === 'open' ? null : reply
}

const labels: ReadonlySet<string> = new Set(
  'id ids no nr num code phone mobile tel telephone fax zip postcode plz ref reference sku pin key token email name address isbn iban account serial'.split(
    ' ',
  ),
)

/** Whether a number under this name is a label, with which nobody calculates. */
function isLabel(name: string): boolean {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
  const last = words.findLast((word) => word !== '') ?? ''
  return labels.has(last) || (last === 'number' && words.filter((word) => word !== '').length > 1)
}
