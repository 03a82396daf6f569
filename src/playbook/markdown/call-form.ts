/** Calls: `Name($a, k=$b)`, `Call Name with …`, and words that are exactly the words of a name. */
import type { Call, StepBody, Target, ValueType } from '../program.ts'
import type { Bullet } from './bullet.ts'
import { argumentMisfit } from './argument-misfit.ts'
import { callOf, type Callable } from './callables.ts'
import { holds } from './glance.ts'
import { isBuiltin } from './lift-calls.ts'
import { opens } from './opening-word.ts'
import { isKnown } from './scope.ts'
import { sigilNames } from './sigil-names.ts'
import { splitTopLevel } from './signature.ts'
import { joinSpokenNames } from './spoken-name.ts'
import {
  type StepContext,
  acceptExpression,
  noteRead,
  reportAt,
  tryExpression,
  writeTarget,
} from './step-context.ts'
import { wordsOf } from './words.ts'

/** A variable that the result goes to. */
export interface Receiver {
  readonly name: string
  readonly sigil: boolean
  readonly type: ValueType
}

const callVerb = /^(?:call|run|execute|invoke)\s+(?:the\s+)?/i
const functionForm = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)?\s*\(/u
const withForm = /^([\p{L}_][\p{L}\p{N}_. ]*?)(?:\s+(?:playbook|tool|function))?\s+with\s+(.+)$/u

/** Reads a call in function syntax, or after the word `Call`; null where it is no such form. */
export function callForm(bullet: Bullet, context: StepContext): StepBody | null {
  if ((bullet.holds & holds.parenthesis) === 0 && (bullet.opens & opens.call) === 0) return null
  const verb = callVerb.exec(bullet.text)
  const from = verb?.[0].length ?? 0
  const words = bullet.text.slice(from).replace(/[.;]$/, '')
  // `Say(user, "…")` is speech, unless the program has a playbook of that name.
  if (/^say\s*\(/i.test(words) && context.callables.findKnown('Say', context.agent) === null) return null
  if (isFunctionForm(words, context)) {
    const read = tryExpression(words, context)
    if (read.kind === 'prose') {
      reportAt(bullet, from, bullet.text.length, context).error(
        'invalid_expression',
        'the arguments of a call are expressions, and these are words',
        'put text in quotes, or ask for the value in a step before',
      )
      return { kind: 'call', value: { form: 'expression', source: 'null', calls: [] }, target: null }
    }
    return { kind: 'call', value: acceptExpression(read, bullet, from, context), target: null }
  }
  if (verb === null) return null
  const named = withForm.exec(words)
  if (named !== null) {
    const found = context.callables.findWords(wordsOf(named[1]!), context.agent)
    if (found.kind === 'one')
      return callWith(found.callable, named[2]!, from + words.lastIndexOf(named[2]!), bullet, context)
  }
  return null
}

/** `Name(…)` and nothing else, also with a name of several words. */
function isFunctionForm(words: string, { callables, agent }: StepContext): boolean {
  if (!words.trimEnd().endsWith(')')) return false
  const joined = functionForm.test(words) ? words : joinSpokenNames(words, callables, agent)
  return functionForm.test(joined) && !isBuiltin(/^[^(\s]+/.exec(joined)![0])
}

/** `Call Name with a, k=$b`: what follows are arguments, as in parentheses. */
function callWith(
  callable: Callable,
  words: string,
  from: number,
  bullet: Bullet,
  context: StepContext,
  target: Target | null = null,
): StepBody | null {
  const positional: string[] = []
  const named: Record<string, string> = {}
  const calls: Call[] = []
  for (const part of splitTopLevel(words)) {
    const keyword = /^\s*([\p{L}_][\p{L}\p{N}_]*)\s*=(?!=)\s*(.+)$/su.exec(part)
    const source = (keyword?.[2] ?? part).trim().replace(/^and\s+/, '')
    const read = tryExpression(source, context)
    if (read.kind !== 'value' || read.lifted.computation.calls.length > 0) return null
    const computation = acceptExpression(read, bullet, from, context)
    if (keyword === null) positional.push(computation.source)
    else named[keyword[1]!] = computation.source
  }
  const misfit = argumentMisfit(callable, positional.length, Object.keys(named))
  if (misfit !== null) reportAt(bullet, 0, bullet.text.length, context).error('wrong_arguments', misfit)
  calls.push(callOf(callable, positional, named))
  return { kind: 'call', value: { form: 'expression', source: 'call_1', calls }, target }
}

/**
 * Reads words that are exactly the words of a name: `Process payment`, `Validate the email`, `Get $order_status`. Arguments are the
 * variables named like the parameters; where one is missing it is no call.
 */
export function callInWords(
  bullet: Bullet,
  context: StepContext,
  receiver: Receiver | null = null,
): StepBody | null {
  if ((bullet.opens & opens.call) === 0 && !context.callables.mayBegin(bullet.text)) return null
  const plain = bullet.text
    .replace(callVerb, '')
    .replace(/[.;:]$/, '')
    .replace(/\s+playbook$/i, '')
  const named = receiver === null && !callVerb.test(bullet.text) ? null : withForm.exec(plain)
  const head = named?.[1] ?? plain
  if (!/^[\p{L}\p{N}_$\s'’-]+$/u.test(head)) return null
  const found = context.callables.findWords(wordsOf(head), context.agent)
  if (found.kind !== 'one') return null
  const { callable } = found
  if (named !== null) {
    const target =
      receiver === null ? null : writeTarget(receiver.name, receiver.sigil, bullet, context, receiver.type)
    return callWith(callable, named[2]!, bullet.text.lastIndexOf(named[2]!), bullet, context, target)
  }
  const mentions = sigilNames(head)
  const results = mentions.filter((name) => !callable.parameters.some((each) => each.name === name))
  if (results.length > 1) return null
  const values = argumentsByName(callable, results, context)
  if (values === null) return null
  for (const name of Object.keys(values)) noteRead(name, bullet, context)
  if (callable.risk === 'irreversible' && !callVerb.test(bullet.text)) {
    const written = Object.entries(values).map(([name, value]) => `${name}=${value}`)
    reportAt(bullet, 0, bullet.text.length, context).warn(
      'irregular_form',
      `these words call \`${callable.name}\`, which cannot be undone`,
      `write \`${callable.name}(${written.join(', ')})\`, so that everyone sees it`,
    )
  }
  const result =
    receiver ?? (results[0] === undefined ? null : { name: results[0], sigil: true, type: 'any' as const })
  const target = result === null ? null : writeTarget(result.name, result.sigil, bullet, context, result.type)
  return {
    kind: 'call',
    value: {
      form: 'expression',
      source: 'call_1',
      calls: [{ target: callable.target, positional: [], named: values }],
    },
    target,
  }
}

/** The arguments that variables of the same name give; null where one that must be given has none. */
function argumentsByName(
  callable: Callable,
  except: readonly string[],
  context: StepContext,
): Record<string, string> | null {
  const values: Record<string, string> = {}
  for (const { name } of callable.parameters) {
    if (except.includes(name)) continue
    if (isKnown(context.scope, name, true)) values[name] = `$${name}`
    else if (callable.required === null || callable.required.includes(name)) {
      // Of a tool it is not always known what it needs; then the call itself will tell.
      if (callable.required !== null) return null
    }
  }
  // Nothing at all for something that takes arguments is more likely a misunderstanding than a call.
  return callable.parameters.length > 0 && callable.required === null && Object.keys(values).length === 0
    ? null
    : values
}
