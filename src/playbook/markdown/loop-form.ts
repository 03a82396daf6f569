/** `While`, `Until`, `As long as`, `For each`, `Repeat`. */
import type { Step, StepBody } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { readCondition } from './condition.ts'
import { quote } from './findings.ts'
import { opens } from './opening-word.ts'
import { boundIn, withoutBound } from './speech-form.ts'
import { type StepContext, acceptExpression, reportAt, tryExpression, writeTarget } from './step-context.ts'
import { isKnown } from './scope.ts'

/** A loop before the steps in it are read. */
export type LoopHead = (steps: readonly Step[]) => StepBody

const whileForm =
  /^(while|as\s+long\s+as|until|repeat\s+(?:this\s+)?(?:while|until)|keep\s+(?:going|repeating)\s+(?:while|until)|do\s+(?:this\s+)?(?:while|until)|loop\s+(?:while|until))\s+(.+)$/is
const word = String.raw`[\p{L}_][\p{L}\p{N}_]*`
const eachForm = new RegExp(
  String.raw`^for\s+(?:each\s+|every\s+|all\s+)?(\$?)(${word})\s+in\s+(?:the\s+)?(.+)$`,
  'isu',
)
const rangeForm = new RegExp(
  String.raw`^(?:for\s+(?:each\s+|every\s+)?(\$?)(${word})|repeat|count)\s+from\s+(.+?)\s+to\s+(.+)$`,
  'isu',
)
const timesForm =
  /^(?:repeat|do|loop)(?:\s+(?:this|the\s+following|these\s+steps))?(?:\s+(?:up\s+to|at\s+most))?\s+(\S+)\s+times\b(.*)$|^(?:for\s+)?(?:up\s+to|at\s+most)\s+(\S+)\s+(?:times|attempts|tries|iterations)\b(.*)$/i
/** What every loop that is counted says. */
const mayCount = /\s(?:times|attempts|tries|iterations)\b/i
const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/** Reads the opening of a loop; null where the bullet opens none. */
export function loopHead(bullet: Bullet, context: StepContext): LoopHead | null {
  if ((bullet.opens & opens.loop) === 0) return null
  const text = bullet.text.endsWith(':') ? bullet.text.slice(0, -1).trimEnd() : bullet.text
  // `For` opens no loop with a condition.
  const repeated = bullet.word === 'for' ? null : whileForm.exec(text)
  if (repeated !== null) return conditional(repeated[1]!, repeated[2]!, text, bullet, context)
  const range = /\sfrom\s/i.test(text) ? rangeForm.exec(text) : null
  if (range !== null) return counted(range, bullet, context)
  const repeats = mayCount.test(text) ? timesForm.exec(text) : null
  if (repeats !== null) {
    reportRest(repeats[2] ?? repeats[4] ?? '', bullet, context)
    return times(repeats[1] ?? repeats[3]!, bullet, context)
  }
  const each = eachForm.exec(text)
  return each === null ? null : over(each, bullet, context)
}

/** What a counted loop says besides would be lost: a condition among it, for one. */
function reportRest(rest: string, bullet: Bullet, context: StepContext): void {
  const words = rest.replace(/^[\s,:;.]+/, '').trimEnd()
  if (
    words === '' ||
    /^(?:the\s+following|these\s+steps|this|in\s+total|in\s+a\s+row)\b[\s,:;.]*$/i.test(words)
  )
    return
  reportAt(bullet, bullet.text.lastIndexOf(words), bullet.text.length, context).error(
    'irregular_form',
    `${quote(words)} is no part of a loop that is counted`,
    'write `Repeat until …, up to 3 times` or `Repeat while …, up to 3 times`, or put it into an `If` below it',
  )
}

function conditional(
  verb: string,
  words: string,
  text: string,
  bullet: Bullet,
  context: StepContext,
): LoopHead {
  const form = /until$/i.test(verb.trim()) ? ('until' as const) : ('while' as const)
  const limit = boundIn(words)
  const condition = readCondition(withoutBound(words), text.length - words.length, bullet, context)
  if (limit === null) {
    reportAt(bullet, 0, text.length, context).warn(
      'unbounded_loop',
      `the loop has no bound of its own; it fails after ${context.maxTurns} turns`,
      'add such as `, up to 20 times`, or `max_turns` in the front matter',
    )
  }
  return (steps) => ({ kind: 'loop', form, condition, maxTurns: limit ?? context.maxTurns, steps })
}

function counted(found: RegExpExecArray, bullet: Bullet, context: StepContext): LoopHead | null {
  const [, sigil = '', name = 'turn', low = '', high = ''] = found
  const first = tryExpression(low, context)
  const last = tryExpression(high, context)
  if (first.kind !== 'value' || last.kind !== 'value') return null
  const from = acceptExpression(first, bullet, bullet.text.indexOf(low), context)
  const to = acceptExpression(last, bullet, bullet.text.lastIndexOf(high), context)
  const item = writeTarget(name, sigil === '$', bullet, context, 'int')
  const calls = [...from.calls, ...to.calls]
  if (calls.length > 0) return null
  return (steps) => ({
    kind: 'each',
    item,
    over: { form: 'expression', source: `range(${from.source}, ${to.source} + 1)`, calls },
    maxTurns: 10_000,
    steps,
  })
}

function times(words: string, bullet: Bullet, context: StepContext): LoopHead | null {
  const counted = numbers.indexOf(words.toLowerCase())
  const source = counted === -1 ? words : String(counted)
  const read = tryExpression(source, context)
  if (read.kind !== 'value') return null
  const value = acceptExpression(read, bullet, bullet.text.indexOf(words), context)
  const item = writeTarget('turn', false, bullet, context, 'int')
  return (steps) => ({
    kind: 'each',
    item,
    over: { form: 'expression', source: `range(1, ${value.source} + 1)`, calls: value.calls },
    maxTurns: 10_000,
    steps,
  })
}

function over(found: RegExpExecArray, bullet: Bullet, context: StepContext): LoopHead | null {
  const [, sigil = '', name = '', rest = ''] = found
  const limit = boundIn(rest)
  const words = withoutBound(rest)
    .replace(/\s*[:,]\s*$/, '')
    .trim()
  const from = bullet.text.lastIndexOf(words)
  let read = tryExpression(words, context)
  if (
    read.kind === 'words' &&
    /^[\p{L}_][\p{L}\p{N}_]*$/u.test(words) &&
    isKnown(context.scope, words, true)
  ) {
    read = tryExpression(`$${words}`, context)
  }
  if (read.kind !== 'value') {
    reportAt(bullet, from, from + words.length, context).error(
      'invalid_expression',
      `a loop runs over a list, and \`${words.slice(0, 60)}\` is no variable`,
      'extract the list into a variable in a step before: `Extract $items from …`',
    )
    return (steps) => ({
      kind: 'each',
      item: writeTarget(name, sigil === '$', bullet, context),
      over: { form: 'expression', source: '[]', calls: [] },
      maxTurns: 1,
      steps,
    })
  }
  const value = acceptExpression(read, bullet, from, context)
  const item = writeTarget(name, sigil === '$', bullet, context)
  return (steps) => ({ kind: 'each', item, over: value, maxTurns: limit ?? 10_000, steps })
}
