/** Words with placeholders → a template of the expression language, with the calls in it taken out. */
import { parseFormat } from '../../expression/format-value.ts'
import { expressionLimit } from '../../expression/expression-limit.ts'
import { grammar } from '../../expression/parse-expression.ts'
import { parseHole } from '../../expression/parse-text.ts'
import { SyntaxFailure } from '../../expression/syntax-failure.ts'
import type { TextHole } from '../../expression/syntax-node.ts'
import { TokenCursor } from '../../expression/token-cursor.ts'
import type { Computation } from '../program.ts'
import type { Callables } from './callables.ts'
import { type ExpressionProblem, Lifter, type NameUse } from './lift-calls.ts'
import { nameEnd } from './sigil-names.ts'
import { joinSpokenNames } from './spoken-name.ts'

/** A template, what it reads, and what is worth saying about it; ranges count from the beginning of the words. */
export interface ReadTemplate {
  readonly computation: Computation
  readonly names: readonly NameUse[]
  readonly problems: readonly ExpressionProblem[]
  /** Braces that belong to no placeholder and stand for themselves. */
  readonly braces: readonly { readonly start: number; readonly end: number; readonly text: string }[]
  readonly holes: number
}

/** What is read from a variable. */
const path = /(?:\.[\p{L}_][\p{L}\p{N}_]*|\[(?:\d+|"[^"\]]*"|'[^'\]]*')\])*/uy

/**
 * Reads words. `{expression}` is a placeholder, `{{` a brace, and a brace that begins no expression stays as it is. With
 * `dollars`, `$name` is a placeholder too, and `$10` is money.
 */
export function readTemplate(
  words: string,
  options: {
    readonly callables: Callables
    readonly agent: string
    readonly dollars: boolean
    /** Says whether a bare name is a variable; another one in braces is no placeholder. */
    readonly isName: (name: string, sigil: boolean) => boolean
  },
): ReadTemplate {
  if (words.length > expressionLimit.sourceLength) return tooLong(words)
  if (plainEnd(words, 0) === words.length) return withoutHoles(words)
  // Placeholders may call by names of several words; what is said stays as it is.
  const callable = words.includes('(') ? joinSpokenNames(words, options.callables, options.agent) : words
  const lifter = new Lifter(callable, options.callables, options.agent)
  const braces: { start: number; end: number; text: string }[] = []
  let source = ''
  let holes = 0
  let literal = 0
  let at = 0
  while (at < words.length) {
    const run = plainEnd(words, at)
    if (run > at) {
      source += words.slice(at, run)
      at = run
      continue
    }
    const sign = words[at]!
    const name = sign === '$' && options.dollars ? nameEnd(words, at + 1) : at + 1
    if (sign === '}' && literal > 0) {
      // It closes a brace that stands for itself, so it does too, even where another one follows.
      literal -= 1
      source += '}}'
      at += 1
    } else if ((sign === '{' || sign === '}') && words[at + 1] === sign) {
      source += sign + sign
      at += 2
    } else if (sign === '{') {
      const hole = holeAt(callable, at)
      const mark = lifter.mark()
      const text =
        hole === null || !isPlaceholder(hole, words, options.isName) ? null : lifter.render(hole.value, true)
      const strange = lifter
        .namesSince(mark)
        .some(({ name, sigil }) => !sigil && !options.isName(name, sigil))
      if (hole === null || text === null || strange) {
        lifter.undo(mark)
        const end = hole?.end ?? at + 1
        if (braces.length < 20) braces.push({ start: at, end, text: words.slice(at, Math.min(end, at + 40)) })
        // Only the brace: what follows may hold placeholders of its own.
        source += '{{'
        literal += 1
        at += 1
      } else {
        source += `{${text}${hole.format === null ? '' : `:${hole.format}`}}`
        holes += 1
        at = hole.end
      }
    } else if (sign === '}') {
      source += '}}'
      at += 1
    } else if (name > at + 1) {
      lifter.addName({ name: words.slice(at + 1, name), sigil: true, start: at, end: name })
      path.lastIndex = name
      const end = name + path.exec(words)![0].length
      source += `{${words.slice(at, end)}}`
      holes += 1
      at = end
    } else {
      source += sign
      at += 1
    }
  }
  if (source.length > expressionLimit.sourceLength) return tooLong(words)
  return {
    computation: { form: 'template', source, calls: lifter.calls },
    names: lifter.names,
    problems: lifter.problems,
    braces,
    holes,
  }
}

function tooLong(words: string): ReadTemplate {
  const message = `the text has ${words.length} characters; at most ${expressionLimit.sourceLength} are allowed`
  const problem = {
    code: 'invalid_expression',
    message,
    suggestion: null,
    start: 0,
    end: words.length,
  } as const
  return { ...withoutHoles(''), problems: [problem] }
}

function withoutHoles(source: string): ReadTemplate {
  return {
    computation: { form: 'template', source, calls: [] },
    names: [],
    problems: [],
    braces: [],
    holes: 0,
  }
}

/** Where what can only stand for itself ends. */
function plainEnd(words: string, from: number): number {
  for (let at = from; at < words.length; at++) {
    const code = words.charCodeAt(at)
    if (code === 36 || code === 123 || code === 125) return at
  }
  return words.length
}

/** More than any placeholder needs; what is longer or deeper is data, and not worth trying to read from every brace. */
const longestHole = 1000
const deepestHole = 20

function holeAt(words: string, at: number): TextHole | null {
  if (!closes(words, at)) return null
  try {
    return parseHole(new TokenCursor(words, at), at, grammar)
  } catch (failure) {
    if (failure instanceof SyntaxFailure) return null
    throw failure
  }
}

/** Whether the brace is closed soon; a glance before the parser is asked. */
function closes(words: string, open: number): boolean {
  let depth = 0
  let quote = ''
  for (let at = open; at < words.length && at - open < longestHole && depth <= deepestHole; at++) {
    const sign = words[at]!
    if (quote !== '') {
      if (sign === '\\') at++
      else if (sign === quote) quote = ''
    } else if (sign === '"' || sign === "'") quote = sign
    else if (sign === '{' || sign === '[' || sign === '(') depth++
    else if (sign === '}' || sign === ']' || sign === ')') {
      if (--depth === 0) return sign === '}'
    }
  }
  return false
}

/** `{"balance": 8999}` parses as a text with a format; it is data all the same. */
function isPlaceholder(
  hole: TextHole,
  words: string,
  isName: (name: string, sigil: boolean) => boolean,
): boolean {
  if (hole.value.kind === 'literal') return false
  if (hole.format !== null && parseFormat(hole.format) === null) return false
  if (hole.value.kind === 'name' && !hole.value.sigil) return isName(hole.value.name, false)
  return words[hole.start + 1] !== '\n'
}
