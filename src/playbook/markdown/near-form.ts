/** Bullets of several words that are nearly a form, or hold an ending that nobody would obey: read as prose they would lose their meaning. */
import type { Bullet } from './bullet.ts'
import { firstWord, partOf } from './bullet.ts'
import { isWithinEdits } from './is-within-edits.ts'
import { endingForm } from './ending-form.ts'
import { quote } from './findings.ts'
import { holds } from './glance.ts'
import { nearKeyword, reportNear } from './near-keyword.ts'
import { type StepContext, reportAt } from './step-context.ts'
import { Variables } from './variables.ts'

/** Forms that are a whole bullet. */
const whole: readonly string[] = [
  'end program',
  'end the program',
  'exit program',
  'exit the program',
  'stop the program',
  'end conversation',
  'end the conversation',
  'break the loop',
  'exit the loop',
  'leave the loop',
  'stop the loop',
  'skip to the next',
]
/** Forms that open a bullet; `#` is a number or a variable. */
const openings: readonly string[] = [
  'otherwise',
  'else if',
  'as long as',
  'up to # times',
  'at most # times',
  'repeat # times',
  'repeat up to # times',
  'repeat until',
  'repeat while',
  'for each # in',
  'for every # in',
]
const aliases: ReadonlyMap<string, string> = new Map([
  ['elseif', 'Else if'],
  ['elsif', 'Else if'],
  ['elif', 'Else if'],
  ['foreach', 'For each'],
  ['forevery', 'For every'],
  ['endprogram', 'End program'],
])
const forms: readonly string[] = [...whole, ...openings]
const openingWords = openings.map((form) => [form, form.split(' ').length] as const)
/** The longest first word that two edits can make of the beginning of a form. */
const longestFirst = Math.max(...forms.map((form) => form.length)) + 2
/** For each length of a first word, the letters of each form up to two behind it. */
const lettersUpTo: readonly (readonly number[])[] = Array.from({ length: longestFirst + 1 }, (_, length) =>
  forms.map((form) => lettersIn(form.slice(0, length + 2))),
)
const valueWords: ReadonlySet<string> = new Set('one two three four five six seven eight nine ten'.split(' '))
const mostLetters = Math.max(...forms.map((form) => form.length)) + 2
const value = /^(?:\$?\d+|\$[\p{L}_][\p{L}\p{N}_]*|one|two|three|four|five|six|seven|eight|nine|ten)$/iu

/** Reports a bullet that is nearly a form; says whether it did. */
export function nearForm(bullet: Bullet, context: StepContext): boolean {
  return (
    nearAlias(bullet, context) ||
    nearPhrase(bullet, context) ||
    nearKeyword(bullet, context) ||
    lostEnding(bullet, context)
  )
}

function nearAlias(bullet: Bullet, context: StepContext): boolean {
  const meant = aliases.get(bullet.word)
  if (meant === undefined) return false
  reportNear(bullet, 0, bullet.word.length, meant + bullet.text.slice(bullet.word.length), context)
  return true
}

function nearPhrase(bullet: Bullet, context: StepContext): boolean {
  if (!mayOpenPhrase(bullet.word)) return false
  const words = withoutSigns(bullet.text).split(/\s+/, 7)
  const masked = words.map((word) => (mayBeValue(word) && value.test(word) ? '#' : word.toLowerCase()))
  /** What so many words are. */
  const begun = ['']
  for (const word of masked) begun.push(begun.length === 1 ? word : `${begun.at(-1)!} ${word}`)
  const all = begun.at(-1)!
  if (bullet.text.length <= mostLetters && words.length < 6) {
    const form = whole.find((each) => near(all, each))
    if (form !== undefined) {
      reportNear(bullet, 0, bullet.text.length, capital(form), context)
      return true
    }
  }
  for (const [form, length] of openingWords) {
    if (!mayBegin(all, form)) continue
    for (const count of [length, length - 1, length + 1]) {
      const text = begun[count]
      // What is asked for is not a count of turns.
      if (count === 0 || text === undefined || masked[count - 1] === 'items') continue
      if (Math.abs(text.length - form.length) > 2 || text.includes('#') !== form.includes('#')) continue
      if (!near(text, form)) continue
      const values = words.slice(0, count).filter((word) => value.test(word))
      const meant = form.replaceAll('#', () => values.shift()!)
      const end = endOf(bullet.text, count)
      reportNear(bullet, 0, end, capital(meant) + bullet.text.slice(end), context)
      return true
    }
  }
  return false
}

/**
 * A glance at the first word. Each letter of it that the beginning of a form lacks takes an edit, so most words open nothing that is near a
 * form.
 */
function mayOpenPhrase(word: string): boolean {
  if (word.length < 3 || valueWords.has(word)) return true
  const known = lettersUpTo[word.length]
  if (known === undefined) return false
  const own = lettersIn(word)
  for (const letters of known) if (hasTwoAtMost(own & ~letters)) return true
  return false
}

/** The letters from a to z that a text holds, a bit for each. */
function lettersIn(text: string): number {
  let letters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 97 && code <= 122) letters |= 1 << (code - 97)
  }
  return letters
}

function hasTwoAtMost(bits: number): boolean {
  const less = bits & (bits - 1)
  return (less & (less - 1)) === 0
}

function withoutSigns(text: string): string {
  let end = text.length
  while (end > 0 && '.!:'.includes(text[end - 1]!)) end--
  return text.slice(0, end)
}

/** A glance: a number, a variable, or one of the words from one to ten. */
function mayBeValue(word: string): boolean {
  return word.length <= 5 || word.startsWith('$') || isDigit(word.charCodeAt(0))
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function near(text: string, form: string): boolean {
  return text !== form && mayBegin(text, form) && isWithinEdits(text, form, 2)
}

/** A glance at the first letters, which two edits seldom change both. */
function mayBegin(text: string, form: string): boolean {
  const first = text.charCodeAt(0)
  return first === form.charCodeAt(0) || first === form.charCodeAt(1) || text[1] === form[0]
}

/** Where the first so many words end. */
function endOf(text: string, count: number): number {
  const words = text.matchAll(/\S+/g)
  let end = 0
  for (let seen = 0; seen < count; seen++) {
    const next = words.next()
    if (next.done === true) break
    end = next.value.index + next.value[0].length
  }
  return end
}

const thing = String.raw`(?:\s+(?:the\s+)?(?:program|conversation|session|run|execution))`
const filler =
  /^(?:and|then|and\s+then|now|next|please|finally|also|just|so|first|lastly|afterwards)\s*[,:]?\s+(?=\S)/i
const endsFirst = new RegExp(String.raw`^(?:end|exit|stop|quit|terminate|finish)${thing}\b`, 'i')
const endsLast = new RegExp(
  String.raw`(?:\b(?:and|then|or)|[,;.])\s+(?:then\s+)?(?:(?:end|exit|stop|quit|terminate|abort|halt)${thing}?(?:\s+(?:here|now|there))?|return(?:\s+(?:early|here|now|\$[\p{L}_][\p{L}\p{N}_.]*|""|true|false|null|\d+))?|break|(?:skip|ignore)\s+the\s+rest)[.!]?$`,
  'iu',
)
const endsLoosely =
  /^(?:end|exit|stop|quit|terminate|finish|abort|halt)(?:\s+(?:here|now|it|this|there|everything|all|immediately|right|away|at|once|processing|working|executing|the|playbook|procedure|process|workflow|script|steps?))*[.!]?$/i

const fillers: ReadonlySet<string> = new Set(
  'and then now next please finally also just so first lastly afterwards'.split(' '),
)
const enders: ReadonlySet<string> = new Set('end exit stop quit terminate finish abort halt'.split(' '))
/** A glance at the end of a sentence: most hold no ending there. */
const mayEnd = /\b(?:end|exit|stop|quit|terminate|abort|halt|return|break|rest)\b[^.!;]*[.!]?$/i

/** Reports an ending that stands among words, where it would end nothing; says whether it did. */
export function lostEnding(bullet: Bullet, context: StepContext): boolean {
  const isQuoting = (bullet.holds & holds.quote) !== 0
  const text = isQuoting ? bullet.text.replace(/["“][^"“”]*["”]/g, '""') : bullet.text
  const opening = fillers.has(bullet.word) ? filler.exec(bullet.text) : null
  if (opening !== null) {
    const rest = partOf(bullet, opening[0].length, bullet.id)
    const ending = context.findings.quietly(() => endingForm(rest, { ...context, uses: new Variables() }))
    if (ending !== null && ending.kind !== 'answer') {
      reportNear(bullet, 0, opening[0].length, capital(rest.text), context)
      return true
    }
  }
  const ends =
    (enders.has(bullet.word) && (endsFirst.test(text) || endsLoosely.test(text))) ||
    ((bullet.holds & holds.ending) !== 0 && mayEnd.test(text) && endsLast.test(text))
  if (!ends) return false
  reportAt(bullet, 0, bullet.text.length, context).error(
    'near_keyword',
    `${quote(bullet.text)} reads as if it ended something, and would end nothing`,
    'write `End program`, `Return` or `Break` as a step of its own',
  )
  return true
}

function capital(text: string): string {
  return firstWord(text) === '' ? text : text[0]!.toUpperCase() + text.slice(1)
}
