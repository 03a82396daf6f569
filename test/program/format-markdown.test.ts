import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MarkdownBlock } from '../../src/document/markdown-block.ts'
import { parseMarkdown } from '../../src/document/parse-markdown.ts'
import { randomOutline } from './random-outline.ts'
import { sectionNamed } from '../../src/playbook/markdown/program-draft.ts'
import { formatMarkdown } from '../../src/playbook/markdown-format/format-markdown.ts'

/** Everything but what a formatter may change. */
function essence(text: string): string {
  return text
    .replace(/^[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]|\r?$)/gm, '')
    .replace(/^[ \t]*#{2,3}\s*(trigger|step|note)s?\s*:?\s*#*\s*$/gim, '$1')
    .replace(/^(#+)[ \t]+(.*?)[ \t]*#*$/gm, '$1$2')
    .replace(/[ \t\r\n\uFEFF]+/g, '')
    .toLowerCase()
}

/** The blocks of a text without their places; headings that may be sections, without their level. */
function outlineOf(text: string): unknown {
  const strip = (block: MarkdownBlock): unknown => {
    switch (block.kind) {
      case 'heading':
        return (block.level > 1 ? sectionNamed(block.text.text) : null) ?? `${block.level} ${block.text.text}`
      case 'item':
        return { item: block.text.text, children: block.children.map(strip) }
      case 'paragraph':
        return { paragraph: block.text.text }
      case 'code':
        return { code: block.content.text }
      case 'template':
        return { template: block.text.text }
      case 'break':
        return '---'
    }
  }
  return parseMarkdown(text).blocks.map(strip)
}

describe('formatting a Markdown playbook', () => {
  it('writes headings, bullets, nesting and blank lines in one way', () => {
    const text = [
      '# Desk',
      'Prose stays  ',
      '  as it is.',
      '## Main',
      '### trigger',
      '',
      '* At the beginning',
      '',
      '',
      '## Steps',
      '',
      '1. if $x > 1',
      '    * say "a"',
      '      and more',
      '',
      '    * RETURN $x',
      '2. otherwise',
      '\t+ end program',
      '### Note:',
      '*   Be kind',
      '',
      '',
    ].join('\n')
    expect(formatMarkdown(text)).toBe(
      [
        '# Desk',
        'Prose stays',
        '  as it is.',
        '',
        '## Main',
        '',
        '### Triggers',
        '- At the beginning',
        '',
        '### Steps',
        '- If $x > 1',
        '  - Say "a"',
        '    and more',
        '',
        '  - Return $x',
        '- Otherwise',
        '  - End program',
        '',
        '### Notes',
        '- Be kind',
        '',
      ].join('\n'),
    )
  })

  it('keeps front matter, code, templates, comments and numbered prose as they are', () => {
    const text = [
      '---',
      'tools:   [a]  ',
      '',
      '',
      'x: 1',
      '---',
      '',
      '## Main',
      'Two things:',
      '1. one',
      '   * two',
      '',
      '<!-- keep',
      '',
      '',
      '   this  -->',
      '```python',
      'def f():  ',
      '',
      '',
      '    - x',
      '```',
      '<out>',
      '## Not a heading',
      '',
      '',
      '* x',
      '</out>',
      '',
    ].join('\n')
    expect(formatMarkdown(text)).toBe(text)
  })

  it('moves code with the bullet it belongs to', () => {
    const text = '## A\n\n### Steps\n* a\n    * b\n\n        ```\n        x\n          y\n        ```\n'
    expect(formatMarkdown(text)).toBe('## A\n\n### Steps\n- a\n  - b\n\n    ```\n    x\n      y\n    ```\n')
  })

  it('keeps the line breaks and the mark at the beginning of the file', () => {
    expect(formatMarkdown('\uFEFF## A\r\n### steps\r\n* a  \r\n')).toBe(
      '\uFEFF## A\r\n\r\n### Steps\r\n- a\r\n',
    )
  })

  it('leaves names that only begin like a keyword', () => {
    const text = '## A\n\n### Steps\n- return($x)\n- iffy\n- set_total($x)\n- say.it()\n'
    expect(formatMarkdown(text)).toBe(text)
  })

  it.each(['all', 'bullets', 'blanks'] as const)('changes nothing the second time (%s)', (level) => {
    fc.assert(
      fc.property(randomOutline, (text) => {
        const once = formatMarkdown(text, level)
        expect(formatMarkdown(once, level)).toBe(once)
      }),
      { numRuns: 500 },
    )
  })

  it.each(['bullets', 'blanks'] as const)('keeps the outline (%s)', (level) => {
    fc.assert(
      fc.property(randomOutline, (text) => {
        // What is imported is read with its own lines in place; how it is indented is looked at where it is read.
        fc.pre(!text.includes('!import') && !/^\s+# not/m.test(text))
        expect(outlineOf(formatMarkdown(text, level))).toEqual(outlineOf(text))
      }),
      { numRuns: 500 },
    )
  })

  it('loses and adds nothing but blanks and signs', () => {
    fc.assert(
      fc.property(randomOutline, (text) => {
        expect(essence(formatMarkdown(text))).toBe(essence(text))
      }),
      { numRuns: 500 },
    )
  })
})
