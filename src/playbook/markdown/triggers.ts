import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Trigger } from '../program.ts'
import { type Bullet, lineOf } from './bullet.ts'
import { isComputable, readCondition } from './condition.ts'
import { secondsIn } from './ending-form.ts'
import { quote } from './findings.ts'
import { isWithinEdits } from './is-within-edits.ts'
import { singleSpaced } from './single-spaced.ts'
import { type StepContext, mentioned, reportAt } from './step-context.ts'
import { Variables } from './variables.ts'

const beginForm =
  /^(?:(?:at|in|from)\s+(?:the\s+)?(?:very\s+)?(?:beginning|start(?:up)?)\b.*|(?:when|once|after)\s+(?:the\s+|this\s+)?(?:program|agent|conversation|session|playbook|run)\s+(?:starts|begins|is\s+started|started)|on\s+start(?:up)?)[.!]?$/i
const endForm =
  /^(?:at\s+the\s+(?:very\s+)?end\b.*|before\s+(?:ending|exiting|the\s+end\s+of)\s+(?:the\s+)?program|when\s+(?:the\s+)?(?:program|conversation|session)\s+(?:ends|is\s+about\s+to\s+end)|on\s+exit)[.!]?$/i
const timeForm =
  /^(?:after|in)\s+(\d+(?:\.\d+)?|an?|one|two|three|five|ten)\s+(seconds?|minutes?|hours?|days?)[.!]?$/i
const callWord = String.raw`(?:(?:you|the\s+agent|we|it)\s+)?(?:call(?:ing|s)?|run(?:ning|s)?|execut(?:ing|es?)|us(?:ing|es?)|(?:a|each|every|any)\s+call\s+(?:of|to))`
const aroundForm = new RegExp(String.raw`^(before|after)\s+(${callWord}\s+)?(.+?)[.!]?$`, 'i')
const isCalled = /\s+(?:is|was|has\s+been|gets)\s+(?:called|run|executed|used|made)$/i
const isOver =
  /\s+(?:has\s+)?(?:succeed(?:s|ed)|finish(?:es|ed)|return(?:s|ed)|complete(?:s|d)|is\s+done|ends|ended)$/i
const subjectForm =
  /^(?:when|whenever|if|once|as\s+soon\s+as|upon|on)\s+(?:(?:calling|running)\s+)?(.+?)(\s+(?:is|was|has|gets?|fails?|failed|throws|threw|errors|succeed(?:s|ed)|finish(?:es|ed)|return(?:s|ed)|complete(?:s|d)|ends|ended|runs|goes|does|did|cannot)\b.*?)?[.!]?$/i
const failsWords =
  /^\s+(?:(?:has\s+)?fail(?:s|ed)|throws|threw|errors|(?:has|gets)\s+an?\s+error|goes\s+wrong|(?:does|did)\s+not\s+(?:work|succeed)|throws\s+an?\s+error)$/i
const somebody =
  /\b(?:user|customer|caller|client|person|guest|patient|visitor|they|somebody|someone|asks?|asked|requests?|requested|wants?|wanted|needed|mentions?|mentioned)\b/i
/** Words of time, which nobody says about what a person says. */
const temporal =
  /^(?:before|prior\s+to|every|each|daily|hourly|weekly|nightly|monthly|during|while|until|within\s+\d|in\s+\d|(?:after|at)\b(?!.*\b(?:user|customer|caller|client|person|guest|patient|visitor|they)))\b/i
const stateForm = /^(?:when|whenever|once|as\s+soon\s+as|if)\s+(.+?)[.!]?$/is

/** Reads when a playbook begins by itself. What is no other kind is asked of a model when a person has spoken. */
export function readTrigger(place: MarkdownText, context: StepContext): Trigger {
  const bullet = lineOf(place, context.playbook)
  const { text, line } = bullet
  const plain = plainTrigger(text, line)
  if (plain !== null) return plain
  const base = { text, line }
  return (
    flowTrigger(bullet, base, context) ??
    stateTrigger(bullet, base, context) ??
    messageTrigger(bullet, base, context)
  )
}

/** A trigger of time alone: the beginning, the end, or a while after; null for every other. */
export function plainTrigger(text: string, line: number): Trigger | null {
  if (beginForm.test(text)) return { text, line, kind: 'begin' }
  if (endForm.test(text)) return { text, line, kind: 'end' }
  const seconds = secondsIn(text, timeForm)
  return seconds === null ? null : { text, line, kind: 'time', seconds }
}

type Base = Pick<Trigger, 'text' | 'line'>

function flowTrigger(bullet: Bullet, base: Base, context: StepContext): Trigger | null {
  const text = singleSpaced(bullet.text)
  const around = aroundForm.exec(text)
  if (around !== null) {
    const [, when = '', called, words = ''] = around
    const name = words.replace(isCalled, '').replace(isOver, '')
    const call = targetNamed(name, bullet, context)
    if (call !== null) return { ...base, kind: when.toLowerCase() === 'before' ? 'before' : 'after', call }
    if (called === undefined) return null
    reportAt(bullet, 0, bullet.text.length, context).error(
      'unknown_call',
      `there is no playbook, function or tool \`${name.slice(0, 60)}\``,
      'name it as it is called',
    )
    return { ...base, kind: 'message' }
  }
  const subject = subjectForm.exec(text)
  const call = subject === null ? null : targetNamed(subject[1]!, bullet, context)
  if (subject === null || call === null) return null
  const [, name = '', says = ''] = subject
  if (failsWords.test(says)) return { ...base, kind: 'fails', call }
  if (isOver.test(says)) return { ...base, kind: 'after', call }
  // `When refund is requested` is about what a person says.
  if (somebody.test(says)) return null
  return refused(
    bullet,
    base,
    `${quote(bullet.text)} names \`${name}\`, and does not say whether it comes before or after the call`,
    `write \`Before calling ${name}\`, \`After calling ${name}\` or \`When ${name} fails\``,
    context,
  )
}

/** A trigger that would wait for a person to say what nobody says. */
function refused(
  bullet: Bullet,
  base: Base,
  message: string,
  suggestion: string,
  context: StepContext,
): Trigger {
  reportAt(bullet, 0, bullet.text.length, context).error('not_available', message, suggestion)
  return { ...base, kind: 'message' }
}

const openings: readonly string[] = ['before', 'after', 'when', 'whenever']

/** What is left is said by a person, unless it speaks of time, or is nearly a form. */
function messageTrigger(bullet: Bullet, base: Base, context: StepContext): Trigger {
  const { text, word } = bullet
  const near = nearTrigger(bullet, context)
  if (near !== null) {
    reportAt(bullet, 0, text.length, context).error(
      'near_keyword',
      `${quote(text)} is no trigger but what a person says, and nearly another one`,
      `did you mean ${quote(near)}?`,
    )
  } else if (temporal.test(text)) {
    return refused(
      bullet,
      base,
      `${quote(text)} speaks of a time that is no trigger`,
      word === 'every' || /ly$|^each$/.test(word)
        ? 'nothing is repeated by itself: start the program that often, or write `After 5 minutes`'
        : 'write `At the beginning`, `At the end`, `After 5 minutes`, `Before calling X` or `After calling X`',
      context,
    )
  } else if (/\$[\p{L}_]/u.test(text) && !somebody.test(text.replace(/\$\S+/g, ''))) {
    return refused(
      bullet,
      base,
      `${quote(text)} names a variable, and is no condition over known values: it would wait for a person to say so`,
      'compare the variable with a value: `When $amount > 100`, `When $status is "open"`, `When $paid`',
      context,
    )
  }
  return { ...base, kind: 'message' }
}

/** The trigger that was probably meant, where one word is nearly that of a form; null otherwise. */
function nearTrigger(bullet: Bullet, context: StepContext): string | null {
  const { text, word } = bullet
  const place = /^(at\s+(?:the\s+)?)(\p{L}+)(.*)$/iu.exec(text)
  if (place !== null) {
    const meant = ['beginning', 'start', 'end'].find((each) =>
      isWithinEdits(place[2]!.toLowerCase(), each, each.length > 5 ? 2 : 1),
    )
    return meant === undefined ? null : `${place[1]}${meant}${place[3]}`
  }
  if (word.length < 3 || openings.includes(word)) return null
  for (const each of openings) {
    if (!isWithinEdits(word, each, each.length > 4 ? 2 : 1)) continue
    const meant = each[0]!.toUpperCase() + each.slice(1) + text.slice(word.length)
    const trial = { ...context, uses: new Variables() }
    const line = { ...bullet, text: meant, word: each }
    const base = { text: meant, line: bullet.line }
    const read = context.findings.quietly(
      () =>
        plainTrigger(meant, bullet.line) ?? flowTrigger(line, base, trial) ?? stateTrigger(line, base, trial),
    )
    if (read !== null) return meant
  }
  return null
}

/** What a name in words calls; null where nothing is called that. */
export function targetNamed(words: string, _bullet: Bullet, context: StepContext) {
  const name = words
    .trim()
    .replace(/\(.*\)$/s, '')
    .replace(/^(?:the|a|an)\s+/i, '')
    .replace(/\s+(?:playbook|tool)$/i, '')
  const [agent, rest] = name.includes('.')
    ? [context.callables.agentNamed(name.slice(0, name.indexOf('.'))), name.slice(name.indexOf('.') + 1)]
    : [null, name]
  const found =
    agent === null
      ? context.callables.findKnown(name, context.agent)
      : context.callables.findKnownIn(agent, rest, context.agent)
  return found?.kind === 'one' ? found.callable.target : null
}

function stateTrigger(
  bullet: Bullet,
  base: { text: string; line: number },
  context: StepContext,
): Trigger | null {
  const found = stateForm.exec(bullet.text)
  if (found === null || !found[1]!.includes('$')) return null
  if (!isComputable(found[1]!, context)) {
    return refuseMixture(found[1]!, bullet, context) ? { ...base, kind: 'message' } : null
  }
  const condition = readCondition(found[1]!, bullet.text.indexOf(found[1]!), bullet, context)
  if (condition.kind !== 'computed') return null
  return { ...base, kind: 'state', value: condition.value, reads: mentioned(found[1]!, context.scope) }
}

/** Says whether it refused: `When $n > 3 and the user is angry` would be all a model's to judge, whenever a person has spoken. */
function refuseMixture(words: string, bullet: Bullet, context: StepContext): boolean {
  const trial = { ...context, uses: new Variables() }
  const condition = context.findings.quietly(() => readCondition(words, 0, bullet, trial))
  if (condition.kind !== 'judged' || condition.known === undefined) return false
  reportAt(bullet, 0, bullet.text.length, context).error(
    'not_available',
    `${quote(bullet.text)} mixes values with words, which is not available in a trigger`,
    'let the trigger say one of them, and begin the playbook with an `If` for the other',
  )
  return true
}
