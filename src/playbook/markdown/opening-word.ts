/** The words that open a bullet. One look at the first word says which families of forms are worth trying, and most are not. */

/** The families of forms that a first word can open, a bit each. */
export const opens = {
  branch: 1 << 0,
  loop: 1 << 1,
  confirmation: 1 << 2,
  /** A guard only where a condition stands behind it. */
  endingGuard: 1 << 3,
  guard: 1 << 4,
  ending: 1 << 5,
  /** Words before an assignment that say nothing. */
  assignment: 1 << 6,
  /** Verbs that give a variable its value. */
  giving: 1 << 7,
  /** Verbs that change the value of a variable. */
  changing: 1 << 8,
  call: 1 << 9,
  speech: 1 << 10,
  question: 1 << 11,
  extraction: 1 << 12,
  /** Verbs with a list of variables behind them. */
  listing: 1 << 13,
  note: 1 << 14,
} as const

const wordsOf: Readonly<Record<keyof typeof opens, string>> = {
  branch: 'if when else otherwise',
  loop: 'while until as repeat keep do loop for count up at',
  confirmation: 'wait ask get request obtain seek have let require need confirm double',
  endingGuard: `stop abort end exit quit terminate halt finish break leave skip return do don never only continue proceed go carry
    move`,
  guard: 'check double verify confirm make be ensure require assert validate see always please first then',
  ending: 'end exit stop quit terminate finish endprogram break leave continue skip wait pause sleep return',
  assignment: 'let calculate compute define determine assign then now next and',
  giving: 'set initialize initialise reset',
  changing: 'add append push subtract increment increase decrement decrease',
  call: 'call run execute invoke',
  speech: `say tell greet thank welcome inform notify reply respond answer introduce explain apologize apologise congratulate remind let
    show display print describe offer suggest recommend advise warn encourage acknowledge mention talk chat wish reassure state announce
    ask prompt keep request`,
  question: 'ask prompt keep request',
  extraction: 'extract read pull get take obtain collect',
  listing: 'extract get collect obtain read find list',
  note: 'always must make be you first before never do don only',
}

/** A first word in small letters, empty where the text begins with something else, and what it can open. */
export interface Opening {
  readonly word: string
  readonly opens: number
}

const known: ReadonlyMap<string, Opening> = knownOpenings()
/** The same by a number made of their letters, so that no text is cut to look one up; most slots are empty. */
const slots: readonly (readonly Opening[] | undefined)[] = slotsOf(known.values())
const noWord: Opening = { word: '', opens: 0 }

/** The word that a text begins with. */
export function openingOf(text: string): Opening {
  let end = 0
  let key = 0
  let code = text.charCodeAt(0)
  while (isAsciiLetter(code)) {
    key = nextKey(key, code)
    code = text.charCodeAt(++end)
  }
  if (code > 191) return anyOpening(text, end)
  if (end === 0) return noWord
  const slot = slots[key]
  if (slot !== undefined) for (const each of slot) if (begins(text, each.word, end)) return each
  return { word: text.slice(0, end).toLowerCase(), opens: 0 }
}

/** The same where letters beyond ASCII stand in the word. */
function anyOpening(text: string, from: number): Opening {
  let end = from
  while (end < text.length && isLetter(text.charCodeAt(end))) end++
  const word = text.slice(0, end).toLowerCase()
  return known.get(word) ?? { word, opens: 0 }
}

function isLetter(code: number): boolean {
  return isAsciiLetter(code) || code > 191
}

function isAsciiLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

/** Large and small letters count alike. */
function nextKey(key: number, code: number): number {
  return (key * 31 + (code & 31)) & 1023
}

function begins(text: string, word: string, length: number): boolean {
  if (word.length !== length) return false
  for (let at = 0; at < length; at++) if ((text.charCodeAt(at) | 32) !== word.charCodeAt(at)) return false
  return true
}

function knownOpenings(): Map<string, Opening> {
  const found = new Map<string, number>()
  for (const [family, words] of Object.entries(wordsOf))
    for (const word of words.split(/\s+/))
      found.set(word, (found.get(word) ?? 0) | opens[family as keyof typeof opens])
  return new Map([...found].map(([word, bits]) => [word, { word, opens: bits }]))
}

function slotsOf(openings: Iterable<Opening>): (Opening[] | undefined)[] {
  const all: (Opening[] | undefined)[] = Array.from({ length: 1024 }, () => undefined)
  for (const opening of openings) {
    let key = 0
    for (let at = 0; at < opening.word.length; at++) key = nextKey(key, opening.word.charCodeAt(at))
    all[key] = [...(all[key] ?? []), opening]
  }
  return all
}
