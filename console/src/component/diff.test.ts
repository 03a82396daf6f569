import { expect, test } from 'vitest'
import { foldSame, type DiffLine } from './diff.tsx'

const same = (count: number): DiffLine[] => Array.from({ length: count }, () => ({ kind: 'same', text: 'x' }))
const shape = (lines: DiffLine[]) =>
  foldSame(lines).map((part) => (part.kind === 'fold' ? `fold ${part.count}` : part.line.kind))

test('three lines stay around a change, the rest is folded', () => {
  expect(shape([...same(10), { kind: 'added', text: 'y' }, ...same(4)])).toEqual([
    'fold 7',
    'same',
    'same',
    'same',
    'added',
    'same',
    'same',
    'same',
    'fold 1',
  ])
})

test('texts that are the same fold to nothing but a count', () => {
  expect(shape(same(4))).toEqual(['fold 4'])
  expect(shape([])).toEqual([])
})
