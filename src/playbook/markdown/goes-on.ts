import type { Bullet } from './bullet.ts'
import { holds } from './glance.ts'
import { withoutQuoted } from './without-quoted.ts'

/** Words of speaking, and of how to speak: what they begin is still said. */
const speaks =
  setOf(`say tell greet thank welcome inform notify reply respond answer introduce explain apologize apologise congratulate
  remind let show display print describe offer suggest recommend advise warn encourage acknowledge mention talk chat wish reassure state
  announce give share list include provide repeat add point assure clarify summarise summarize outline refer invite express be stay`)
/** Words that begin no action, but a thing, a clause or an aside. */
const neutral =
  setOf(`the a an it its they them their theirs he she him his her hers we us our ours you your yours i my mine this that
  these those there here what which who whom whose where when why how whether about of in on at by for from with without to into as than
  per via since because so such some any all both either each every another other more most less least very too also even just still again
  please thanks sorry hello hi yes ok okay is are was were has have had will would can could may might should shall one two three four five
  six seven eight nine ten first second third last next new`)
/** Words that begin something to do even where nothing follows them. */
const acts =
  setOf(`ask wait hold pause stop end exit quit leave finish abort terminate halt cancel skip reject refuse decline deny block
  close hang go return continue proceed do don't dont never not only if unless until till once get obtain collect request seek secure have
  make check confirm verify validate ensure escalate transfer forward hand call send refund pay charge book delete remove disconnect
  consult clear run await drop give-up reset retry restart sign log mark flag require need see look take put set cap limit keep`)
const objects =
  setOf(`the a an it them their his her him this these that until till if again no any all each every everything nothing
  your our my here`)

/** What nobody is told that they do, as the second of two things. */
const ours =
  setOf(`ask wait hold pause stop end exit quit leave do don't dont never not only if unless until get obtain check confirm verify
  ensure escalate transfer forward refund`)
const theirs =
  /\b(?:that|how)\s+(?:they|he|she|(?:the\s+)?(?:user|customer|caller|client|guest|patient|visitor))\s+(?:must|can|may|should|could|would|will|need|needs|have|has|to)\b[^,;.:]*$/i

const joint = /(?:\b(?:and|then|but|or)\b|[,;.:&—–])\s+/giu
const filler = /(?:(?:and|then|also|please|finally|politely|kindly|afterwards)\s+)*/iuy
const word = /([\p{L}'-]+)(?:[.!]?$|[,;:.!]?\s+(\S+))/uy
const toAgree = /\bto\s+(?:confirm|agree|approve|accept|consent|verify|sign)\b/i

/** Whether words that are only said want the person to agree: `Tell the customer to confirm`. */
export function wantsAgreement({ text, holds: held }: Bullet): boolean {
  return (held & holds.agreement) !== 0 && toAgree.test(withoutQuoted(text))
}

/** Whether words for a person go on with something to do that is not speaking: `Tell her the amount and wait for a yes`. */
export function goesOn({ text, holds: held }: Bullet): boolean {
  if ((held & holds.joint) === 0) return false
  const plain = withoutQuoted(text)
  joint.lastIndex = 0
  for (let found = joint.exec(plain); found !== null; found = joint.exec(plain)) {
    if (actsBehind(found[0], found.index, plain)) return true
  }
  return false
}

/** Whether what stands behind a joint is something to do. */
function actsBehind(found: string, index: number, plain: string): boolean {
  const from = index + found.length
  filler.lastIndex = from
  const skipped = filler.exec(plain)?.[0] ?? ''
  word.lastIndex = from + skipped.length
  const next = word.exec(plain)
  if (next === null) return false
  const verb = next[1]!.toLowerCase()
  if (
    /^(?:and|or)\s/i.test(found) &&
    !ours.has(verb) &&
    theirs.test(plain.slice(Math.max(0, index - 200), index))
  )
    return false
  return isAction(verb, next[2]?.toLowerCase(), `${found}${skipped}`)
}

function isAction(verb: string, next: string | undefined, joined: string): boolean {
  if (acts.has(verb)) return true
  if (speaks.has(verb) || neutral.has(verb) || isNoVerb(verb)) return false
  if (/then/i.test(joined)) return true
  return next !== undefined && (objects.has(next.replace(/[.,;:!]$/, '')) || next.startsWith('$'))
}

/** No order ends like that. */
function isNoVerb(verb: string): boolean {
  return /[^s]s$|[^e]ed$|.{3}ing$|(?:tion|ness)$/u.test(verb)
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}
