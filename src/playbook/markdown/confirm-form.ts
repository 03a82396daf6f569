/** `Wait for the user to confirm`, `Confirm with the customer that …`: a question to the person, and the end of the program where they say no. */
import type { Step, Words } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { opens } from './opening-word.ts'
import { isKnown } from './scope.ts'
import { addressesAgent, literalWords, mostAnswers } from './speech-form.ts'
import { singleSpaced } from './single-spaced.ts'
import { speaksOfAnswer } from './speaks-of-answer.ts'
import { type StepContext, readsOf } from './step-context.ts'
import { withoutQuoted } from './without-quoted.ts'

/** Who takes part in the conversation; anybody else is not there to be asked. */
export const partner = String.raw`(?:the\s+|our\s+|your\s+|an?\s+)?(?:user|customer|caller|client|person|visitor|guest|patient|them|him|her)`
const noun = String.raw`(?:(?:an?|the|their|his|her|any|explicit|clear|final|written|verbal)\s+)*(?:confirmation|approval|permission|consent|agreement|sign[\s-]?off|go[\s-]?ahead|ok(?:ay)?|acceptance|authori[sz]ation)(?!\s+(?:number|code|status|id|email|page|date))`
const verb = String.raw`(?:explicitly\s+)?(?:re-?)?(?:confirm|approve|agree|consent|accept|authori[sz]e|say\s+(?:yes|ok(?:ay)?)|sign\s+off)(?:s|ed|d)?\b(?!\s+(?:on|upon)\s+an?\b)`
const waits = new RegExp(
  String.raw`^wait\s+(?:for|until|till)\s+(?:${partner}(?:'s|')?\s+(?:(?:to|has|have|gives?)\s+)*(?:${verb}|${noun})|${noun}\s+(?:from|by|of)\s+${partner})\b(.*)$`,
  'is',
)
const asks = new RegExp(
  String.raw`^(?:ask|get|request|obtain|seek|have|let|require|need)\s+(?:${partner}(?:'s|')?\s+(?:(?:to|for)\s+)?(?:${verb}|(?:give\s+)?${noun})|(?:for\s+)?${noun}\s+(?:from|by|of)\s+${partner})\b(.*)$`,
  'is',
)
const confirms = new RegExp(String.raw`^(?:double-?)?confirm\s+with\s+${partner}\b(.*)$`, 'is')
const confirmsLast = new RegExp(String.raw`^(?:double-?)?confirm\s+(.+?)\s+with\s+${partner}[.!]?$`, 'is')

const asksToGoOn = new RegExp(
  String.raw`^ask\s+(?:${partner}\s+)?(?:if|whether)\s+(?:to|(?:it\s+is|it's)\s+(?:ok(?:ay)?|fine|all\s+right)\s+to|(?:you|we|i)\s+(?:should|may|can|could)|they\s+(?:want|would\s+like)\s+(?:(?:you|us)\s+)?to)\s+((?:continue|proceed|go\s+(?:on|ahead)).*)$`,
  'is',
)
/** A question whose yes is a permission. */
const permission = new RegExp(
  String.raw`^ask(?:\s+${partner})?\s*[:,]?\s*"((?:may|shall|should|can|could)\s+(?:i|we)\b(?!\s+(?:have|know|ask|get|help|see|speak|talk|call\s+you)\b)[^"]*\?|(?:do\s+you|would\s+you)\s+(?:agree|confirm|approve|accept|consent|(?:want|like)(?:\s+(?:me|us))?\s+to)\b[^"]*\?|(?:please\s+)?confirm\b[^"]*|(?:continue|proceed|go\s+(?:on|ahead)|refund|cancel|delete|send|pay|book|order|close|ship|charge|transfer)\b[^"]*\?|are\s+you\s+sure\b[^"]*\?|is\s+(?:that|this|it)\s+(?:ok(?:ay)?|fine|all\s+right|correct|right)\b[^"]*\?)"[.!]?$`,
  'iu',
)

/** Words and signs without which nobody is asked to confirm anything. */
const mayConfirm = /confirm|approv|agree|consent|accept|authori|permission|say|sign|ok|go|continue|proceed|"/i
/** Bullets that deal with what was answered. */
const deals = /^(?:if|when|else|otherwise|while|until|unless|repeat|extract|store|save|set|\$)/i

/** Whoever has more to say says it in a step before. */
const longestQuestion = 1000

/** Whether words look at what a person answered. */
export function looksAtAnswer(text: string): boolean {
  if (!deals.test(text)) return false
  // What is done in the branch says nothing about what it asks.
  const comma = /^(?:if|when|while|until|unless)\b/i.test(text) ? withoutQuoted(text).indexOf(',') : -1
  return speaksOfAnswer(comma === -1 ? text : text.slice(0, comma))
}

/**
 * Reads a bullet that has the person confirm something: a question for yes or no, and a branch that ends the program at a no. Where the next
 * bullet, or the loop around it, deals with the answer, it is a question only. Null where it is no such form.
 */
export function confirmForm(bullet: Bullet, context: StepContext): Step[] | null {
  if ((bullet.opens & opens.confirmation) === 0) return null
  if (bullet.text.length > longestQuestion || !mayConfirm.test(bullet.text)) return null
  const text = singleSpaced(bullet.text)
  // Where the answer is kept, the playbook says itself what follows from it.
  if (/\b(?:store|save|keep|put)\b.*\s(?:in|as|into)\s/i.test(text)) return null
  const waiting = waits.exec(text)
  const asking = waiting === null ? asks.exec(text) : null
  const literal = bullet.word === 'ask' ? permission.exec(text) : null
  const found =
    waiting ?? asking ?? confirms.exec(text) ?? confirmsLast.exec(text) ?? asksToGoOn.exec(text) ?? literal
  if (found === null || (literal !== null && addressesAgent(text, context))) return null
  const dealtWith =
    context.answered === true || (bullet.next !== undefined && looksAtAnswer(bullet.next.text.text))
  if (dealtWith && (waiting !== null || bullet.word === 'ask' || bullet.word === 'request')) return null
  const { id, line } = bullet
  const about = found.slice(1).find((part) => part !== undefined) ?? ''
  const words =
    literal === null
      ? question(
          asking === null && /^(?:continue|proceed|go\s)/i.test(about) ? `to ${about}` : about,
          bullet,
          context,
        )
      : literalWords(about, text.indexOf(about), true, bullet, context)
  const ask = { id, text, line, kind: 'ask', words, until: null, maxTurns: mostAnswers } as const
  if (dealtWith) return [{ ...ask, targets: [] }]
  const name = freeName(context)
  const inner = `${id}.1`
  const reason = `it was not agreed to: ${text.replace(/[.!]+$/, '')}`
  const steps: Step[] = [{ id: `${inner}.1`, text, line, kind: 'end', reason }]
  const value = { form: 'expression', source: `not ${name}`, calls: [] } as const
  const arms = [{ id: inner, text, line, condition: { kind: 'computed', value }, steps } as const]
  return [
    { ...ask, targets: [{ name, scope: 'local', type: 'bool' }] },
    { id: inner, text, line, kind: 'if', arms },
  ]
}

/** A name that the playbook does not use. */
function freeName({ scope }: StepContext): string {
  let name = 'confirmed'
  while (isKnown(scope, name, true)) name += '_'
  return name
}

const aboutSomebody =
  /\b(?:they|their|them|he|she|his|her|him|we|i|you|your|my|our|user|customer|caller|client|person)\b/i

/** What is asked: words as written where they make a question, so that a plain yes or no needs no model. */
function question(rest: string, bullet: Bullet, context: StepContext): Words {
  const about = rest
    .replace(/[\s,;]*\b(?:before|and\s+then|then|first)\b.*$/is, '')
    .replace(/[\s.!?]+$/, '')
    .trim()
  const plain = about
    .replace(/^(?:that|whether|if)\s+/i, 'that ')
    .replace(/^(?:of|for|with|on)\s+/i, '')
    .trim()
  if (plain === '') return literalWords('Do you confirm?', 0, true, bullet, context)
  if (aboutSomebody.test(plain) || /["{}()]/.test(plain))
    return {
      kind: 'written',
      instruction: `${bullet.text} Ask one question that is answered with yes or no.`,
      reads: readsOf(bullet.text, bullet, context),
    }
  const from = Math.max(0, bullet.text.indexOf(plain))
  const words = /^to\s/i.test(plain) ? `Do you agree ${plain}?` : `Do you confirm ${plain}?`
  return literalWords(words, from, true, bullet, context)
}
