import { diagnosticWithoutPlace } from '../../document/source-document.ts'
import { type MarkdownLine, splitLines } from '../../document/markdown-line.ts'
import { isTooLong } from '../../document/parse-document.ts'
import type { Findings } from './findings.ts'

/** A text and the file it stands in. */
export interface ProgramSource {
  readonly file: string
  readonly text: string
}

/** Finds what an import names; a problem is a sentence. */
export type ResolveImport = (path: string, from: string) => ProgramSource | { readonly problem: string }

const deepest = 10
const mostImports = 200
const importForm = /^([ \t]*)!import[ \t]+(\S.*?)[ \t]*$/
const fence = /^[ \t]*(`{3,}|~{3,})/

/** The lines of each source, every `!import ./path` replaced by the lines of that file, indented as it was. */
export function expandImports(
  sources: readonly ProgramSource[],
  resolve: ResolveImport | undefined,
  findings: Findings,
): MarkdownLine[][] {
  const expander = new Expander(resolve, findings)
  return sources.map((source) => {
    expander.lines = []
    expander.add(source, '', [])
    return expander.lines
  })
}

class Expander {
  lines: MarkdownLine[] = []
  readonly #resolve: ResolveImport | undefined
  readonly #findings: Findings
  #imports = 0

  constructor(resolve: ResolveImport | undefined, findings: Findings) {
    this.#resolve = resolve
    this.#findings = findings
  }

  add(source: ProgramSource, indent: string, above: readonly string[]): void {
    const refused = refusal(source.text)
    if (refused !== null) {
      this.#findings.diagnostics.push(diagnosticWithoutPlace(refused, source.file))
      return
    }
    const lines = splitLines(source.text, source.file)
    if (indent === '' && !source.text.includes('!import')) {
      if (this.lines.length === 0) this.lines = lines
      else for (const line of lines) this.lines.push(line)
      return
    }
    let open: string | null = null
    for (const line of lines) {
      const sign =
        line.text.includes('```') || line.text.includes('~~~') ? (fence.exec(line.text)?.[1] ?? null) : null
      if (sign !== null && (open === null || (sign[0] === open[0] && sign.length >= open.length)))
        open = open === null ? sign : null
      const found = open === null && line.text.includes('!import') ? importForm.exec(line.text) : null
      if (found !== null) this.#import(found[2]!, indent + found[1]!, line, source, above)
      else
        this.lines.push(
          indent === '' || line.text === ''
            ? line
            : { ...line, text: indent + line.text, shift: indent.length },
        )
    }
  }

  #import(
    path: string,
    indent: string,
    line: MarkdownLine,
    from: ProgramSource,
    above: readonly string[],
  ): void {
    const refuse = (message: string, suggestion: string | null = null): void =>
      this.#findings.error('import_refused', line, message, suggestion)
    if (/^[a-z][a-z0-9+.-]*:/i.test(path))
      return refuse(`\`${path.slice(0, 80)}\` is an address; only files below the folder can be imported`)
    if (this.#resolve === undefined)
      return refuse('imports cannot be followed here', 'check the file itself instead of its text')
    if (above.length >= deepest) return refuse(`imports are nested deeper than ${deepest} levels`)
    if (++this.#imports > mostImports) return refuse(`there are more than ${mostImports} imports`)
    const found = this.#resolve(path, from.file)
    if ('problem' in found) return refuse(found.problem)
    const chain = [...above, from.file]
    if (chain.includes(found.file))
      return refuse(`\`${path}\` imports itself: ${[...chain, found.file].join(' → ')}`)
    this.add(found, indent, chain)
  }
}

function refusal(text: string): { code: 'document_too_large' | 'invalid_text'; message: string } | null {
  if (isTooLong(text)) return { code: 'document_too_large', message: 'the document is larger than 1 MB' }
  if (text.includes('\0'))
    return { code: 'invalid_text', message: 'the document holds NUL characters: it is not text' }
  return null
}
