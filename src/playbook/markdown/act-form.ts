/** What is left to a model: `Extract … from …`, values in words, and bullets that are no other form. */
import type { StepBody, Target } from '../program.ts'
import type { Bullet } from './bullet.ts'
import type { Receiver } from './call-form.ts'
import { callAmong, lostCall } from './lost-call.ts'
import { withoutQuoted } from './without-quoted.ts'
import { holds } from './glance.ts'
import { noteLooseGuard, noteProse } from './loose-guard.ts'
import { negationIn } from './negation.ts'
import { opens } from './opening-word.ts'
import { isSet } from './scope.ts'
import { type StepContext, readsOf, reportAt, writeTarget } from './step-context.ts'
import { type MentionedVariable, sigilVariables } from './sigil-names.ts'
import { idFromName, openingWord, wordsOf } from './words.ts'

const extractForm = /^(?:extract|read|pull)\s+(.+?)\s+(?:from|out\s+of)\s+(.+)$/iu
const getForm = /^(?:get|take|obtain|collect)\s+(.+?)\s+from\s+(.+)$/iu
const talk = /\b(?:conversation|chat|message|response|reply|answer|input|said|history)\b/i
/** Words between a verb and what it makes: none that would make the variable a part of something else. */
const plainWord = String.raw`(?!(?:sure|whether|if|that|how|why|when|where|who|what|which|for|of|from|to|with|about|by|on|in|at|as|per|using|via|between|against|not|than|and|or)\b)[\p{L}\p{N}'-]+\s+`
const makes = new RegExp(
  String.raw`^(?:calculate|compute|determine|choose|pick|decide(?:\s+on)?|work\s+out|figure\s+out|estimate|derive)\s+(?:${plainWord}){0,3}?\$([\p{L}_][\p{L}\p{N}_]*)(?=[.,;:]?$|[,;:]\s|:\p{L}|\s+(?:from|for|of|by|using|based|with|as|in|and|given|that|which|so|near|on)\b)`,
  'iu',
)
const stores = /\b(?:store|save|keep|put|record|remember)\b.*?\s(?:in|as|into)\s+\$([\p{L}_][\p{L}\p{N}_]*)/iu
const results =
  /^(?!(?:treat|use|regard|accept|interpret|send|log|sign|act|behave|serve|see|view|consider|take|know|address)\b).*\s(?:as|into|called)\s+\$([\p{L}_][\p{L}\p{N}_]*)[.!]?$/iu
/** What only looks at things makes none of them. */
const looks =
  /^(?:make\s+(?:absolutely\s+)?sure|be\s+sure|ensure|check|verify|confirm|validate|assert|require|see\s+(?:if|whether|to\s+it)|(?:find\s+out|determine|decide|work\s+out|figure\s+out)\s+(?:if|whether))\b/i

/** Reads `Extract $x, $y from …`; null where it is no such form. */
export function extractionForm(bullet: Bullet, context: StepContext): StepBody | null {
  if ((bullet.opens & opens.extraction) === 0) return null
  const found = extractForm.exec(bullet.text)
  const taken = found ?? getForm.exec(bullet.text)
  if (taken === null) return null
  const names = sigilVariables(taken[1]!)
  if (names.length === 0) return null
  const rest = taken[2]!
  const sources = sigilVariables(rest)
  // `Get $order from the database` needs more than what is already known.
  if (found === null && !talk.test(rest) && !/^(?:the\s+)?\$[\p{L}_][\p{L}\p{N}_.]*\.?$/u.test(rest))
    return null
  const targets = names.map((each) => writeTarget(each.name, true, bullet, context, each.type))
  const from = readsOf(
    rest,
    bullet,
    context,
    names.map((each) => each.name).filter((name) => !sources.some((each) => each.name === name)),
  )
  return { kind: 'extract', targets, instruction: bullet.text, from }
}

/** A value in words: `$name = user's response`. A model reads it out of what is known; nothing is done. */
export function naturalValue(bullet: Bullet, receiver: Receiver, context: StepContext): StepBody {
  const from = readsOf(bullet.text, bullet, context, [receiver.name])
  const target = writeTarget(receiver.name, receiver.sigil, bullet, context, receiver.type)
  lostCall(bullet, context)
  warnIfCall(bullet, context)
  return { kind: 'extract', targets: [target], instruction: bullet.text, from }
}

/** A bullet that is no other form: a model works towards what it says, inside a narrow boundary. */
export function actForm(bullet: Bullet, context: StepContext): StepBody {
  const { text } = bullet
  const guard = noteLooseGuard(bullet, 'act', context)
  const negation = (bullet.holds & holds.negation) === 0 ? -1 : negationIn(withoutQuoted(text))
  const targets = actTargets(bullet, guard || looks.test(text) || negation === 0, context)
  const reads = readsOf(
    text,
    bullet,
    context,
    targets.map((each) => each.name),
  )
  // Nobody means a call by what is not to be done.
  if (negation !== 0) warnIfCall(bullet, context)
  // What stands behind a negation is not to be used.
  const named = namedTools(bullet, negation, context)
  const among = callAmong(text, context)
  // A tool that the step may use is at least in reach of the model; nothing else would ever be called.
  if (among !== null && !named.includes(among.name)) lostCall(bullet, context)
  else if (among !== null) warnLeft(among, bullet, context)
  if (targets.length === 0 && named.length === 0) noteProse(bullet, 'prose', context)
  return {
    kind: 'act',
    instruction: text,
    targets,
    reads,
    // A bullet that only says what not to do gets nothing to do it with.
    tools: negation === 0 ? [] : named.length === 0 ? [...context.tools] : withListedReads(named, context),
    reach: named.length > 0 ? 'named' : 'reads only',
    maxCalls: context.maxCalls,
  }
}

/** The tools that a bullet names, and of those that are listed the ones that only read. */
function withListedReads(named: readonly string[], { tools, toolTable }: StepContext): string[] {
  return [...new Set([...named, ...tools.filter((name) => toolTable.get(name)?.risk === 'read')])]
}

/** A variable is written only where the words clearly make it; one that is merely mentioned keeps its value. */
function actTargets(bullet: Bullet, looking: boolean, context: StepContext): Target[] {
  const { text } = bullet
  if ((bullet.holds & holds.dollar) === 0) return []
  const made = looking ? undefined : makes.exec(text)?.[1]
  const kept = stores.exec(text)?.[1] ?? (looking ? undefined : results.exec(text)?.[1])
  const certain = [made, kept].filter((name) => name !== undefined)
  const names = new Map<string, MentionedVariable>()
  for (const each of sigilVariables(text)) {
    // A variable that nothing else sets must come from here.
    if (certain.includes(each.name) || (!looking && !isSet(context.scope, each.name, true)))
      names.set(each.name, each)
  }
  return [...names.values()].map((each) => writeTarget(each.name, true, bullet, context, each.type))
}

function warnLeft(
  { name, start }: { name: string; start: number },
  bullet: Bullet,
  context: StepContext,
): void {
  reportAt(bullet, start, start + name.length, context).warn(
    'misplaced_call',
    `\`${name}(…)\` stands among words, so a model decides whether to make it`,
    'make it a step of its own',
  )
}

/** So many names are looked for one by one. */
const fewTools = 16

/** A glance before the text is taken apart: most words name no tool. */
function mayNameTool(text: string, { toolTable }: StepContext): boolean {
  if (toolTable.size > fewTools) return true
  for (const name of toolTable.keys()) if (text.includes(name)) return true
  return false
}

/** The tools that a bullet names as they are called. Irreversible ones take an explicit call. */
function namedTools(bullet: Bullet, negation: number, context: StepContext): string[] {
  if (context.toolTable.size === 0 || negation === 0) return []
  const text = negation === -1 ? bullet.text : bullet.text.slice(0, negation)
  if (!mayNameTool(text, context)) return []
  const words = new Set(text.match(/[\p{L}\p{N}_][\p{L}\p{N}_./-]*[\p{L}\p{N}_]/gu) ?? [])
  const names: string[] = []
  for (const word of words) {
    const tool = context.toolTable.get(word)
    if (tool === undefined) continue
    if (tool.risk === 'irreversible') {
      const at = bullet.text.indexOf(word)
      reportAt(bullet, at, at + word.length, context).warn(
        'unresolved_call',
        `\`${word}\` cannot be undone, so this step cannot use it`,
        `call it explicitly: \`${word}(${tool.parameters.map((name) => `${name}=…`).join(', ')})\``,
      )
    } else names.push(word)
  }
  return names
}

/** What words may call: all the words of a name in their order, or first of all the one word of a name. */
function candidatesIn(text: string, { callables, agent }: StepContext): string[] {
  const found = callables.resembling(text, agent)
  const first = callables.mayBegin(text) ? openingWord(text) : undefined
  const one = first === undefined ? null : callables.findWords([first], agent)
  return one?.kind === 'one' ? [one.callable.name, ...found] : found
}

/** Says that words for a person begin like a call, which they would not make. */
export function warnIfSpokenCall(bullet: Bullet, context: StepContext): void {
  if (!context.callables.mayBegin(bullet.text)) return
  const first = openingWord(bullet.text)
  const candidates = candidatesIn(bullet.text, context).filter((name) => wordsOf(name)[0] === first)
  if (candidates.length === 0) return
  keepForLock(bullet, candidates, context)
  warnCandidates(candidates, bullet, context, 'and are said to the person')
}

/** Says that words may have been meant as a call, and keeps the step for a lock file. */
function warnIfCall(bullet: Bullet, context: StepContext): void {
  const candidates = candidatesIn(bullet.text, context)
  keepForLock(bullet, candidates, context)
  if (candidates.length > 0) warnCandidates(candidates, bullet, context, 'and are left to a model')
}

function keepForLock(bullet: Bullet, candidates: readonly string[], context: StepContext): void {
  context.unresolved.push({
    playbook: context.playbook,
    step: bullet.id,
    text: bullet.text,
    file: bullet.place.first.file,
    line: bullet.line,
    candidates,
  })
}

function warnCandidates(
  candidates: readonly string[],
  bullet: Bullet,
  context: StepContext,
  instead: string,
): void {
  const names = candidates.slice(0, 3).map((name) => `\`${name}\``)
  reportAt(bullet, 0, bullet.text.length, context).warn(
    'unresolved_call',
    `these words may mean a call of ${names.join(' or ')}, ${instead}`,
    `write \`${idFromName(candidates[0]!)}(…)\`, or keep what is meant in a lock file`,
  )
}
