/**
 * Guards in ordinary words, where it is plain what they mean: `Stop if c`, `Only continue if c`, `Make sure that c`, `$x must be below 10`.
 *
 * Invariants:
 * 1. What is read here binds: it is a branch that ends something, or a step that fails unless its condition holds.
 * 2. A guard that is not plain is read by nobody here, and refused as a loose one.
 */
import type { Condition, StepBody } from '../program.ts'
import { type Bullet, firstWord, reworded } from './bullet.ts'
import { isComputable, readCondition } from './condition.ts'
import { endingForm } from './ending-form.ts'
import { holds } from './glance.ts'
import { negateCondition } from './negate-condition.ts'
import { opens } from './opening-word.ts'
import { singleSpaced } from './single-spaced.ts'
import type { StepContext } from './step-context.ts'
import { withoutQuoted } from './without-quoted.ts'
import { wordsOf } from './words.ts'

/** Words without which nothing that ends has a condition. */
const mayHaveCondition = /\b(?:if|when|whenever|unless|case|as|provided|must|has|have|needs)\b/i
const polite = /^(?:(?:please|then|first|always|now)\s*,?\s+)+/i
const join = /\s*,?\s+(if|when|whenever|unless|in\s+case)\s+/i
const endsAll =
  /^(?:stop|abort|end|exit|quit|terminate|halt|finish)(?:\s+(?:here|now|it|this|there|everything|all|immediately|right|away|at|once|processing|working|executing|the|program|conversation|session|run|execution|procedure|process|workflow|script|steps?))*$/i
const endsOne =
  /^(?:(?:stop|abort|end|exit|quit|terminate|leave|finish)\s+(?:the|this)\s+playbook|return(?:\s+(?:here|early|now|immediately))?|skip\s+(?:the\s+rest|the\s+remaining\s+steps|everything\s+else|all\s+(?:the\s+)?(?:other|remaining)\s+steps)(?:\s+of\s+(?:the|this)\s+(?:playbook|procedure|steps))?)$/i
const onward = String.raw`(?:continue|proceed|go\s+(?:on|ahead|further)|carry\s+on|move\s+on)`
const notOnward = new RegExp(
  String.raw`^(?:do\s+not|don't|never)\s+${onward}(?:\s+any\s+further|\s+further)?$`,
  'i',
)
const onwardForm = new RegExp(
  String.raw`^(only\s+)?(${onward})(\s+(?:with|to)\s+[^,]+?)?\s+(only\s+)?(if|when|unless|as\s+long\s+as|provided(?:\s+that)?)\s+(.+)$`,
  'is',
)
const checkForm =
  /^(?:(?:double-)?check|verify|confirm|make\s+(?:(?:absolutely\s+)?sure|certain)|be\s+sure|ensure|require|assert|validate|see(?:\s+to\s+it)?(?=\s+that))(?:\s+that|:)?\s+(.+)$/is
const mustForm =
  /^(?:the\s+)?(\$?[\p{L}_][\p{L}\p{N}_.]*)\s+(?:must|has\s+to|have\s+to|needs\s+to)\s+(not\s+|never\s+|always\s+)?(be|exceed|equal|contain|include|start\s+with|end\s+with)\s+(.+)$/isu
const thirdPerson: Readonly<Record<string, string>> = {
  be: 'is',
  exceed: 'exceeds',
  equal: 'equals',
  contain: 'contains',
  include: 'includes',
  'start with': 'starts with',
  'end with': 'ends with',
}
/** Something else to do, behind a condition: as a part of it, it would never be done. */
const moreToDo =
  /(?:[,;]|\band|\bthen|\bor)\s+(?:then\s+)?(?:please\s+)?(?:say|tell|inform|notify|ask|call|send|escalate|return|apologi[sz]e|explain|let|go|stop|end|exit|wait|write|log|continue|proceed|run|transfer|hand|thank|greet|skip|cancel|do)\b|\b(?:otherwise|else)\b/i
const variable = /^(?:the\s+)?\$?([\p{L}_][\p{L}\p{N}_.]*)$/u

const longestGuard = 1000

/** Reads a guard whose meaning is plain; null where it is none. */
export function guardForm(bullet: Bullet, context: StepContext): StepBody | null {
  if (!mayOpen(bullet)) return null
  if (context.callables.findWords(wordsOf(bullet.text), context.agent).kind !== 'none') return null
  // No guard that is plain is that long.
  if (bullet.text.length > longestGuard) return null
  const said = singleSpaced(bullet.text)
  const text = said.slice(polite.exec(said)?.[0].length ?? 0).replace(/[.!;:]+$/, '')
  return (
    onwardGuard(text, bullet, context) ??
    endingGuard(text, bullet, context) ??
    checkGuard(text, bullet, context) ??
    mustGuard(text, bullet, context)
  )
}

/** A glance: most bullets are no guard. */
function mayOpen({ opens: opened, holds: held, text }: Bullet): boolean {
  if ((opened & opens.endingGuard) !== 0) return mayHaveCondition.test(text)
  if ((opened & opens.guard) !== 0) return true
  return (held & holds.must) !== 0 && /\s(?:must|has\s+to|have\s+to|needs\s+to)\s/i.test(text)
}

/** `Only continue if c`. In a loop a mere `Continue if c` could be meant for the loop. */
function onwardGuard(text: string, bullet: Bullet, context: StepContext): StepBody | null {
  const found = onwardForm.exec(text)
  if (found === null) return null
  const [, first, verb = '', where, second, word = '', words = ''] = found
  const only = first !== undefined || second !== undefined
  if (!only && (where !== undefined || (context.inLoop === true && /^continue$/i.test(verb)))) return null
  const condition = conditionIn(words, word, bullet, context)
  return condition === null ? null : { kind: 'require', condition }
}

/** `Stop here if c`, `Return early unless c`, `Do not go on if c`. */
function endingGuard(text: string, bullet: Bullet, context: StepContext): StepBody | null {
  const split = join.exec(withoutQuoted(text))
  if (split === null) return null
  const head = text.slice(0, split.index)
  const word = split[1]!
  const words = text.slice(split.index + split[0].length)
  if (notOnward.test(head)) {
    const unless = /^unless$/i.test(word)
    const condition = conditionIn(words, unless ? 'if' : word, bullet, context)
    if (condition === null) return null
    return { kind: 'require', condition: unless ? condition : negateCondition(condition) }
  }
  const body = bodyOf(head, bullet, context)
  const condition = body === null ? null : conditionIn(words, word, bullet, context)
  if (body === null || condition === null) return null
  const { id, line } = bullet
  const steps = [{ id: `${id}.1`, text: head, line, ...body }]
  return { kind: 'if', arms: [{ id, text: bullet.text, line, condition, steps }] }
}

/** What the words before a condition end; null where they end nothing, or something else. */
function bodyOf(head: string, bullet: Bullet, context: StepContext): StepBody | null {
  if (endsAll.test(head)) return { kind: 'end' }
  // In a loop the rest may be the rest of this turn, or of everything.
  if (endsOne.test(head))
    return context.inLoop === true && /^skip/i.test(head) ? null : { kind: 'return', value: null }
  const word = firstWord(head)
  if (!/^(?:break|leave|exit|stop|skip|return)$/.test(word)) return null
  return endingForm({ ...reworded(bullet, head), children: [] }, context)
}

/** `Make sure that c`: only what can be worked out; what would have to be looked into is no condition yet. */
function checkGuard(text: string, bullet: Bullet, context: StepContext): StepBody | null {
  const found = checkForm.exec(text)
  if (found === null) return null
  const words = found[1]!.replace(/\s*,?\s+before\s.*$|\s*,?\s+first$/is, '')
  const bare = variable.exec(words)?.[1]
  const member = bare?.includes('.') === true && /\bthat\b/i.test(text)
  if (bare !== undefined && !member && context.scope.parameters.get(bare)?.type !== 'bool') return null
  return required(words, false, bullet, context)
}

/** `$amount must be below 1000`. */
function mustGuard(text: string, bullet: Bullet, context: StepContext): StepBody | null {
  const found = mustForm.exec(text)
  if (found === null) return null
  const [, subject = '', negation = '', verb = '', rest = ''] = found
  const says = thirdPerson[verb.toLowerCase().replace(/\s+/g, ' ')]!
  return required(`${subject} ${says} ${rest}`, /not|never/i.test(negation), bullet, context)
}

function required(words: string, negative: boolean, bullet: Bullet, context: StepContext): StepBody | null {
  if (moreToDo.test(withoutQuoted(words)) || !isComputable(words, context)) return null
  const condition = readCondition(words, Math.max(0, bullet.text.indexOf(words)), bullet, context)
  return { kind: 'require', condition: negative ? negateCondition(condition) : condition }
}

/** A condition behind such a word. `When c` over words would have to be watched all the time, so only values will do. */
function conditionIn(words: string, word: string, bullet: Bullet, context: StepContext): Condition | null {
  if (moreToDo.test(withoutQuoted(words))) return null
  if (/^when/i.test(word) && !isComputable(words, context)) return null
  const condition = readCondition(words, Math.max(0, bullet.text.lastIndexOf(words)), bullet, context)
  return /^unless$/i.test(word) ? negateCondition(condition) : condition
}
