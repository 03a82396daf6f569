/** What holds for every text: no throw, places inside the text, time in proportion to the length. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMarkdown } from '../../src/document/parse-markdown.ts'
import { type MarkdownBlock, placeInText } from '../../src/document/markdown-block.ts'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'

const fragments = [
  '# Agent',
  '# Bob:Human',
  '## Main($x, $y:int=3) -> str',
  '## Other',
  '### Triggers',
  '### Steps',
  '### Notes',
  '## Steps',
  '---',
  '```',
  '```python',
  '@playbook',
  'def f(a, b=1):',
  '<!--',
  '-->',
  '<tag>',
  '</tag>',
  'public: true',
  'execution_mode: raw',
  '- ',
  '  - ',
  '    - ',
  '\t- ',
  '1. ',
  '* ',
  '$x = ',
  '$x is ',
  'x is 10',
  'Set $x to 0',
  'Add $x to $list',
  'Increment $x',
  'If $x > 3',
  'If $x > 3, ',
  'Otherwise',
  'Otherwse',
  'Else if ',
  'While ',
  'Until ',
  'For each $i in $list',
  'Repeat 3 times',
  'up to 3 times',
  'Return ',
  'End program',
  'Wait 5 minutes',
  'Ask user for $y',
  'Tell user "',
  '"',
  'Say {$x}',
  '{',
  '}',
  '{{',
  '}}',
  'Other($x)',
  'Other(',
  ')',
  'Agent.Other()',
  'is between 1 and 10',
  ' and ',
  ' or ',
  'Always check $x before calling Other',
  'When $x exceeds 3',
  '!import ./a.md',
  '\n',
  '\n',
  '\n',
  '\n\n',
  '\r\n',
  ' ',
  '  ',
  '\t',
  '$',
  '$10',
  "'",
  '\\',
  'é',
  '😀',
  '\u2028',
  '0'.repeat(40),
  ' '.repeat(80),
]
const texts = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.constantFrom(...fragments), { maxLength: 60 })
      .map((parts) => `## A\n### Steps\n${parts.join('')}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
)

test('a text is read or refused, never thrown at, and every finding lies inside it', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const { program, diagnostics, kind } = parseProgram([{ file: 'a.md', text }], {
        resolveImport: () => ({ file: 'b.md', text: '- Say "x"' }),
      })
      const lines = text.split(/\n/)
      const errors = diagnostics.filter(({ severity }) => severity === 'error')
      expect(program === null).toBe(errors.length > 0)
      if (kind === 'ordinary document') expect(errors).toHaveLength(1)
      for (const { file, line, column, endLine, endColumn } of diagnostics) {
        if (line === null || file === 'b.md') continue
        const length = (at: number) => lines[at - 1]!.length
        expect(line).toBeLessThanOrEqual(lines.length)
        expect(column).toBeGreaterThan(0)
        expect(column).toBeLessThanOrEqual(length(line) + 2)
        expect(endLine).toBeGreaterThanOrEqual(line)
        expect(endColumn).toBeLessThanOrEqual(length(endLine!) + 2)
      }
    }),
    { numRuns: 2000 },
  )
})

test('every piece of the outline stands in the text where it says', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const visit = (blocks: readonly MarkdownBlock[]): void => {
        for (const block of blocks) {
          if (block.kind === 'break') continue
          const own = block.kind === 'code' ? block.content : block.text
          own.text.split('\n').forEach((line, index) => {
            const piece = own.pieces[index]
            // A gap or a comment in the line parts what is compared here; its beginning holds.
            if (piece === undefined || line === '') return
            expect(piece.line.text.slice(piece.column, piece.column + 1)).toBe(line.slice(0, 1))
            expect(placeInText(own, piece.at)).toEqual({ line: piece.line, column: piece.column + 1 })
            expect(text.slice(piece.line.offset, piece.line.offset + piece.line.text.length)).toBe(
              piece.line.text,
            )
          })
          if (block.kind === 'item') visit(block.children)
        }
      }
      visit(parseMarkdown(text).blocks)
    }),
    { numRuns: 1000 },
  )
})

/** The least CPU time of several tries, in milliseconds. */
function cost(work: () => void): number {
  let least = Infinity
  for (let index = 0; index < 3; index++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return Math.max(least, 1)
}

describe('four times the text takes about four times as long', () => {
  const shapes: Record<string, (count: number) => string> = {
    playbooks: (n) =>
      Array.from(
        { length: n },
        (_, at) =>
          `## P${at}($a)\nDoes {$a}.\n### Steps\n- If $a > 1\n  - Apply free shipping to P${at}\n- Return $a\n`,
      ).join(''),
    'agents of one name': (n) => '# A\n## B\n### Steps\n- Say "x"\n'.repeat(n * 8),
    'steps of one playbook': (n) =>
      `## A\n### Steps\n${Array.from({ length: n * 6 }, (_, at) => `- $x${at} = ${at}\n`).join('')}`,
    'one long bullet': (n) => `## A\n### Steps\n- ${'word $x '.repeat(n * 12)}`,
    blanks: (n) => `## A\n### Steps\n- Say "a"${' '.repeat(n * 100)}b\n`,
    'unknown calls': (n) =>
      `## A\n### Steps\n${Array.from({ length: n * 4 }, (_, at) => `- Missing${at}(1)\n`).join('')}`,
    'empty headings': (n) => `## A\n### Steps\n${'#\n'.repeat(n * 40)}`,
    fences: (n) => `## A\n### Steps\n${'```\n'.repeat(n * 20 + 1)}`,
    'opened tags': (n) => `## A\n### Steps\n${'<a>\n'.repeat(n * 20)}${'</a>\n'.repeat(n * 20)}`,
    comments: (n) => `## A\n### Steps\n${'<!-- '.repeat(n * 20)}`,
    'long descriptions': (n) => `## A($x)\n${'{ ['.repeat(n * 20)}\n### Steps\n- End program\n`,
    braces: (n) => `## A\n### Steps\n${`- Tell user "${'{ ['.repeat(900)}"\n`.repeat(n / 20)}`,
    commas: (n) => `## A($x)\n### Steps\n- If $x > 1 ${','.repeat(n * 7)} y\n`,
    'commas or not': (n) => `## A($x)\n### Steps\n- If ${', '.repeat(n * 3)} or $x\n`,
    dashes: (n) => `## A\n### Steps\n${'- '.repeat(n * 30)}`,
    quotes: (n) => `## A\n### Steps\n- Tell user ${'"a" '.repeat(n * 20)}\n`,
  }
  test.each(Object.entries(shapes))('%s', (_, shape) => {
    const [small, large] = [shape(300), shape(1200)]
    const run = (text: string) => cost(() => void parseProgram([{ file: 'a.md', text }]))
    run(small)
    // Sixteen would be quadratic, every time; a pause of the collector is not.
    const ratios = Array.from({ length: 3 }, () => run(large) / run(small))
    expect(Math.min(...ratios)).toBeLessThan(11)
  })
})

test('what is too large, too deep or no text is refused at once', () => {
  const code = (text: string) => parseProgram([{ file: 'a.md', text }]).diagnostics.map((each) => each.code)
  expect(code('- a\n'.repeat(300_000))).toEqual(['document_too_large'])
  expect(code('x'.repeat(50_000_000))).toEqual(['document_too_large'])
  expect(code('## A\n### Steps\n- a\0b')).toEqual(['invalid_text'])
  const deep = Array.from({ length: 200 }, (_, at) => `${'  '.repeat(at)}- If $x > 1`).join('\n')
  expect(code(`## A($x)\n### Steps\n${deep}`)).toEqual(['too_deep'])
})
