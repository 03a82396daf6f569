/**
 * What stands in a text, seen in one pass over it, so that most expressions need not be tried on most texts.
 *
 * Invariant: it may say that something stands there that does not, and never that something does not stand there that does. Texts with
 * letters beyond ASCII hold everything.
 */

/** Signs and words that forms look for, a bit each. */
export const holds = {
  lineFeed: 1 << 0,
  /** An apostrophe, or a sign that no keyboard has. */
  apostrophe: 1 << 1,
  dollar: 1 << 2,
  quote: 1 << 3,
  parenthesis: 1 << 4,
  equals: 1 << 5,
  digit: 1 << 6,
  backtick: 1 << 7,
  /** A colon, a comma or `then`, behind which a step may begin. */
  border: 1 << 8,
  /** Something behind which a sentence goes on: a comma, a full stop, `and`, `then`. */
  joint: 1 << 9,
  is: 1 << 10,
  /** `store`, `save`, `keep`, `put`. */
  keeping: 1 << 11,
  ask: 1 << 12,
  /** `must`, and what else demands. */
  must: 1 << 13,
  agreement: 1 << 14,
  ending: 1 << 15,
  /** Words and signs without which nothing in a sentence makes it a guard. */
  guard: 1 << 16,
  negation: 1 << 17,
  /** Words without which a note is no rule. */
  rule: 1 << 18,
} as const

type Held = keyof typeof holds

const signs: Readonly<Partial<Record<Held, string>>> = {
  lineFeed: '\n\r',
  apostrophe: "'",
  dollar: '$',
  // What stands in single quotes is read as if it stood in double ones.
  quote: `"'`,
  parenthesis: '(',
  equals: '=',
  digit: '0123456789',
  backtick: '`',
  border: ':,',
  joint: ',;.:&',
  // `n't`, `<`, `==` and `!=`.
  guard: "'<>=",
  negation: "'",
  rule: "'",
}

const words: Readonly<Partial<Record<Held, string>>> = {
  border: 'then',
  joint: 'and then but or',
  is: 'is',
  keeping: 'store save keep put',
  ask: 'ask',
  must: 'must has have needs',
  agreement: 'confirm agree approve accept consent verify sign',
  ending: 'end exit stop quit terminate abort halt return break rest',
  guard: `not no never cannot avoid refrain without forbidden must only if unless when provided as required has have needs should shall
    ought allowed permitted prohibited mandatory needed necessary until till for`,
  negation: 'not no never cannot avoid refrain without forbidden',
  rule: `always never must only before unless without not first cannot forbidden prohibited refuse refused most least more once twice
    exceed exceeds require requires required until after no dont avoid refrain need needs maximum minimum circumstances stop`,
}

const everything = Object.values(holds).reduce((all, bit) => all | bit, 0)
const bySign = new Int32Array(128)
/** By a number made of the letters of a word; words that share one are taken for each other, which costs a second look. */
const byWord = new Int32Array(4096)

for (const [held, list] of Object.entries(signs))
  for (const sign of list) bySign[sign.charCodeAt(0)]! |= holds[held as Held]
for (const [held, list] of Object.entries(words)) {
  for (const word of list.split(/\s+/)) {
    let key = 0
    for (let at = 0; at < word.length; at++) key = nextKey(key, word.charCodeAt(at))
    byWord[key]! |= holds[held as Held]
  }
}

/** What a text may hold. */
export function glanceAt(text: string): number {
  let held = 0
  let key = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if ((code | 32) >= 97 && (code | 32) <= 122) {
      key = nextKey(key, code)
      continue
    }
    if (code > 127) return everything
    held |= bySign[code]! | byWord[key]!
    key = 0
  }
  return held | byWord[key]!
}

/** Large and small letters count alike; no word has the number of none. */
function nextKey(key: number, code: number): number {
  return (key * 31 + (code & 31)) & 4095
}
