import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Call, Computation, Condition, Note, NoteRule } from '../program.ts'
import { type Bullet, firstWord } from './bullet.ts'
import { readCondition } from './condition.ts'
import { quote } from './findings.ts'
import { type StepContext, reportAt } from './step-context.ts'
import { targetNamed } from './triggers.ts'
import { wordsOf } from './words.ts'

const alwaysForm =
  /^(?:always|must|make\s+sure\s+(?:to|you)|be\s+sure\s+to|you\s+must(?:\s+always)?)\s+(.+?)\s+before\s+(?:calling|running|using|executing)\s+(.+?)[.!]?$/is
const beforeForm =
  /^(?:never|do\s+not|don't)\s+(?:call|run|use|execute)\s+(.+?)\s+(?:before|without(?:\s+first)?)\s+(?:calling|running|using|executing)\s+(.+?)[.!]?$/is
const unlessForm =
  /^(?:never|do\s+not|don't|only)\s+(?:call|run|use|execute)\s+(.+?)\s+(unless|until|if|when|while|after)\s+(.+?)[.!]?$/is
const neverForm = /^(?:never|do\s+not|don't)\s+(?:call|run|use|execute)\s+(\S+?)[.!]?$/i
const checkVerb =
  /^(?:confirm|check|ensure|verify|make\s+sure|validate|see)\s+(?:that\s+|whether\s+|if\s+)?(.+)$/is
const callVerb = /^(?:call|run|use|execute)\s+(.+)$/is

/** Reads a note: a rule for the gate where it says what must come before a call, else guidance. */
export function readNote(place: MarkdownText, context: StepContext): Note {
  const text = place.text.replaceAll('\n', ' ').trim()
  const line = place.pieces[0]!.line.number
  const bullet: Bullet = {
    id: context.playbook,
    line,
    text,
    word: firstWord(text),
    at: 0,
    place,
    children: [],
  }
  return { text: place.text, line, rule: ruleOf(bullet, context) }
}

function ruleOf(bullet: Bullet, context: StepContext): NoteRule | null {
  const { text } = bullet
  const always = alwaysForm.exec(text)
  if (always !== null)
    return withTarget(always[2]!, bullet, context, (before) => ({
      before,
      require: requirement(always[1]!, bullet, context),
    }))
  const never = beforeForm.exec(text)
  if (never !== null) {
    const other = targetNamed(never[2]!, bullet, context)
    if (other === null) unenforced(never[2]!, bullet, context)
    else
      return withTarget(never[1]!, bullet, context, (before) => ({
        before,
        require: { kind: 'succeeded', call: other },
      }))
    return null
  }
  const unless = unlessForm.exec(text)
  if (unless !== null) {
    const [, name = '', word = '', words = ''] = unless
    const only = /^only/i.test(text)
    const holds = only || /unless|until/i.test(word)
    return withTarget(name, bullet, context, (before) => {
      const called = /^(?:after|until)$/i.test(word)
        ? targetNamed(
            words.replace(/\s+(?:has\s+)?(?:succeeded|succeeds|was\s+called)$/i, ''),
            bullet,
            context,
          )
        : null
      if (called !== null) return { before, require: { kind: 'succeeded', call: called } }
      const condition = readCondition(words, bullet.text.lastIndexOf(words), bullet, context)
      return { before, require: { kind: 'holds', condition: holds ? condition : negated(condition) } }
    })
  }
  const forbidden = neverForm.exec(text)
  if (forbidden === null) return null
  const condition: Condition = { kind: 'computed', value: { form: 'expression', source: 'false', calls: [] } }
  return withTarget(forbidden[1]!, bullet, context, (before) => ({
    before,
    require: { kind: 'holds', condition },
  }))
}

function withTarget(
  name: string,
  bullet: Bullet,
  context: StepContext,
  make: (before: Call['target']) => NoteRule,
): NoteRule | null {
  const before = targetNamed(name, bullet, context)
  if (before !== null) return make(before)
  unenforced(name, bullet, context)
  return null
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

/** What an `Always …` asks for: that another call succeeded, or that a condition holds. */
function requirement(words: string, bullet: Bullet, context: StepContext): NoteRule['require'] {
  const called = callVerb.exec(words)
  const target = called === null ? null : targetNamed(called[1]!, bullet, context)
  if (target !== null) return { kind: 'succeeded', call: target }
  const inWords = context.callables.findWords(wordsOf(words), context.agent)
  if (inWords.kind === 'one') return { kind: 'succeeded', call: inWords.callable.target }
  const condition = checkVerb.exec(words)?.[1] ?? words
  return {
    kind: 'holds',
    condition: readCondition(condition, bullet.text.indexOf(condition), bullet, context),
  }
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
