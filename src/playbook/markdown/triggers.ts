import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Trigger } from '../program.ts'
import { type Bullet, lineOf } from './bullet.ts'
import { isComputable, readCondition } from './condition.ts'
import { secondsIn } from './ending-form.ts'
import { quote } from './findings.ts'
import { type StepContext, mentioned, reportAt } from './step-context.ts'
import { VariableUses } from './variable-uses.ts'

const beginForm =
  /^(?:at\s+the\s+(?:very\s+)?(?:beginning|start)\b.*|(?:when|once|after)\s+(?:the\s+|this\s+)?(?:program|agent|conversation|session|playbook|run)\s+(?:starts|begins|is\s+started|started)|on\s+start(?:up)?)[.!]?$/i
const endForm =
  /^(?:at\s+the\s+(?:very\s+)?end\b.*|before\s+(?:ending|exiting|the\s+end\s+of)\s+(?:the\s+)?program|when\s+(?:the\s+)?(?:program|conversation|session)\s+(?:ends|is\s+about\s+to\s+end)|on\s+exit)[.!]?$/i
const timeForm =
  /^after\s+(\d+(?:\.\d+)?|an?|one|two|three|five|ten)\s+(seconds?|minutes?|hours?|days?)[.!]?$/i
const aroundForm = /^(before|after)\s+(?:calling|running|executing|using)\s+(.+?)[.!]?$/i
const failsForm = /^(?:when|if|whenever)\s+(.+?)\s+(?:fails|failed|throws|errors)[.!]?$/i
const stateForm = /^(?:when|whenever|once|as\s+soon\s+as|if)\s+(.+?)[.!]?$/is

/** Reads when a playbook begins by itself. What is no other kind is asked of a model when a person has spoken. */
export function readTrigger(place: MarkdownText, context: StepContext): Trigger {
  const bullet = lineOf(place, context.playbook)
  const { text, line } = bullet
  const plain = plainTrigger(text, line)
  if (plain !== null) return plain
  const base = { text, line }
  return (
    flowTrigger(bullet, base, context) ?? stateTrigger(bullet, base, context) ?? { ...base, kind: 'message' }
  )
}

/** A trigger of time alone: the beginning, the end, or a while after; null for every other. */
export function plainTrigger(text: string, line: number): Trigger | null {
  if (beginForm.test(text)) return { text, line, kind: 'begin' }
  if (endForm.test(text)) return { text, line, kind: 'end' }
  const seconds = secondsIn(text, timeForm)
  return seconds === null ? null : { text, line, kind: 'time', seconds }
}

function flowTrigger(
  bullet: Bullet,
  base: { text: string; line: number },
  context: StepContext,
): Trigger | null {
  const around = aroundForm.exec(bullet.text)
  if (around !== null) {
    const call = targetNamed(around[2]!, bullet, context)
    if (call !== null)
      return { ...base, kind: around[1]!.toLowerCase() === 'before' ? 'before' : 'after', call }
    reportAt(bullet, 0, bullet.text.length, context).error(
      'unknown_call',
      `there is no playbook, function or tool \`${around[2]!.slice(0, 60)}\``,
      'name it as it is called',
    )
    return { ...base, kind: 'message' }
  }
  const fails = failsForm.exec(bullet.text)
  const call = fails === null ? null : targetNamed(fails[1]!, bullet, context)
  return call === null ? null : { ...base, kind: 'fails', call }
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
      ? context.callables.find(name, context.agent)
      : context.callables.findIn(agent, rest, context.agent)
  return found.kind === 'one' ? found.callable.target : null
}

function stateTrigger(
  bullet: Bullet,
  base: { text: string; line: number },
  context: StepContext,
): Trigger | null {
  const found = stateForm.exec(bullet.text)
  if (found === null || !found[1]!.includes('$')) return null
  if (!isComputable(found[1]!, context)) {
    refuseMixture(found[1]!, bullet, context)
    return null
  }
  const condition = readCondition(found[1]!, bullet.text.indexOf(found[1]!), bullet, context)
  if (condition.kind !== 'computed') return null
  return { ...base, kind: 'state', value: condition.value, reads: mentioned(found[1]!, context.scope) }
}

/** `When $n > 3 and the user is angry` would be all a model's to judge, whenever a person has spoken. */
function refuseMixture(words: string, bullet: Bullet, context: StepContext): void {
  const trial = { ...context, uses: new VariableUses() }
  const condition = context.findings.quietly(() => readCondition(words, 0, bullet, trial))
  if (condition.kind !== 'judged' || condition.known === undefined) return
  reportAt(bullet, 0, bullet.text.length, context).error(
    'not_available',
    `${quote(bullet.text)} mixes values with words, which is not available in a trigger`,
    'let the trigger say one of them, and begin the playbook with an `If` for the other',
  )
}
