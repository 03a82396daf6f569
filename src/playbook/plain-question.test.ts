import { expect, test } from 'vitest'
import { isPlainQuestion } from './plain-question.ts'

test.each([
  'Happy?',
  'Shall I refund {order_id}?',
  'Are you happy with it? (yes or no)',
  'Is this the notebook you know? [y/n]',
  'Do you accept the terms? yes/no',
  'Is {x if not y else z} yours?',
])('a yes to "%s" is plain', (text) => {
  expect(isPlainQuestion(text)).toBe(true)
})

test.each([
  '',
  '?',
  'Tell me whether you are happy',
  'Are you not happy?',
  'Aren’t you happy?',
  "Don't you want it?",
  'Did you never pay?',
  'Is it without a scratch?',
  'Is there no box?',
  'Do you mind waiting?',
  'A refund or an exchange?',
  'Are you happy? Do you want a refund?',
  'Sind Sie nicht zufrieden?',
  'Haben Sie keine Rechnung?',
  'NOT OK?',
])('a yes to "%s" has to be understood', (text) => {
  expect(isPlainQuestion(text)).toBe(false)
})
