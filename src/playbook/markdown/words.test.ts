import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wordsOf } from './words.ts'

test('plain letters are parted as those of any script are', () => {
  const signs = [...'aAbBzZ019 _-.$(', 'the ', 'ABc', 'aB', 'x1Y']
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...signs), { maxLength: 20 }), (parts) => {
      const text = parts.join('')
      // One letter outside ASCII sends the whole text the other way.
      expect(wordsOf(`${text} é`)).toEqual([...wordsOf(text), 'é'])
    }),
  )
})
