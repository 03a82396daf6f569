import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomOutline } from './random-outline.ts'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'
import { formatMarkdown } from '../../src/playbook/markdown-format/format-markdown.ts'
import { formatProgram, meaningOf } from '../../src/playbook/markdown-format/format-program.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const fixtures = process.env['LOCKSTEP_FIXTURES']

function read(text: string) {
  const names = [...new Set(text.match(/\b[a-z_]+(?=\()/g) ?? [])]
  const tools = names.map((name) => ({ name, parameters: ['a', 'b', 'c'], risk: 'read' as const }))
  return parseProgram([{ file: 'x.pb', text }], { tools }).program
}

function expectSame(text: string): boolean {
  const before = read(text)
  if (before === null) return false
  const { text: formatted } = formatProgram(text, read)
  expect(formatted).not.toBeNull()
  expect(meaningOf(read(formatted!)!)).toBe(meaningOf(before))
  expect(formatProgram(formatted!, read).text).toBe(formatted)
  return true
}

describe('formatting a program', () => {
  it('changes no meaning, and nothing the second time, for whatever reads as a program', () => {
    let programs = 0
    fc.assert(
      fc.property(randomOutline, (text) => {
        if (expectSame(`## Start\n### Steps\n- $total = 1\n- $items = []\n- $name = "a"\n${text}`)) programs++
      }),
      { numRuns: 400 },
    )
    expect(programs).toBeGreaterThan(10)
  })

  it('changes no meaning of the examples, however they are written', () => {
    for (const name of readdirSync(examples).filter((each) => each.endsWith('.md'))) {
      const text = readFileSync(join(examples, name), 'utf8')
      expect(expectSame(text), name).toBe(true)
      const wild = text
        .replace(/^( *)- /gm, '$1$1* ')
        .replaceAll('### ', '###   ')
        .replace(/^- If /gm, '- if ')
      expect(expectSame(wild), name).toBe(true)
    }
  })

  it('changes no meaning of real programs', ({ skip }) => {
    if (fixtures === undefined) return skip('LOCKSTEP_FIXTURES is not set')
    const folder = join(fixtures, 'playbooks-programs')
    if (!existsSync(folder)) return skip('LOCKSTEP_FIXTURES has no playbooks-programs')
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    expect(texts.filter(expectSame).length).toBeGreaterThan(5)
  })

  it('gives up the case of keywords, then the bullets, where they would change the meaning', () => {
    const text = '## A\n### Steps\n* if $x\n    * b\n'
    // A reader to whom every letter matters, and one to whom every sign does.
    const letters = (read: string) => ({ name: read.replace(/[^A-Za-z$]/g, '') }) as never
    expect(formatProgram(text, letters).text).toBe('## A\n\n### Steps\n- if $x\n  - b\n')
    const signs = (read: string) => ({ name: read.replace(/\s+/g, '') }) as never
    expect(formatProgram(text, signs).text).toBe(formatMarkdown(text, 'blanks'))
  })

  it('refuses what is no program, and what no form keeps', () => {
    expect(formatProgram('x', () => null)).toEqual({ text: null })
    expect(formatProgram('## A\n\n\n\n### steps\n* b', (text) => ({ name: text }) as never)).toEqual({
      text: null,
    })
  })
})
