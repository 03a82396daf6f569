/**
 * Bullets that read like a guard and would bind nothing: left to a model they would become a sentence, and the next bullet would run.
 *
 * Invariant: what reads like a guard binds or is refused; it never becomes prose.
 */
import type { Program } from '../program.ts'
import { type Bullet, firstWord } from './bullet.ts'
import { changesSomething } from './changes-something.ts'
import type { ProgramTool } from './callables.ts'
import { isComputable } from './condition.ts'
import { partner } from './confirm-form.ts'
import { type Findings, quote } from './findings.ts'
import { holds } from './glance.ts'
import { withoutQuoted } from './without-quoted.ts'
import { negatedCall } from './negation.ts'
import { singleSpaced } from './single-spaced.ts'
import { reachOfSteps } from './reach-of-steps.ts'
import type { LooseGuard, StepContext } from './step-context.ts'

const onlyIf = 'write `If …` with `End program` below it, or `Only continue if …` with a comparison of values'
const plainForms =
  'write it as `If …`, `Ask the user to confirm …`, `Say …` or `$x = …`, each a bullet of its own, or move it behind the call'
const approvals =
  'have a policy ask for approval of the call, which a person gives outside the conversation; the user is asked with `Ask the user to confirm`'

const role = String.raw`(?:manager|supervisor|boss|team\s*lead(?:er)?|director|admin(?:istrator)?|colleague|superior|approver|reviewer|owner|head\s+of|finance|legal|compliance|security|operator|someone|somebody|another\s+\p{L}+|second\s+\p{L}+)`
const approval =
  /\b(?:approv(?:al|e|es|ed)|permission|sign(?:s|ed)?[\s-]?off|authori[sz](?:ation|e|es|ed)|consent|clearance|go[\s-]?ahead|green\s+light|confirmation|confirms?|ok(?:ay)?\s+to|(?<='s\s)ok(?:ay)?)\b(?!\s+(?:number|code|status|id|email|page|date|form|message|mail|letter|text))/i
const seekers: ReadonlySet<string> = new Set(
  'ask get request obtain have let seek secure receive await need require wait gain'.split(' '),
)
const asksRole = new RegExp(
  String.raw`^(?:ask|prompt|consult)\s+(?:(?:the|an?|your|our|my|their)\s+)?${role}\b(?!'s\s)`,
  'iu',
)
const checksWithRole = new RegExp(
  String.raw`^(?:confirm|check|verify|clear|agree|double-check)\b.*\bwith\s+(?:(?:the|an?|your|our|my|their)\s+)?${role}\b`,
  'iu',
)
const asksPartner = new RegExp(
  String.raw`^(?:ask|prompt|request(?:\s+from)?|get|let|have)\s+(?:for\s+)?${partner}\b`,
  'i',
)

const endsIf =
  /^(?:(?:stop|abort|end|exit|quit|terminate|halt|finish|cancel|skip|leave|break)\b.*\s(?:if|unless|when|until|once|in\s+case)|(?:hold|pause|stand\s+by)\b.*\s(?:until|till|for))\s/i
const onward =
  /^(?:only\s+)?(?:continue|proceed|go\s+(?:on|ahead|further)|carry\s+on|move\s+on)\b.*\b(?:if|unless|when|once|until|after|provided|as\s+long\s+as)\b/i
const notOnward =
  /\b(?:do\s+not|don't|never|must\s+not|mustn't|may\s+not|cannot|can't)\s+(?:\p{L}+\s+)?(?:continue|proceed|go\s+(?:on|ahead|further)|carry\s+on|move\s+on)\b/iu
const onlyWhen = /^unless\s|^only\s.*\s(?:if|when|after|once)\s|\sonly\s+(?:if|when|after|once)\s|\sunless\s/i
const sure =
  /^(?:always\s+|please\s+|first,?\s+)?(?:make\s+(?:absolutely\s+)?sure|ensure|assert|require|see\s+to\s+it|be\s+sure|(?:check|verify|confirm|validate)\s+that)\s+(?!to\b|you\b|your\b)(.+)$/is
const checks = /^(?:check|verify|confirm|validate)\s+(?:whether\s+|if\s+)?(.+)$/is
const clause =
  /\$[\p{L}_]|[<>]|[=!]=|\b(?:is|are|was|were|isn't|aren't|has|have|had|does|do|doesn't|can|cannot|exists?|belongs?|matche?s?|equals?|contains?|holds|agree[sd]?|confirm(?:s|ed)|approve[sd]|paid|allowed|verified|eligible|valid)\b/iu
const compares =
  /\$[\p{L}_][\p{L}\p{N}_.]*\s*(?:[<>]=?|[=!]=)|\$[\p{L}_][\p{L}\p{N}_.]*\s+(?:is|are|was|equals|contains|exceeds)\s/iu
const must =
  /\bmust\b|\bmustn't\b|\b(?:has|have|needs?)\s+to\s+be\b|\bnot\s+(?:allowed|permitted)\b|\b(?:forbidden|prohibited|mandatory)\b|\b(?:is|are)\s+required\b|\brequired[.!]?$|\bshould\b.*\b(?:first|before)\b|^\$[\p{L}_][\p{L}\p{N}_.]*\s+(?:should|shall|ought|may\s+not|cannot|can't|can\s+not)\b/iu
/** What people must bring, and how they are spoken to, guards nothing. */
const courtesy =
  /\b(?:must|have\s+to|has\s+to|needs?\s+to)\s+(?:always\s+)?(?:be\s+(?:greeted|thanked|addressed|welcomed|informed|told|reminded|treated)|bring|carry|wear)\b/i
/** Signs between a variable and a value: nobody means a sentence by them. */
const sign = /\$[\p{L}_][\p{L}\p{N}_.]*\s*(?:[<>]=?|[=!]=)|(?:[<>]=?|[=!]=)\s*\$[\p{L}_]/u
const wanted =
  /\b(?:approval|permission|sign-?off|authori[sz]ation|consent|clearance|confirmation)\s+(?:is\s+)?(?:required|needed|necessary)\b|^needs?\s.*\b(?:approval|permission|sign-?off|authori[sz]ation)\b|\bfor\s+(?:\p{L}+\s+)?(?:approval|permission|sign-?off|authori[sz]ation)\b/iu
const trailing = /\s(?:if|unless|when|provided\s+that|as\s+long\s+as)\s+(.+?)[.!]?$/is

/** The words that open a guard, and those without which nothing else in a sentence makes it one. */
const openers: ReadonlySet<string> = new Set(
  `stop abort end exit quit terminate halt finish cancel skip leave break only continue proceed go carry move always please first make
  ensure assert require see be check verify confirm validate`.split(/\s+/),
)
const mayBind =
  /\b(?:not|no|never|cannot|avoid|refrain|without|forbidden|must|only|if|unless|when|provided|as\s+long|required|has|have|needs|should|shall|ought|allowed|permitted|prohibited|mandatory|needed|necessary|until|till|for)\b|n't|[<>]|[=!]=/i
/** A second branch on one line is an error of its own. */
const branches: ReadonlySet<string> = new Set(['if', 'when', 'else', 'otherwise', 'while', 'until'])
const askers: ReadonlySet<string> = new Set(
  'ask prompt consult confirm check verify clear agree double'.split(' '),
)

/** Notes a bullet that is left to a model, or said to the person, although it reads like a guard; says whether it did. */
export function noteLooseGuard(bullet: Bullet, how: 'act' | 'ask', context: StepContext): boolean {
  const found = looseGuard(bullet, how, context)
  if (found === null) return false
  context.guards.push({ bullet, ...found, harms: 'anywhere' })
  return true
}

/** Notes what is left to a model: nothing may be before a call that cannot be undone. */
export function noteProse(bullet: Bullet, what: 'prose' | 'speech', context: StepContext): void {
  const why =
    what === 'prose'
      ? 'is left to a model, whatever it means'
      : 'is said to the person, and what else it asks for is not done'
  context.guards.push({ bullet, why, instead: plainForms, harms: 'before a final call' })
}

/** Notes a question for a yes or a no whose answer is not kept. */
export function noteQuestion(bullet: Bullet, context: StepContext): void {
  context.guards.push({
    bullet,
    why: 'asks for a yes or a no that nothing looks at',
    instead:
      'write `$ok:bool = Ask …`, then `If not $ok` with `End program` below it, or `Ask the user to confirm …`',
    harms: 'unheard before a final call',
  })
}

function looseGuard(
  bullet: Bullet,
  how: 'act' | 'ask',
  context: StepContext,
): Pick<LooseGuard, 'why' | 'instead'> | null {
  const text = singleSpaced(withoutQuoted(bullet.text))
  if (asksSomebodyElse(text, bullet)) {
    const [call] = context.callables.resembling(text, context.agent)
    return {
      why:
        how === 'ask' ? 'would ask the person in the conversation, whatever they answer' : 'would ask nobody',
      instead: call === undefined ? approvals : `if a call is meant, write \`${call}(…)\``,
    }
  }
  // Most sentences are none.
  if (how === 'ask' || (!openers.has(bullet.word) && !mayBindIn(text, bullet))) return null
  const call = negatedCall(text, context)
  if (call !== null)
    return {
      why: `forbids \`${call}\` in a step, where nothing keeps it`,
      instead: `write \`Never call ${call}\` below \`### Notes\``,
    }
  if (endsIf.test(text) || onward.test(text) || notOnward.test(text) || onlyWhen.test(text))
    return { why: 'would stop nothing', instead: onlyIf }
  const claim = sure.exec(text)?.[1]
  if (claim !== undefined && (clause.test(claim) || /^of\b/i.test(claim)))
    return { why: 'would check nothing', instead: onlyIf }
  const checked = checks.exec(text)?.[1]
  if (checked !== undefined && compares.test(checked)) return { why: 'would check nothing', instead: onlyIf }
  if (must.test(text) && !courtesy.test(text)) return { why: 'would demand nothing', instead: onlyIf }
  const condition = conditionBehind(text, bullet)
  if (condition !== null && /\$|[<>]|==/.test(condition) && isComputable(condition, context))
    return {
      why: 'has a condition over known values, which a model would judge',
      instead: 'write `If …` first, and what is to be done below it',
    }
  return sign.test(text) && !branches.has(bullet.word)
    ? { why: 'compares values, which a model would judge', instead: onlyIf }
    : null
}

function mayBindIn(text: string, { holds: held }: Bullet): boolean {
  return (held & holds.guard) !== 0 && mayBind.test(text)
}

/** The condition that ends a sentence, with what stands in quotes in it; none that is very long is meant as one. */
function conditionBehind(text: string, bullet: Bullet): string | null {
  const found = trailing.exec(text)
  const words = found?.[1]
  if (found === null || words === undefined || words.length > 300) return null
  const from = found.index + found[0].lastIndexOf(words)
  return text.length === bullet.text.length ? bullet.text.slice(from, from + words.length) : words
}

function asksSomebodyElse(text: string, { word }: Bullet): boolean {
  if (askers.has(word) && (asksRole.test(text) || checksWithRole.test(text))) return true
  if (/approval|permission|sign-?off|authori|consent|clearance|confirmation/i.test(text) && wanted.test(text))
    return true
  return seekers.has(word) && approval.test(text) && !asksPartner.test(text)
}

/** Whether words ask for somebody's approval, whoever that is. */
export function seeksApproval(text: string): boolean {
  return seekers.has(firstWord(text)) && approval.test(text)
}

/**
 * Reports the guards that bind nothing: errors where the program calls something that could change anything, else warnings. What is left
 * to interpretation is one only before a call that cannot be undone.
 */
export function reportLooseGuards(
  guards: readonly LooseGuard[],
  program: Pick<Program, 'agents'>,
  tools: ReadonlyMap<string, ProgramTool>,
  findings: Findings,
): void {
  if (guards.length === 0) return
  const severity = changesSomething(program, tools) ? 'error' : 'warn'
  const reaches = severity === 'error' ? reachOfSteps(program, tools) : null
  const said = new Set(guards.flatMap(({ bullet, harms }) => (harms === 'anywhere' ? [bullet.id] : [])))
  for (const { bullet, why, instead, harms } of guards) {
    const place = { text: bullet.place, start: bullet.at, end: bullet.at + bullet.text.length }
    if (harms === 'anywhere') {
      findings[severity](
        'loose_guard',
        place,
        `${quote(bullet.text)} reads like a guard, and ${why}`,
        instead,
      )
      continue
    }
    const reach = reaches?.get(bullet.id)
    if (reach === undefined || reach.call === null || said.has(bullet.id)) continue
    if (harms === 'unheard before a final call' && reach.heard) continue
    said.add(bullet.id)
    const message = `${quote(bullet.text)} ${why}, and \`${reach.call}\` behind it cannot be undone`
    findings.error('loose_guard', place, message, instead)
  }
}
