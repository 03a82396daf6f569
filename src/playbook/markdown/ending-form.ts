/** `Return …`, `End program`, `break`, `continue`, `Wait …`. */
import type { Computation, StepBody } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { checkType } from './assignment-form.ts'
import { quote } from './findings.ts'
import { opens } from './opening-word.ts'
import { type StepContext, acceptExpression, readsOf, reportAt, tryExpression } from './step-context.ts'

const endForm =
  /^(?:end|exit|stop|quit|terminate|finish)(?:\s+(?:the\s+)?(?:program|conversation|session|run|execution))?[.!]?$|^EndProgram\(\s*\)$|^exit\(\s*\)$/i
const breakForm =
  /^(?:break|exit\s+the\s+loop|leave\s+the\s+loop|stop\s+(?:the\s+loop|looping))(?:\s+(?:out\s+)?(?:of\s+)?(?:the\s+)?loop)?[.!]?$/i
const continueForm =
  /^continue(?:\s+(?:with\s+)?(?:the\s+)?(?:loop|next(?:\s+\p{L}+)?))?[.!]?$|^skip\s+to\s+the\s+next(?:\s+\p{L}+)?[.!]?$/iu
const timeForm =
  /^(?:wait|pause|sleep)(?:\s+for)?\s+(\d+(?:\.\d+)?|an?|one|two|three|five|ten)\s+(seconds?|minutes?|hours?|days?|s|min|h)[.!]?$/i
const messageForm =
  /^wait(?:\s+(?:for|until|till))?\s+(?:the\s+)?(?:user|customer|caller|client|person|them|input|(?:a\s+)?(?:response|reply|answer|message)|(?:an?\s+)?user)\b/i
const othersForm =
  /^wait(?:\s+(?:for|until|till))?\s+(?:the\s+|an?\s+)?(?:user|customer|caller|client|person)(?:['’]s?|s)?\s+(?!to\s+(?:say|answer|repl|respon|speak|talk|write|type|tell|ask|provide|give|enter|choose|pick|select|decide|finish|continue|confirm|agree|explain|describe|state|share|name|list|clarify|specify|message|text|send\s+(?:an?\s+|the\s+|another\s+|their\s+)?(?:message|reply|answer|response))|input|respon|repl|answer|message|say|said|speak|spoke|writ|wrote|ask|provid|giv|tell|told|confirm|enter|type|talk|turn|word|text|question|next|new|has\s+(?:said|answered|replied|responded|written)|and\b|for\b|before\b)/i
const returnForm = /^return\b\s*:?\s*(.*)$/is

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  second: 1,
  min: 60,
  minute: 60,
  h: 3600,
  hour: 3600,
  day: 86_400,
}
const countWords: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  five: 5,
  ten: 10,
}

/** Reads a bullet that ends something or waits; null where it is no such form. */
export function endingForm(bullet: Bullet, context: StepContext): StepBody | null {
  const { text } = bullet
  if ((bullet.opens & opens.ending) === 0) return null
  if (bullet.word === 'return') return returnIn(text, bullet, context)
  if (endForm.test(text)) return { kind: 'end' }
  if (breakForm.test(text)) return inLoop({ kind: 'break' }, bullet, context)
  if (continueForm.test(text)) return inLoop({ kind: 'continue' }, bullet, context)
  return /^(?:wait|pause|sleep)\b/i.test(text) ? waitForm(bullet, context) : null
}

function returnIn(text: string, bullet: Bullet, context: StepContext): StepBody | null {
  const back = returnForm.exec(text)
  return back === null ? null : returned(back[1]!.trim(), bullet, context)
}

/** What only a loop understands. */
function inLoop(body: StepBody, bullet: Bullet, context: StepContext): StepBody {
  if (context.inLoop !== true) {
    reportAt(bullet, 0, bullet.text.length, context).error(
      'stray_children',
      `${quote(bullet.text)} stands in no loop`,
      'indent it below the loop it belongs to; `Return` ends a playbook, `End program` everything',
    )
  }
  return body
}

function waitForm(bullet: Bullet, context: StepContext): StepBody | null {
  const { text } = bullet
  const seconds = secondsIn(text, timeForm)
  if (seconds !== null) return { kind: 'wait', for: { kind: 'time', seconds } }
  if (messageForm.test(text) && !othersForm.test(text)) return { kind: 'wait', for: { kind: 'message' } }
  // `Pause the subscription` is work; a wait that does not wait would let what follows happen too early.
  if (bullet.word !== 'wait' && !/^\p{L}+\s+(?:for|until|till|while)\b/iu.test(text)) return null
  reportAt(bullet, 0, text.length, context).error(
    'not_available',
    `${quote(text)} waits for what is neither a time nor a message of the person, which is not available`,
    'write `Wait for user` or `Wait 5 minutes`, or ask a person and look at the answer: `$approved:bool = Ask user "…?"`',
  )
  return { kind: 'wait', for: { kind: 'message' } }
}

/** The seconds that a number and a unit give, found by the first two groups of a form. */
export function secondsIn(text: string, form: RegExp): number | null {
  const found = form.exec(text)
  if (found === null) return null
  const count = countWords[found[1]!.toLowerCase()] ?? Number(found[1])
  const unit = found[2]!.toLowerCase()
  return count * (unitSeconds[unit] ?? unitSeconds[unit.replace(/s$/, '')] ?? 1)
}

function returned(words: string, bullet: Bullet, context: StepContext): StepBody {
  if (words === '' || words === '.') return { kind: 'return', value: null }
  const from = bullet.text.lastIndexOf(words)
  const plain = words.replace(/\.$/, '')
  // `15%` is no expression, and what is meant is plain.
  if (/^\d+(?:\.\d+)?%$/.test(plain)) return { kind: 'return', value: text(plain) }
  const read = tryExpression(words, context)
  checkType(read, context.returns ?? 'any', bullet, from, context)
  if (read.kind === 'value' || read.kind === 'broken')
    return { kind: 'return', value: acceptExpression(read, bullet, from, context) }
  if (isWord(plain)) return { kind: 'return', value: text(plain) }
  if (read.kind === 'words' && !/\p{L}\s+\p{L}/u.test(words))
    return { kind: 'return', value: acceptExpression(read, bullet, from, context) }
  return { kind: 'answer', instruction: bullet.text, reads: readsOf(words, bullet, context) }
}

/** `Return valid`: one word that is no variable is a text. */
export function isWord(words: string): boolean {
  return /^[\p{L}][\p{L}\p{N}_-]*$/u.test(words)
}

function text(value: string): Computation {
  return { form: 'expression', source: JSON.stringify(value), calls: [] }
}
