import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Call, Computation, Condition, Note, NoteRule } from '../program.ts'
import { type Bullet, lineOf, longestForm } from './bullet.ts'
import { readCondition } from './condition.ts'
import { quote } from './findings.ts'
import { type StepContext, reportAt } from './step-context.ts'
import { targetNamed } from './triggers.ts'
import { wordsOf } from './words.ts'

const calling = String.raw`(?:(?:you\s+|a\s+)?call(?:ing|s)?(?:\s+(?:of|to))?|(?:you\s+)?(?:run|us|execut)(?:ning|ing|e)?)`
const must = String.raw`(?:always|must|make\s+sure\s+(?:to|you)|be\s+sure\s+to|you\s+must(?:\s+always)?|first)`
const alwaysForm = new RegExp(String.raw`^${must}\s+(.+?)\s+before\s+(${calling}\s+)?(.+?)[.!]?$`, 'is')
const firstForm = new RegExp(String.raw`^before\s+${calling}\s+(.+?)\s*,\s*(?:${must}\s+)?(.+?)[.!]?$`, 'is')
const beforeForm =
  /^(?:never|do\s+not|don't)\s+(?:call|run|use|execute)\s+(.+?)\s+(?:before|without(?:\s+first)?)\s+(?:calling|running|using|executing)\s+(.+?)[.!]?$/is
const unlessForm =
  /^(?:never|do\s+not|don't|only)\s+(?:call|run|use|execute)\s+(.+?)\s+(unless|until|if|when|while|after)\s+(.+?)[.!]?$/is
const neverForm =
  /^(?:never|do\s+not|don't)\s+(?:call|run|use|execute)\s+((?:the\s+)?\S+?(?:\s+(?:tool|playbook|function))?|[^\s,]+(?:(?:\s+(?:and|or)\s+|\s*,\s*)[^\s,]+)+)$/i
const ruleWord = /\b(?:always|never|must|only|before|unless|without|do\s+not|don't|first)\b/i
const checkVerb =
  /^(?:confirm|check|ensure|verify|make\s+sure|validate|see)\s+(?:that\s+|whether\s+|if\s+)?(.+)$/is
const callVerb = /^(?:call|run|use|execute)\s+(.+)$/is

/**
 * Reads a note: a rule for the gate where it says what must come before a call, else guidance. One that asks for several calls, or speaks
 * of several, is several rules.
 */
export function readNotes(place: MarkdownText, context: StepContext): Note[] {
  const bullet = lineOf(place, context.playbook)
  const { text, line } = bullet
  const found = context.findings.diagnostics.length
  const rules = text.length > longestForm ? [] : rulesOf(bullet, context)
  if (rules.length > 0) return rules.map((rule) => ({ text: place.text, line, rule }))
  if (context.findings.diagnostics.length === found) warnRuleLike(bullet, context)
  return [{ text: place.text, line, rule: null }]
}

/** The words that open a rule. */
const openers: ReadonlySet<string> = new Set(
  'always must make be you first before never do don only'.split(' '),
)

function rulesOf(bullet: Bullet, context: StepContext): NoteRule[] {
  const { text } = bullet
  if (!openers.has(bullet.word)) return []
  const always = alwaysForm.exec(text)
  if (always !== null) {
    const [, words = '', verb, names = ''] = always
    // Without a word for calling it is a rule only where it names one.
    if (verb !== undefined || targetsNamed(names, bullet, context) !== null)
      return rulesFor(names, () => requirements(words, bullet, context), bullet, context)
  }
  const first = firstForm.exec(text)
  if (first !== null)
    return rulesFor(first[1]!, () => requirements(first[2]!, bullet, context), bullet, context)
  const never = beforeForm.exec(text)
  if (never !== null) {
    const others = targetsNamed(never[2]!, bullet, context)
    if (others !== null) return rulesFor(never[1]!, () => others.map(succeeded), bullet, context)
    unenforced(never[2]!, bullet, context)
    return []
  }
  const unless = unlessForm.exec(text)
  if (unless !== null) {
    const [, name = '', word = '', words = ''] = unless
    const only = /^only/i.test(text)
    const holds = only || /unless|until/i.test(word)
    const after = /^(?:after|until)$/i.test(word)
    const plain = words.replace(
      /\s+(?:(?:has|have)\s+)?(?:succeeded|succeeds|(?:was|were|been)\s+called)$/i,
      '',
    )
    const called = after ? targetsNamed(plain, bullet, context) : null
    if (called !== null) return rulesFor(name, () => called.map(succeeded), bullet, context)
    const required = (): NoteRule['require'][] => {
      const condition = readCondition(words, bullet.text.lastIndexOf(words), bullet, context)
      return [{ kind: 'holds', condition: holds ? condition : negated(condition) }]
    }
    return rulesFor(name, required, bullet, context)
  }
  const forbidden = neverForm.exec(text.replace(/[.!]$/, ''))
  if (forbidden === null) return []
  const condition: Condition = { kind: 'computed', value: { form: 'expression', source: 'false', calls: [] } }
  return rulesFor(forbidden[1]!, () => [{ kind: 'holds', condition }], bullet, context)
}

/** A rule for every call that is named, and everything that is required of it. */
function rulesFor(
  names: string,
  requiredOf: () => readonly NoteRule['require'][],
  bullet: Bullet,
  context: StepContext,
): NoteRule[] {
  const targets = targetsNamed(names, bullet, context)
  if (targets !== null) {
    const required = requiredOf()
    return targets.flatMap((before) => required.map((require) => ({ before, require })))
  }
  unenforced(names, bullet, context)
  return []
}

/** What is called by a name, or by each of several (`a, b and c`); null where one of them is nothing. */
function targetsNamed(words: string, bullet: Bullet, context: StepContext): Call['target'][] | null {
  const one = targetNamed(words, bullet, context)
  if (one !== null) return [one]
  const names = words.split(listed)
  if (names.length < 2) return null
  const targets = names.map((name) => targetNamed(name.replace(callVerb, '$1'), bullet, context))
  return targets.every((target) => target !== null) ? targets : null
}

const listed = /\s*,\s*(?:(?:and|or|then)\s+)?|\s+(?:and|or)\s+(?:then\s+)?/i

function succeeded(call: Call['target']): NoteRule['require'] {
  return { kind: 'succeeded', call }
}

/** Advice that names a call and speaks like a rule: who wrote it may rely on it. */
function warnRuleLike(bullet: Bullet, context: StepContext): void {
  if (!ruleWord.test(bullet.text)) return
  const name = (bullet.text.match(/[\p{L}_][\p{L}\p{N}_.]*[\p{L}\p{N}_]/gu) ?? []).find((word) => {
    const found = context.callables.findWords(wordsOf(word), context.agent)
    return found.kind === 'one' && found.callable.name === word
  })
  if (name === undefined) return
  reportAt(bullet, 0, bullet.text.length, context).warn(
    'unenforced_note',
    `${quote(bullet.text)} reads like a rule about \`${name}\`, but is advice only`,
    `write such as \`Always call … before calling ${name}\`, \`Only call ${name} if …\` or \`Never call ${name}\``,
  )
}

/** A rule that silently does nothing would be worse than none. */
function unenforced(name: string, bullet: Bullet, context: StepContext): void {
  const found = context.callables.find(name.trim(), context.agent)
  const near = found.kind === 'none' ? found.nearest : null
  reportAt(bullet, 0, bullet.text.length, context).warn(
    'unenforced_note',
    `${quote(bullet.text)} reads like a rule, but there is nothing called \`${name.trim().slice(0, 60)}\`; it is advice only`,
    near === null ? 'name the call as it is called' : `did you mean \`${near}\`?`,
  )
}

/** What an `Always …` asks for: that other calls succeeded, or that a condition holds, or both. */
function requirements(words: string, bullet: Bullet, context: StepContext): NoteRule['require'][] {
  const whole = callNamed(words, bullet, context)
  if (whole !== null) return [succeeded(whole)]
  const parts = words.split(/\s*,\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?/i)
  const calls = parts.map((part) => callNamed(part, bullet, context))
  const known = calls.filter((call) => call !== null).map(succeeded)
  // What is no call stays together: `that it is paid and delivered` is one thing to judge.
  const rest =
    parts.length === 1 || known.length === 0
      ? words
      : parts.filter((_, at) => calls[at] === null).join(' and ')
  if (rest === '') return known
  if (known.length === 0 && targetsNamed(words.replace(callVerb, '$1'), bullet, context) !== null)
    return either(words, bullet, context)
  const condition = checkVerb.exec(rest)?.[1] ?? rest
  const from = Math.max(0, bullet.text.indexOf(condition))
  return [...known, { kind: 'holds', condition: readCondition(condition, from, bullet, context) }]
}

/** `Always call a or b before …`: no rule says that, and what a model says of it is no evidence. */
function either(words: string, bullet: Bullet, context: StepContext): NoteRule['require'][] {
  reportAt(bullet, 0, bullet.text.length, context).error(
    'not_available',
    `${quote(words)} asks for one of several calls, which is not available`,
    'put the calls into a playbook, and ask for that one',
  )
  return []
}

/** The call that a part of a requirement is, in words or by name. */
function callNamed(words: string, bullet: Bullet, context: StepContext): Call['target'] | null {
  const called = callVerb.exec(words)
  const target = called === null ? null : targetNamed(called[1]!, bullet, context)
  if (target !== null) return target
  const inWords = context.callables.findWords(wordsOf(words), context.agent)
  return inWords.kind === 'one' ? inWords.callable.target : null
}

function negated(condition: Condition): Condition {
  if (condition.kind === 'computed') return { kind: 'computed', value: not(condition.value) }
  const { text, known } = condition
  const judged = { ...condition, text: `it is not so that ${text}` }
  if (known === undefined) return judged
  const operator = known.operator === 'and' ? 'or' : 'and'
  return { ...judged, known: { operator, value: not(known.value) } }
}

function not(value: Computation): Computation {
  return { ...value, source: `not (${value.source})` }
}
