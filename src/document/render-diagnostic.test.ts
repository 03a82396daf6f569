import { describe, expect, it } from 'vitest'
import type { Diagnostic } from './diagnostic.ts'
import { parseDocument } from './parse-document.ts'
import { renderDiagnostic, type RenderOptions } from './render-diagnostic.ts'

const found: Diagnostic = {
  code: 'unknown_key',
  severity: 'error',
  message: 'unknown key `expected_tool` in step `a`',
  file: 'refund.yaml',
  line: 3,
  column: 5,
  endLine: 3,
  endColumn: 18,
  suggestion: 'did you mean `expected_tools`?',
  path: ['steps', 0, 'expected_tool'],
}
const render = (options: Partial<RenderOptions>, diagnostic: Partial<Diagnostic> = {}) =>
  renderDiagnostic(
    { ...found, ...diagnostic },
    { format: 'pretty', lineText: () => '    expected_tool: [x]', ...options },
  )

describe('renderDiagnostic', () => {
  it('quotes the line for people, marks the place and says what to do', () => {
    expect(render({})).toBe(
      [
        'refund.yaml:3:5 error unknown_key',
        '  unknown key `expected_tool` in step `a`',
        '  3 |     expected_tool: [x]',
        '    |     ^^^^^^^^^^^^^',
        '  help: did you mean `expected_tools`?',
      ].join('\n'),
    )
  })

  it('colours only when asked', () => {
    expect(render({})).not.toContain('\u001b')
    expect(render({ colour: true })).toContain('\u001b[31merror\u001b[39m')
  })

  it('writes one line per problem for editors', () => {
    expect(render({ format: 'unix' })).toBe(
      'refund.yaml:3:5: error unknown_key unknown key `expected_tool` in step `a`, did you mean `expected_tools`?',
    )
  })

  it('writes JSON that parses back', () => {
    expect(JSON.parse(render({ format: 'json' }))).toEqual(found)
  })

  it('escapes what GitHub would read as a command', () => {
    expect(render({ format: 'github' }, { file: 'a,b:c%.yaml', message: '100%\n::warning::x' })).toBe(
      '::error file=a%2Cb%3Ac%25.yaml,line=3,col=5,endLine=3,endColumn=18,title=unknown_key::100%25\\u000a::warning::x, did you mean `expected_tools`?',
    )
  })

  it.each(['pretty', 'unix', 'github', 'json'] as const)(
    'lets no control character through to a terminal: %s',
    (format) => {
      const text = render(
        { format, lineText: () => 'a: \u001b[2Jx \u202e' },
        { message: 'bad \u001b]0;x\u0007 \u009b', suggestion: '\u001b', file: '\u001b.yaml' },
      )
      // oxlint-disable-next-line no-control-regex -- what must not be there
      expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
    },
  )

  it('cuts long lines around the place', () => {
    const line = `${'x'.repeat(500)}HERE${'y'.repeat(500)}`
    const [, , quoted, marks] = render({ lineText: () => line }, { column: 501, endColumn: 505 }).split('\n')
    expect(quoted!.length).toBeLessThan(130)
    expect(quoted!.slice(marks!.indexOf('^'), marks!.lastIndexOf('^') + 1)).toBe('HERE')
  })

  it('marks the right place after wide letters, tabs and control characters', () => {
    const line = '日本\t\u0007: bad'
    const [, , , marks] = render({ lineText: () => line }, { column: 7, endColumn: 10 }).split('\n')
    expect(marks).toBe(`    | ${' '.repeat(4 + 1 + 6 + 2)}^^^`)
  })

  it('marks to the end of the line what goes on beyond it', () => {
    const [, , , marks] = render({ lineText: () => 'a: [x,' }, { column: 4, endLine: 9 }).split('\n')
    expect(marks).toBe('    |    ^^^')
  })

  it('shows what has no place without one', () => {
    const { diagnostics } = parseDocument('', { format: 'yaml', file: 'x.yaml' })
    expect(renderDiagnostic(diagnostics[0]!, { format: 'pretty', lineText: () => '' })).toBe(
      'x.yaml:1:1 error empty_document\n  the document is empty',
    )
    expect(render({}, { line: null, column: null, endLine: null, endColumn: null })).toContain(
      'refund.yaml error',
    )
  })
})
