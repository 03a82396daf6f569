import {
  type Alias,
  type CST,
  Composer,
  type Document,
  Lexer,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  isAlias,
  isMap,
  isScalar,
  isSeq,
} from 'yaml'
import type { DocumentNode, MapEntry, Span } from './document-node.ts'
import { isExactNumber } from './exact-number.ts'
import { maxDocumentDepth, maxDocumentValues } from './limits.ts'
import { inexact } from './parse-json.ts'
import type { ParsedText, TextProblem } from './parsed-text.ts'

const maxTokens = 500_000
const maxAliasedValues = 10_000
const maxErrors = 20
const coreTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
)

/** Reads one YAML 1.2 document into a tree with places; aliases are written out. Never throws. */
export function parseYaml(text: string): ParsedText {
  const tokens = readTokens(text)
  if (!Array.isArray(tokens)) return { root: null, problems: [tokens] }
  const documents = new Composer({
    // Keys are compared below: the library compares each with each, which a long mapping turns into minutes.
    uniqueKeys: false,
    stringKeys: true,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: 'silent',
  }).compose(tokens, true, text.length)
  const [document, second] = withoutStacks(() => [...documents.take(2)]) as [
    Document.Parsed,
    Document.Parsed?,
  ]
  const problems = syntaxProblems(document)
  if (second !== undefined) {
    const start = second.range[0]
    problems.push({
      code: 'multiple_documents',
      message: 'the file holds more than one YAML document',
      span: { start, end: start + 3 },
      suggestion: 'keep one playbook per file',
    })
  }
  if (problems.length === 0 && isNothing(document.contents)) {
    problems.push({ code: 'empty_document', message: 'the document is empty', span: { start: 0, end: 0 } })
  }
  if (problems.length > 0 || document.contents === null) return { root: null, problems }
  const builder = new TreeBuilder(text)
  const root = builder.build(document.contents, 0)
  // Half a tree would only give misleading problems.
  const tooLarge = builder.problems.filter((problem) => problem.code === 'document_too_large')
  return tooLarge.length > 0 ? { root: null, problems: tooLarge } : { root, problems: builder.problems }
}

/** A hostile text makes hundreds of thousands of errors, and tracing the stack of each is nearly all the work. */
function withoutStacks<T>(work: () => T): T {
  const limit: unknown = Reflect.get(Error, 'stackTraceLimit')
  Reflect.set(Error, 'stackTraceLimit', 0)
  try {
    return work()
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit)
  }
}

/** Comments alone, or a bare document marker, hold nothing. */
function isNothing(contents: Node | null): boolean {
  return (
    contents === null || (isScalar(contents) && contents.value === null && (contents.source ?? '') === '')
  )
}

/** The tokens of the text, or the problem that keeps it from being read further. */
function readTokens(text: string): CST.Token[] | TextProblem {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let lexemes = 0
  let documents = 0
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token)
      if (token.type === 'document') documents += 1
    }
    // A second document is refused whatever it holds, so nothing behind it is read.
    if (documents > 1) break
    const span = { start: parser.offset, end: parser.offset + 1 }
    // What follows is recursive, so this is the last place where deep nesting is harmless.
    if (parser.stack.length > maxDocumentDepth + 4) return tooDeep(span)
    if (++lexemes > maxTokens) {
      return { code: 'document_too_large', message: `the document has more than ${maxTokens} tokens`, span }
    }
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

function syntaxProblems(document: Document.Parsed): TextProblem[] {
  const problems = document.errors.slice(0, maxErrors).map((error): TextProblem => {
    const span = { start: error.pos[0], end: error.pos[1] }
    if (error.code === 'RESOURCE_EXHAUSTION') return tooDeep(span)
    return {
      code: 'invalid_yaml',
      message: `Invalid YAML: ${firstLine(error.message)}`,
      span,
      ...adviceFor(error.message),
    }
  })
  for (const warning of document.warnings.slice(0, maxErrors)) {
    const span = { start: warning.pos[0], end: warning.pos[1] }
    if (warning.code === 'TAG_RESOLVE_FAILED')
      problems.push(unsupportedTag(warning.message.replace(/^Unresolved tag: /, ''), span))
    else problems.push({ code: 'invalid_yaml', message: `Invalid YAML: ${firstLine(warning.message)}`, span })
  }
  if (document.directives.yaml.version !== '1.2') {
    problems.push({
      code: 'invalid_yaml',
      message: 'Invalid YAML: only version 1.2 is supported',
      span: { start: 0, end: 5 },
    })
  }
  return problems
}

function adviceFor(message: string): { suggestion?: string } {
  if (message.includes('Nested mappings are not allowed'))
    return { suggestion: 'put a text that contains ": " in quotes' }
  return message.includes('Tabs are not allowed') ? { suggestion: 'indent with spaces' } : {}
}

/** Turns the library's nodes into ours and writes aliases out, with a limit on how much they may add. */
class TreeBuilder {
  readonly problems: TextProblem[] = []
  readonly #text: string
  readonly #anchors = new Map<string, DocumentNode | 'open'>()
  #aliased = 0
  #values = 0

  constructor(text: string) {
    this.#text = text
  }

  build(node: Node, depth: number): DocumentNode {
    const span = spanOf(node)
    if (++this.#values > maxDocumentValues) return this.#tooMany(span)
    if (isAlias(node)) return this.#follow(node, span)
    if (node.tag !== undefined && !coreTags.has(node.tag)) this.problems.push(unsupportedTag(node.tag, span))
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, 'open')
    const built = this.#buildContent(node, span, depth)
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, built)
    return built
  }

  #tooMany(span: Span): DocumentNode {
    if (this.#values === maxDocumentValues + 1) {
      const message = `the document has more than ${maxDocumentValues} values`
      this.problems.push({ code: 'document_too_large', message, span })
    }
    return empty(span)
  }

  #buildContent(node: Exclude<Node, Alias>, span: Span, depth: number): DocumentNode {
    if (isScalar(node)) return this.#buildScalar(node, span)
    if (depth >= maxDocumentDepth) {
      this.problems.push(tooDeep(span))
      return empty(span)
    }
    if (isSeq<Node>(node)) {
      return { kind: 'list', items: node.items.map((item) => this.build(item, depth + 1)), span }
    }
    return isMap(node) ? this.#buildMap(node.items as Pair<Node, Node | null>[], span, depth) : empty(span)
  }

  #buildMap(pairs: readonly Pair<Node, Node | null>[], span: Span, depth: number): DocumentNode {
    const entries = new Map<string, MapEntry>()
    for (const { key, value } of pairs) {
      const at = spanOf(key)
      if (!isScalar(key) || typeof key.value !== 'string') {
        this.problems.push({
          code: 'invalid_yaml',
          message: 'Invalid YAML: keys must be plain texts',
          span: at,
        })
        continue
      }
      const built = value === null ? empty({ start: at.end, end: at.end }) : this.build(value, depth + 1)
      if (!key.value.isWellFormed()) this.problems.push(notUnicode(at))
      if (entries.has(key.value)) {
        this.problems.push({
          code: 'duplicate_key',
          message: `the key \`${key.value}\` occurs twice`,
          span: at,
        })
      } else entries.set(key.value, { key: at, value: built })
    }
    return { kind: 'map', entries, span }
  }

  #buildScalar(node: Scalar, span: Span): DocumentNode {
    const { value, source = '' } = node
    if (typeof value === 'number' && !(Number.isFinite(value) && isExactNumber(source.replaceAll('_', '')))) {
      this.problems.push(inexact(source, span))
      return { kind: 'scalar', value: 0, span, verbatimAt: null }
    }
    if (typeof value === 'string') {
      if (!value.isWellFormed()) this.problems.push(notUnicode(span))
      return { kind: 'scalar', value, span, verbatimAt: this.#verbatimAt(node, value, span) }
    }
    if (value === null || typeof value === 'boolean' || typeof value === 'number')
      return { kind: 'scalar', value, span, verbatimAt: null }
    this.problems.push({
      code: 'invalid_yaml',
      message: 'Invalid YAML: this value is not one that JSON has',
      span,
    })
    return empty(span)
  }

  #verbatimAt(node: Scalar, value: string, span: Span): number | null {
    if (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED') {
      const line = value.trimEnd()
      const at = this.#text.indexOf(line, span.start)
      return line === '' || line.includes('\n') || at === -1 || at + line.length > span.end ? null : at
    }
    const at = node.type === 'PLAIN' ? span.start : span.start + 1
    return this.#text.startsWith(value, at) ? at : null
  }

  #follow(alias: Alias, span: Span): DocumentNode {
    const target = this.#anchors.get(alias.source)
    if (target === undefined || target === 'open') {
      const what =
        target === 'open'
          ? `the alias *${alias.source} stands inside what it names`
          : `there is no anchor &${alias.source} before this alias`
      this.problems.push({ code: 'invalid_yaml', message: `Invalid YAML: ${what}`, span })
      return empty(span)
    }
    // Counting on instead of stopping would itself take as long as writing the bomb out.
    if (this.#aliased <= maxAliasedValues) this.#aliased += countValues(target, maxAliasedValues + 1)
    if (this.#aliased <= maxAliasedValues) return target
    if (!this.problems.some((problem) => problem.code === 'too_many_aliases')) {
      this.problems.push({
        code: 'too_many_aliases',
        message: `aliases repeat more than ${maxAliasedValues} values`,
        span,
      })
    }
    return empty(span)
  }
}

/** The number of values in a node, counted no further than the limit. */
function countValues(node: DocumentNode, limit: number): number {
  let count = 1
  if (node.kind === 'scalar') return count
  const inside = node.kind === 'list' ? node.items : [...node.entries.values()].map((entry) => entry.value)
  for (const each of inside) {
    if (count >= limit) break
    count += countValues(each, limit - count)
  }
  return count
}

function spanOf(node: Node): Span {
  const [start, end] = node.range ?? [0, 0]
  return { start, end }
}

function empty(span: Span): DocumentNode {
  return { kind: 'scalar', value: null, span, verbatimAt: null }
}

function tooDeep(span: Span): TextProblem {
  return { code: 'too_deep', message: `values are nested deeper than ${maxDocumentDepth} levels`, span }
}

function unsupportedTag(tag: string, span: Span): TextProblem {
  return { code: 'unsupported_tag', message: `the YAML tag ${firstLine(tag)} is not supported`, span }
}

function notUnicode(span: Span): TextProblem {
  return { code: 'invalid_text', message: 'this text is not valid Unicode (a lone surrogate)', span }
}

function firstLine(message: string): string {
  const line = message.split('\n', 1)[0]!
  return line.length <= 160 ? line : `${line.slice(0, 157)}...`
}
