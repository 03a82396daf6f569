import { describe, expect, it } from 'vitest'
import type { DocumentPath } from './diagnostic.ts'
import { type DocumentFormat, parseDocument } from './parse-document.ts'
import { ownTime } from '../shared/own-time.suite.ts'

const parse = (text: string, format: DocumentFormat = 'yaml') => parseDocument(text, { format, file: 'x' })
const codes = (text: string, format: DocumentFormat = 'yaml') =>
  parse(text, format).diagnostics.map((diagnostic) => diagnostic.code)

/** The text that the document marks for a path. */
function marked(
  text: string,
  path: DocumentPath,
  options: { at?: 'key' | 'value'; range?: [number, number]; format?: DocumentFormat } = {},
): string {
  const { document } = parse(text, options.format)
  const range = options.range === undefined ? null : { start: options.range[0], end: options.range[1] }
  const place = document.locate({
    code: 'wrong_type',
    severity: 'error',
    message: '',
    suggestion: null,
    path,
    at: options.at ?? 'value',
    range,
  })
  expect(place.line).toBe(place.endLine)
  return document.lines.lineText(place.line!).slice(place.column! - 1, place.endColumn! - 1)
}

describe('reading YAML', () => {
  it('gives the values of YAML 1.2: yes and no are texts', () => {
    const { document, diagnostics } = parse('a: yes\nb: 0x1F\nc: [1.50, ~, true]\nd: "x\\ty"\n')
    expect(diagnostics).toEqual([])
    expect(document.value()).toEqual({ a: 'yes', b: 31, c: [1.5, null, true], d: 'x\ty' })
  })

  it('marks keys and values where they stand, whatever the line breaks and the byte-order mark', () => {
    const text = '\uFEFFid: refund\r\nsteps:\r\n  - id: one # note\r\n    hints: [a, "b c"]\r\n'
    expect(marked(text, ['id'])).toBe('refund')
    expect(marked(text, ['steps', 0, 'hints'], { at: 'key' })).toBe('hints')
    expect(marked(text, ['steps', 0, 'hints', 1])).toBe('"b c"')
    expect(marked(text, ['steps', 0])).toBe('id')
    expect(marked(text, ['steps', 0, 'missing'])).toBe('id')
  })

  it('marks a part of a text exactly where it stands verbatim, else the whole text', () => {
    expect(marked('when: inputs.x == 3', ['when'], { range: [7, 8] })).toBe('x')
    expect(marked('when: "inputs.x == 3"', ['when'], { range: [7, 8] })).toBe('x')
    expect(marked("when: 'inputs.x == 3'", ['when'], { range: [7, 8] })).toBe('x')
    expect(marked('when: >-\n  inputs.x == 3\n', ['when'], { range: [7, 8] })).toBe('x')
    expect(marked('when: |\n  a and\n    inputs.x == 3\n', ['when'], { range: [15, 16] })).toBe('x')
    expect(marked('when: >-\n  a and\n\n  inputs.x == 3\n', ['when'], { range: [13, 14] })).toBe('x')
    expect(marked('when: a and\n  inputs.x == 3\n', ['when'], { range: [13, 14] })).toBe('x')
    expect(marked('when: "a and\n  inputs.x == 3"\n', ['when'], { range: [13, 14] })).toBe('x')
    expect(marked('when: "inp\\x75ts.x"', ['when'], { range: [7, 8] })).toBe('"inp\\x75ts.x"')
  })

  it('writes aliases out and marks what the anchor holds', () => {
    const text = 'a: &tools [x, y]\nb: *tools\n'
    expect(parse(text).document.value()).toEqual({ a: ['x', 'y'], b: ['x', 'y'] })
    expect(marked(text, ['b', 1])).toBe('y')
  })

  it.each([
    ['a key that occurs twice', 'a: 1\na: 2', 'duplicate_key'],
    ['a key that occurs twice in a flow mapping', '{a: 1, b: {c: 1, c: 2}}', 'duplicate_key'],
    ['two documents', 'a: 1\n---\nb: 2', 'multiple_documents'],
    ['a tag of its own', 'a: !secret x', 'unsupported_tag'],
    ['a binary tag', 'a: !!binary aGk=', 'unsupported_tag'],
    ['a key that is a list', '? [a]\n: 1', 'invalid_yaml'],
    ['an unknown alias', 'a: *b', 'invalid_yaml'],
    ['an alias inside its own anchor', 'a: &b [*b]', 'invalid_yaml'],
    ['another version', '%YAML 1.1\n---\na: yes', 'invalid_yaml'],
    ['an unknown directive', '%FOO bar\n---\na: 1', 'invalid_yaml'],
    ['a missing bracket', 'a: [1, 2', 'invalid_yaml'],
    ['tabs as indentation', 'a:\n\tb: 1', 'invalid_yaml'],
    ['nothing', '', 'empty_document'],
    ['white space', ' \n \n', 'empty_document'],
    ['NUL characters', 'a: \0', 'invalid_text'],
    ['a lone surrogate', 'a: "\\ud800"', 'invalid_text'],
    ['a whole number too long for a double', 'a: 12345678901234567890', 'inexact_number'],
    ['a hexadecimal number too long for a double', 'a: 0xFFFFFFFFFFFFFFFF', 'inexact_number'],
    ['a fraction too long for a double', 'a: 0.1000000000000000055511151231257827', 'inexact_number'],
    ['a number too large for a double', 'a: 1e400', 'inexact_number'],
    ['infinity', 'a: .inf', 'inexact_number'],
    ['no number', 'a: .nan', 'inexact_number'],
  ])('refuses %s', (_, text, code) => {
    expect(codes(text)).toEqual([code])
  })

  it('names YAML in mistakes of syntax, with their place', () => {
    expect(parse('a: b: c\n').diagnostics[0]).toMatchObject({
      message: expect.stringContaining('YAML'),
      line: 1,
      suggestion: expect.stringContaining('quotes'),
    })
  })

  it('keeps numbers that only look unusual', () => {
    expect(parse('[1.10, 1e3, -0, +7, 9007199254740991, 1e-7, 0o17]').document.value()).toEqual([
      1.1, 1000, -0, 7, 9007199254740991, 1e-7, 15,
    ])
  })

  it('keeps prototype names as ordinary keys', () => {
    const value = parse('__proto__: 1\nconstructor: 2').document.value() as object
    expect(Object.entries(value)).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ])
  })
})

describe('reading JSON', () => {
  it('gives the values and marks them', () => {
    const text = '{\n  "id": "a",\n  "steps": [1, -2.5e3, true, null, "x\\n\\u00e9", {}, []]\n}'
    expect(parse(text, 'json').document.value()).toEqual(JSON.parse(text))
    expect(marked(text, ['steps', 1], { format: 'json' })).toBe('-2.5e3')
    expect(marked(text, ['id'], { at: 'key', format: 'json' })).toBe('"id"')
    expect(marked('{"when": "inputs.x"}', ['when'], { range: [7, 8], format: 'json' })).toBe('x')
  })

  it.each([
    ['{"a": 1, "a": 2}', 'duplicate_key'],
    ['{"a": 1,}', 'invalid_json'],
    ['[1,]', 'invalid_json'],
    ["{'a': 1}", 'invalid_json'],
    ['{a: 1}', 'invalid_json'],
    ['{"a" 1}', 'invalid_json'],
    ['{"a": 1 "b": 2}', 'invalid_json'],
    ['{"a": tru}', 'invalid_json'],
    ['{"a": 01}', 'invalid_json'],
    ['{"a": +1}', 'invalid_json'],
    ['{"a": "x\ny"}', 'invalid_json'],
    ['{"a": "\\x"}', 'invalid_json'],
    ['{"a": "x', 'invalid_json'],
    ['{"a": 1', 'invalid_json'],
    ['{} {}', 'invalid_json'],
    ['// x\n{}', 'invalid_json'],
    ['{"a": NaN}', 'invalid_json'],
    ['{"a": 1e999}', 'inexact_number'],
    ['{"a": 0.30000000000000004441}', 'inexact_number'],
    ['{"a": "\\ud800"}', 'invalid_text'],
  ])('refuses %s', (text, code) => {
    expect(codes(text, 'json')).toEqual([code])
    if (code === 'invalid_json') expect(parse(text, 'json').diagnostics[0]?.message).toMatch(/JSON/)
  })

  it('agrees with the platform about what is JSON', () => {
    for (const text of [
      '1',
      '"a"',
      'null',
      ' [ ] ',
      '{"":{"":[]}}',
      '[1,2',
      ']',
      '',
      '"\u2028"',
      '[1.]',
      '[.5]',
      '[-]',
      '{"a":1}x',
    ]) {
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      expect([text, codes(text, 'json').length === 0]).toEqual([text, valid])
    }
  })
})

describe('hostile documents', () => {
  const bomb = [
    'a0: &a0 [x, x]',
    ...Array.from({ length: 30 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`),
  ].join('\n')

  it.each<[string, string, DocumentFormat, string]>([
    ['an alias bomb', bomb, 'yaml', 'too_many_aliases'],
    ['100,000 open brackets', '['.repeat(100_000), 'yaml', 'too_deep'],
    ['100,000 open braces', '{a: '.repeat(100_000), 'yaml', 'too_deep'],
    ['100,000 lists in lists', '- '.repeat(100_000) + 'x', 'yaml', 'too_deep'],
    ['100,000 explicit keys', '? '.repeat(100_000), 'yaml', 'too_deep'],
    [
      '1,300 ever deeper lines',
      Array.from({ length: 1300 }, (_, index) => `${' '.repeat(index)}a:`).join('\n'),
      'yaml',
      'too_deep',
    ],
    ['100,000 open brackets in JSON', '['.repeat(100_000), 'json', 'too_deep'],
    ['100,000 open braces in JSON', '{"a":'.repeat(100_000), 'json', 'too_deep'],
    ['50 MB', 'a: x\n'.repeat(10_000_000), 'yaml', 'document_too_large'],
    ['50 MB of JSON', `"${'x'.repeat(50_000_000)}"`, 'json', 'document_too_large'],
    ['half a million letters of three bytes', `a: ${'€'.repeat(400_000)}`, 'yaml', 'document_too_large'],
    ['a million commas', `[${','.repeat(999_000)}]`, 'yaml', 'document_too_large'],
    ['a third of a million values in JSON', `[${'1,'.repeat(330_000)}1]`, 'json', 'document_too_large'],
    ['a fifth of a million values', `[${'1,'.repeat(210_000)}1]`, 'yaml', 'document_too_large'],
    ['half a million closing brackets', ']'.repeat(490_000), 'yaml', 'invalid_yaml'],
    ['a quarter of a million directives', '%a\n'.repeat(249_000), 'yaml', 'invalid_yaml'],
    ['a quarter of a million documents', '---\n'.repeat(249_000), 'yaml', 'multiple_documents'],
  ])('refuses %s quickly', (_, text, format, code) => {
    const start = ownTime()
    expect(codes(text, format)).toContain(code)
    expect(ownTime() - start).toBeLessThan(10_000)
  })

  it('reads a large mapping in good time', () => {
    const text = Array.from({ length: 30_000 }, (_, index) => `key${index}: ${index}`).join('\n')
    const start = ownTime()
    expect(codes(text)).toEqual([])
    expect(ownTime() - start).toBeLessThan(10_000)
  })
})
