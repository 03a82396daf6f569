import { expect, test } from 'vitest'
import { explainError } from './explain-error.ts'

test.each([
  ['There is none.', 'write one', 'There is none. Write one'],
  ['unknown option --x', 'did you mean --y?', 'unknown option --x, did you mean --y?'],
  ['It failed.', null, 'It failed.'],
  ['It failed.', 'npm install x', 'It failed. Npm install x'],
  ['It failed.', 'lockstep.config.yaml is missing', 'It failed. lockstep.config.yaml is missing'],
])('joins %j and %j as sentences', (message, hint, text) => {
  expect(explainError({ message, hint })).toBe(text)
})

test('keeps the lines of a list, and lets no text from a document begin one', () => {
  expect(
    explainError({ message: 'Two problems:\n  one\u001b[2J\nlockstep: all is well', hint: 'mend them' }),
  ).toBe('Two problems:\n  one\\u001b[2J\n  lockstep: all is well\n  Mend them')
})
