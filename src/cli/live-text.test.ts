import { expect, test } from 'vitest'
import { redactText } from '../shared/redact.ts'
import { SecretMask } from '../shared/secret-mask.ts'
import { LiveText } from './live-text.ts'

function cleaner(...secrets: string[]) {
  const mask = new SecretMask()
  for (const secret of secrets) mask.learn(secret)
  return {
    clean: (text: string) => redactText(mask.maskText(text)),
    openEnd: (text: string) => mask.openEnd(text),
  }
}

test.each([
  ['a known secret', 'the key is hunter2-and-more, keep it', ['hunter2-and-more']],
  ['one with spaces in it', 'it is correct horse battery staple, really', ['correct horse battery staple']],
  ['one that begins as another word goes on', 'hunter1 and hunter2-and-more end', ['hunter2-and-more']],
  ['the shape of a token', `use ghp_${'a1B2'.repeat(9)} for that`, []],
  ['two letters that stand for one', 'say 👋 to hunter2-and-more 👋 now', ['hunter2-and-more']],
])('never shows %s, wherever its pieces break', (_, text, secrets) => {
  const known = cleaner(...secrets)
  for (let size = 1; size <= text.length; size++) {
    const live = new LiveText(known)
    let shown = ''
    for (let at = 0; at < text.length; at += size) {
      shown += live.push(text.slice(at, at + size))
      // What stands on the screen is always a beginning of the clean text.
      expect(known.clean(text).startsWith(shown)).toBe(true)
    }
    expect(shown + live.end()).toBe(known.clean(text))
  }
})

test('shows words as soon as they are whole', () => {
  const live = new LiveText(cleaner('hunter2-and-more'))
  expect(['Hel', 'lo the', 're, ', 'you'].map((piece) => live.push(piece))).toEqual([
    '',
    'Hello ',
    'there, ',
    '',
  ])
  expect(live.end()).toBe('you')
})
