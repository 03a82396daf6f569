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

/** A template, what it reads, and what is worth saying about it; ranges count from the beginning of the words. */
export interface ReadTemplate {
  readonly computation: Computation
  readonly names: readonly NameUse[]
  readonly problems: readonly ExpressionProblem[]
  /** Braces that belong to no placeholder and stand for themselves. */
  readonly braces: readonly { readonly start: number; readonly end: number; readonly text: string }[]
  readonly holes: number
}

const dollar = /\$[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*|\[(?:\d+|"[^"\]]*"|'[^'\]]*')\])*/uy

/** What can only stand for itself. */
const plain = /[^{}$]+/y

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
  const lifter = new Lifter(words, options.callables, options.agent)
  const braces: { start: number; end: number; text: string }[] = []
  let source = ''
  let holes = 0
  let literal = 0
  let at = 0
  while (at < words.length) {
    plain.lastIndex = at
    const run = plain.exec(words)?.[0]
    if (run !== undefined) {
      source += run
      at += run.length
      continue
    }
    const sign = words[at]!
    if (sign === '}' && literal > 0) {
      // It closes a brace that stands for itself, so it does too, even where another one follows.
      literal -= 1
      source += '}}'
      at += 1
    } else if ((sign === '{' || sign === '}') && words[at + 1] === sign) {
      source += sign + sign
      at += 2
    } else if (sign === '{') {
      const hole = holeAt(words, at)
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
    } else if (sign === '$' && options.dollars && isVariableAt(words, at)) {
      dollar.lastIndex = at
      const found = dollar.exec(words)![0]
      const name = /^\$([\p{L}_][\p{L}\p{N}_]*)/u.exec(found)![1]!
      lifter.names.push({ name, sigil: true, start: at, end: at + name.length + 1 })
      source += `{${found}}`
      holes += 1
      at += found.length
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
  return {
    computation: { form: 'template', source: '', calls: [] },
    names: [],
    problems: [problem],
    braces: [],
    holes: 0,
  }
}

function isVariableAt(words: string, at: number): boolean {
  dollar.lastIndex = at
  return dollar.test(words)
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
