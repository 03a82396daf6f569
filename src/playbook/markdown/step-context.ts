/** What every form needs to read a bullet: the names, what can be called, and where findings go. */
import { ExpressionError } from '../../expression/expression-error.ts'
import { nearestName } from '../../shared/nearest-name.ts'
import type { Computation, Target, ValueType } from '../program.ts'
import type { Bullet } from './bullet.ts'
import type { Callables, ProgramTool } from './callables.ts'
import type { Findings } from './findings.ts'
import { holds } from './glance.ts'
import { type Lifted, type NameUse, liftCalls } from './lift-calls.ts'
import { type Scope, isKnown, targetIn } from './scope.ts'
import { sigilNames } from './sigil-names.ts'
import { joinSpokenNames } from './spoken-name.ts'
import type { Variables } from './variables.ts'

/** A bullet that a lock file could settle: what it says, and what it may have meant. */
export interface UnresolvedStep {
  /** With the text, what `stepHash` takes. */
  readonly playbook: string
  readonly step: string
  readonly text: string
  readonly file: string | null
  readonly line: number
  readonly candidates: readonly string[]
}

/** A guard that binds nothing, or what may be one. Whether it is an error is known when the whole program is read. */
export interface LooseGuard {
  readonly bullet: Bullet
  readonly why: string
  readonly instead: string
  /** Where it does harm; `unheard` is a question before a final call whose answer nothing looks at. */
  readonly harms: 'anywhere' | 'before a final call' | 'unheard before a final call'
}

/** What is known while a playbook is read. */
export interface StepContext {
  readonly agent: string
  readonly playbook: string
  readonly scope: Scope
  readonly callables: Callables
  readonly findings: Findings
  /** Where what bullets do with variables is noted. */
  readonly uses: Variables
  /** Tools that front matter or the playbook give to its natural-language steps. */
  readonly tools: readonly string[]
  readonly toolTable: ReadonlyMap<string, ProgramTool>
  readonly maxTurns: number
  readonly maxCalls: number
  /** Whether the bullets that are read stand in a loop. */
  readonly inLoop?: boolean
  /** What the playbook says it returns. */
  readonly returns?: ValueType | null
  /** Texts that the program gives a variable somewhere: `$status is open` can then be compared. */
  readonly literalsOf: (name: string) => ReadonlySet<string>
  readonly resolutions: ReadonlyMap<string, string>
  readonly unresolved: UnresolvedStep[]
  /** Bullets that read like a guard and bind nothing, reported when it is known what the program does. */
  readonly guards: LooseGuard[]
  /** Whether the loop around the bullets looks at what a person answers. */
  readonly answered?: boolean
}

/** What came of reading a stretch of a bullet as an expression. */
export type ReadExpression =
  | { readonly kind: 'value'; readonly lifted: Lifted }
  /** It parses, but reads names that are no variables. */
  | { readonly kind: 'words'; readonly lifted: Lifted }
  | { readonly kind: 'prose' }
  | { readonly kind: 'broken'; readonly error: ExpressionError }

const operators = 'and|or|not|in|if|else|for'
const twoWords = new RegExp(
  String.raw`(?:^|\s)(?!(?:${operators})\b)[\p{L}][\p{L}\p{N}_'’.,-]*\s+(?!(?:${operators})\b)[\p{L}$"\d]`,
  'u',
)

/** Reads an expression without reporting anything. */
export function tryExpression(source: string, context: StepContext): ReadExpression {
  const read = readExpression(source, context)
  if (read.kind === 'value' || read.kind === 'words' || !source.includes('(')) return read
  // `Order total(5)` is a call where there is a playbook `Order total`.
  const joined = joinSpokenNames(source, context.callables, context.agent)
  return joined === source ? read : readExpression(joined, context)
}

function readExpression(source: string, context: StepContext): ReadExpression {
  // Two words side by side are in no expression, so this saves reading most prose at all.
  if (hasTwoWords(source)) return { kind: 'prose' }
  const lifted = liftCalls(source, context.callables, context.agent)
  if (lifted instanceof ExpressionError) {
    const word = lifted.code !== 'unsupported_syntax' && /^[\p{L}][\p{L}'’-]*\.?$/u.test(source.trim())
    return word ? { kind: 'prose' } : { kind: 'broken', error: lifted }
  }
  return { kind: readsWords(lifted.names, context.scope) ? 'words' : 'value', lifted }
}

/** Whether names without `$` are read that are no variables. */
function readsWords(names: readonly NameUse[], scope: Scope): boolean {
  for (const { name, sigil } of names) if (!sigil && !isKnown(scope, name, sigil)) return true
  return false
}

function hasTwoWords(source: string): boolean {
  if (!mayHaveTwoWords(source)) return false
  return twoWords.test(source.includes('"') || source.includes("'") ? withoutTexts(source) : source)
}

/** A glance: behind a word that begins the text or follows a blank, there must be a blank. */
function mayHaveTwoWords(source: string): boolean {
  let begun = false
  let before = 32
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code > 127) return true
    if (code <= 32) {
      if (begun) return true
    } else if (before <= 32 && isLetter(code)) begun = true
    before = code
  }
  return false
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

function withoutTexts(source: string): string {
  return source.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""')
}

/** Takes an expression that was read as the meaning of the bullet: reports what is wrong with it, and notes what it reads. */
export function acceptExpression(
  read: ReadExpression,
  bullet: Bullet,
  from: number,
  context: StepContext,
): Computation {
  if (read.kind === 'prose') return { form: 'expression', source: 'null', calls: [] }
  if (read.kind === 'broken') {
    const { message, start, end } = read.error
    reportAt(bullet, from + start, from + end, context).error('invalid_expression', message)
    return { form: 'expression', source: 'null', calls: [] }
  }
  for (const problem of read.lifted.problems) {
    reportAt(bullet, from + problem.start, from + problem.end, context).error(
      problem.code,
      problem.message,
      problem.suggestion,
    )
  }
  reportQuotedNames(read.lifted.computation, bullet, context)
  for (const { name, sigil, start, end } of read.lifted.names) {
    if (isKnown(context.scope, name, sigil)) noteRead(name, bullet, context)
    else reportUnset(name, sigil, bullet, from + start, from + end, context)
  }
  return read.lifted.computation
}

const quotedName = /(?<![\p{L}\p{N}_])"[^"]*?\$([\p{L}_][\p{L}\p{N}_]*)[^"]*"/u

/** A text in an expression is taken as it is: a variable in it would be sent by its name. */
function reportQuotedNames({ source, calls }: Computation, bullet: Bullet, context: StepContext): void {
  // Whatever is quoted in them is quoted in the bullet.
  if ((bullet.holds & holds.quote) === 0 || (bullet.holds & holds.dollar) === 0) return
  reportQuotedIn(source, bullet, context)
  for (const { positional, named } of calls) {
    for (const each of positional) reportQuotedIn(each, bullet, context)
    for (const each of Object.values(named)) reportQuotedIn(each, bullet, context)
  }
}

function reportQuotedIn(source: string, bullet: Bullet, context: StepContext): void {
  const name = source.includes('"') && source.includes('$') ? quotedName.exec(source)?.[1] : undefined
  if (name === undefined || !isKnown(context.scope, name, true)) return
  const at = Math.max(0, bullet.text.indexOf(`$${name}`))
  reportAt(bullet, at, at + name.length + 1, context).error(
    'invalid_expression',
    `\`$${name}\` in quotes is text, not its value`,
    `put an f before the quotes and braces around the name: f"… {$${name}} …"`,
  )
}

/** Says that nothing sets a variable. */
export function reportUnset(
  name: string,
  sigil: boolean,
  bullet: Bullet,
  start: number,
  end: number,
  context: StepContext,
): void {
  if (context.findings.isFull) return
  // Each look takes in many names, so it is not taken for nothing, nor for every mistake in a text full of them.
  const near =
    context.scope.elsewhere === null || !context.findings.mayAdvise()
      ? null
      : nearestVariable(name, context.scope)
  const message = `nothing sets \`${sigil ? '$' : ''}${name}\``
  reportAt(bullet, start, end, context).error(
    'unset_variable',
    message,
    near === null ? (sigil ? null : 'text needs quotes') : `did you mean \`${near}\`?`,
  )
}

/** A way to report at a stretch of a bullet. */
export function reportAt(bullet: Bullet, start: number, end: number, context: StepContext) {
  const place = { text: bullet.place, start: bullet.at + start, end: bullet.at + end }
  return {
    error: (...[code, message, suggestion]: ReportArguments) =>
      context.findings.error(code, place, message, suggestion),
    warn: (...[code, message, suggestion]: ReportArguments) =>
      context.findings.warn(code, place, message, suggestion),
  }
}

type ReportArguments = [code: Parameters<Findings['error']>[0], message: string, suggestion?: string | null]

/** Notes that a bullet reads a variable. */
export function noteRead(name: string, bullet: Bullet, context: StepContext): void {
  context.uses.noteRead(name, bullet, context.playbook)
}

/** The target of that name, noted as written. */
export function writeTarget(
  name: string,
  sigil: boolean,
  bullet: Bullet,
  context: StepContext,
  type: ValueType = 'any',
): Target {
  context.uses.noteWrite(name, bullet, context.playbook)
  const target = targetIn(context.scope, name, sigil, type)
  if (target.scope === 'state') context.scope.state.add(name)
  return target
}

function nearestVariable(name: string, scope: Scope): string | null {
  return nearestName(name, firstNames(scope))
}

/** So many names are compared with a wrong one. */
const mostCompared = 1000

function* firstNames({ state, locals, parameters }: Scope): Iterable<string> {
  let count = 0
  for (const names of [state.names, locals, parameters.keys()]) {
    for (const name of names) {
      if (++count > mostCompared) return
      yield name
    }
  }
}

/** So many names are looked for one by one. */
const fewNames = 16

/** The variables that words mention, with `$`; known ones without it too. */
export function mentioned(text: string, scope: Scope): string[] {
  const sigils = text.includes('$')
  const own = mayMentionOwn(text, scope)
  if (!sigils && !own) return []
  const names = new Set(sigils ? sigilNames(text) : [])
  if (own) {
    for (const word of text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []) {
      if (scope.locals.has(word) || scope.parameters.has(word)) names.add(word)
    }
  }
  return [...names]
}

/** A glance before the text is taken apart: most words mention none of a few names. */
function mayMentionOwn(text: string, { locals, parameters }: Scope): boolean {
  if (locals.size + parameters.size > fewNames) return true
  for (const name of locals) if (text.includes(name)) return true
  for (const name of parameters.keys()) if (text.includes(name)) return true
  return false
}

/** The known variables that words read, noted; those that nothing sets are errors. */
export function readsOf(
  text: string,
  bullet: Bullet,
  context: StepContext,
  except: readonly string[] = [],
): string[] {
  return mentioned(text, context.scope).filter((name) => {
    if (except.includes(name)) return false
    if (isKnown(context.scope, name, true)) {
      noteRead(name, bullet, context)
      return true
    }
    const at = bullet.text.indexOf(`$${name}`)
    reportUnset(name, true, bullet, Math.max(0, at), Math.max(0, at) + name.length + 1, context)
    return false
  })
}
