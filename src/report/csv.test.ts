import { expect, test } from 'vitest'
import { writeCsv } from './csv.ts'

test('a spreadsheet takes no text for a formula, and sees nothing that is hidden', () => {
  const cells = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '  =cmd',
    '\t=1',
    'a,b',
    'say "x"',
    'two\nlines',
    '\u202eabc',
  ]
  const rows = writeCsv(['head'], [...cells.map((cell) => [cell]), [-5], [null]]).split('\r\n')
  expect(rows).toEqual([
    'head',
    "'=1+1",
    "'+1",
    "'-1",
    "'@SUM(A1)",
    "'  =cmd",
    "' =1",
    '"a,b"',
    '"say ""x"""',
    'two\\u000alines',
    '\\u202eabc',
    '-5',
    '',
    '',
  ])
})
