import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Call, Condition, Note, NoteRule } from '../program.ts'
import { type Bullet, lineOf, longestForm, reworded } from './bullet.ts'
import type { Callables } from './callables.ts'
import { readCondition } from './condition.ts'
import { quote } from './findings.ts'
import { holds } from './glance.ts'
import { isWithinEdits } from './is-within-edits.ts'
import { seeksApproval } from './loose-guard.ts'
import { negateCondition } from './negate-condition.ts'
import { opens } from './opening-word.ts'
import { plainRule } from './plain-rule.ts'
import { singleSpaced } from './single-spaced.ts'
import { type StepContext, reportAt } from './step-context.ts'
import { targetNamed } from './triggers.ts'
import { wordKey, wordsOf } from './words.ts'

const calling = String.raw`(?:(?:you\s+|a\s+)?call(?:ing|s)?(?:\s+(?:of|to))?|(?:you\s+)?(?:run|us|execut)(?:ning|ing|e)?)`
const must = String.raw`(?:always|must|make\s+sure\s+(?:to|you)|be\s+sure\s+to|you\s+must(?:\s+always)?|first)`
const alwaysForm = new RegExp(String.raw`^${must}\s+(.+?)\s+before\s+(${calling}\s+)?(.+?)[.!]?$`, 'is')
const firstForm = new RegExp(String.raw`^before\s+${calling}\s+(.+?)\s*,\s*(?:${must}\s+)?(.+?)[.!]?$`, 'is')
const beforeForm =
  /^(?:never|do\s+not|don't)\s+(?:call|run|use|execute)\s+(.+?)\s+(?:before|without(?:\s+first)?)\s+(?:calling|running|using|executing)\s+(.+?)[.!]?$/is
const unlessForm =
  /^(?:never|do\s+not|don't|only)\s+(?:call|run|use|execute)\s+(.+?)\s+(unless|until|if|when|while|after|once)\s+(.+?)[.!]?$/is
const neverForm =
  /^(?:never|do\s+not|don't)\s+(?:call|run|use|execute)\s+((?:the\s+)?\S+?(?:\s+(?:tool|playbook|function))?|[^\s,]+(?:(?:\s+(?:and|or)\s+|\s*,\s*)[^\s,]+)+)$/i
const ruleWord =
  /\b(?:always|never|must|mustn't|only|before|unless|without|do\s+not|don't|first|may\s+not|cannot|can't|should\s+not|shouldn't|not\s+allowed|forbidden|prohibited|refused?|at\s+most|at\s+least|no\s+more\s+than|more\s+than|once|twice|exceeds?|requires?|required|until|after)\b|^no\s/i
/** Words without which a note forbids and demands nothing. */
const binding = /\b(?:not|no|dont|avoid|refrain|needs?|maximum|minimum|circumstances|stop)\b|n't\b/i
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
  const read = text.length > longestForm ? [] : rulesOf(bullet, context)
  const rules =
    read.length > 0 || context.findings.diagnostics.length > found ? read : plainRules(bullet, context)
  if (rules.length > 0) return rules.map((rule) => ({ text: place.text, line, rule }))
  if (context.findings.diagnostics.length === found) warnRuleLike(bullet, context)
  return [{ text: place.text, line, rule: null }]
}

/** The rules of a note that says one in other words. */
function plainRules(bullet: Bullet, context: StepContext): NoteRule[] {
  if (bullet.text.length > longestForm || !context.callables.mayBeSpokenOf(bullet.text)) return []
  const text = plainRule(bullet.text, (name) => targetNamed(name, bullet, context)?.kind === 'tool')
  return text === bullet.text ? [] : rulesOf(reworded(bullet, text), context)
}

function rulesOf(bullet: Bullet, context: StepContext): NoteRule[] {
  const { text } = bullet
  if ((bullet.opens & opens.note) === 0) return []
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
    const demand = demandOf(/^only/i.test(text), word)
    if (demand === null) return []
    const called = calledIn(words, word, bullet, context)
    if (called !== null) {
      const { targets, made } = called
      const kind = (demand === 'holds') === made ? 'succeeded' : 'not called'
      return rulesFor(name, () => targets.map((call) => ({ kind, call })), bullet, context)
    }
    const required = (): NoteRule['require'][] => {
      const condition = readCondition(words, bullet.text.lastIndexOf(words), bullet, context)
      return [{ kind: 'holds', condition: demand === 'holds' ? condition : negateCondition(condition) }]
    }
    return rulesFor(name, required, bullet, context)
  }
  const forbidden = neverForm.exec(text.replace(/[.!]$/, ''))
  if (forbidden === null) return []
  const condition: Condition = { kind: 'computed', value: { form: 'expression', source: 'false', calls: [] } }
  return rulesFor(forbidden[1]!, () => [{ kind: 'holds', condition }], bullet, context)
}

/** Whether the words behind one of these demand what they say, or that it is not so; null where it is hard to say. */
function demandOf(only: boolean, word: string): 'holds' | 'holds not' | null {
  const until = /^until$/i.test(word)
  if (/^unless$/i.test(word)) return only ? null : 'holds'
  return only === until ? 'holds not' : 'holds'
}

const wasMade =
  /\s+(?:(?:has|have)\s+)?(?:already\s+)?(?:succeeded|succeeds|(?:was|were|been|is)\s+(?:already\s+)?(?:called|made|run|done)|ran|finished|completed)$/i
const wasNotMade =
  /\s+(?:(?:has|have|had)\s+not|hasn't|haven't|did\s+not|didn't|was\s+not|wasn't|were\s+not)\s+(?:yet\s+)?(?:been\s+)?(?:succeeded|succeed|called|made|run|done)(?:\s+yet)?$/i
const failedForm = /\s+(?:(?:has|have)\s+)?(?:failed|fails)$/i

/** The calls that words behind `after`, `if` and the like speak of, and whether they are to have been made; null where they speak of something else. */
function calledIn(
  written: string,
  word: string,
  bullet: Bullet,
  context: StepContext,
): { targets: Call['target'][]; made: boolean } | null {
  const words = singleSpaced(written)
  const unmade = wasNotMade.test(words)
  const made = !unmade && wasMade.test(words)
  const failed = failedForm.test(words)
  if (!made && !unmade && !failed && !/^(?:after|until|once)$/i.test(word)) return null
  const plain = words
    .replace(made ? wasMade : unmade ? wasNotMade : failedForm, '')
    .replace(/^(?:you\s+(?:have\s+)?)?(?:calling|called|running|using|executing|having\s+called)\s+/i, '')
  const targets = targetsNamed(plain, bullet, context)
  if (targets === null) return null
  if (failed)
    reportAt(bullet, 0, bullet.text.length, context).error(
      'not_available',
      `${quote(bullet.text)} asks whether a call failed, which is not available in a note`,
      'ask whether it has succeeded, or write a playbook with `When … fails`',
    )
  return { targets, made: !unmade && !failed }
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

function bindsIn(text: string): boolean {
  return ruleWord.test(text) || binding.test(text)
}

/** Advice that names a call and speaks like a rule: who wrote it may rely on it. */
function warnRuleLike(bullet: Bullet, context: StepContext): void {
  if (nearRule(bullet, context)) return
  if ((bullet.holds & holds.rule) === 0) return
  if (!context.callables.mayBeSpokenOf(bullet.text) || !bindsIn(bullet.text)) return
  const name = callSpokenOf(bullet.text, context)
  if (name === null) return
  const severity = context.toolTable.get(name)?.risk === 'irreversible' ? 'error' : 'warn'
  if (severity === 'warn' && !ruleWord.test(bullet.text)) return
  reportAt(bullet, 0, bullet.text.length, context)[severity](
    'unenforced_note',
    `${quote(bullet.text)} reads like a rule about \`${name}\`, but is advice only`,
    `write such as \`Always call … before calling ${name}\`, \`Only call ${name} if …\` or \`Never call ${name}\``,
  )
}

/** The call that a text names, or speaks of in one of its forms: `refunds`, `before refunding`, `verify the identity`. */
function callSpokenOf(text: string, { callables, agent }: StepContext): string | null {
  for (const word of text.match(/[\p{L}_][\p{L}\p{N}_.]*[\p{L}\p{N}_]/gu) ?? []) {
    const stem = word.toLowerCase().replace(/(?:s|ed|ing)$/, '')
    const found =
      meantBy(wordKey(word), word, callables, agent) ??
      meantBy(stem, word, callables, agent) ??
      meantBy(`${stem}e`, word, callables, agent)
    if (found !== null) return found
  }
  return callables.resembling(text, agent)[0] ?? null
}

function meantBy(key: string, word: string, callables: Callables, agent: string): string | null {
  const found = callables.findKey(key, agent)
  // A playbook may be called by any word, and then it takes its name as it is written.
  return found.kind === 'one' && (found.callable.name === word || found.callable.agent === null)
    ? found.callable.name
    : null
}

const rules: readonly string[] = ['never', 'always', 'only', 'before']

/** Reports a note whose first word is nearly one that opens a rule; says whether it did. */
function nearRule(bullet: Bullet, context: StepContext): boolean {
  const { text, word } = bullet
  if (
    word === '' ||
    (bullet.opens & opens.note) !== 0 ||
    !/^\p{L}+\s+(?:call|run|use|execute)|\bbefore\s+(?:calling|running)\b/iu.test(text)
  )
    return false
  const meant = rules.find((each) =>
    each.length > 4 || word.length > 2 ? isWithinEdits(word, each, each.length > 4 ? 2 : 1) : false,
  )
  if (meant === undefined) return false
  const line = meant[0]!.toUpperCase() + meant.slice(1) + text.slice(word.length)
  reportAt(bullet, 0, word.length, context).error(
    'near_keyword',
    `${quote(text)} is no rule, but nearly one`,
    `did you mean ${quote(line)}?`,
  )
  return true
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
  if (seeksApproval(rest)) {
    reportAt(bullet, 0, bullet.text.length, context).error(
      'not_available',
      `${quote(bullet.text)} asks for an approval, which no note can find out`,
      'have a policy ask for approval of the call; the user is asked with `Ask the user to confirm` in a step',
    )
    return known
  }
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
