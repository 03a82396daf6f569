import { expect, test } from 'vitest'
import type { RunEntry } from '../../../../src/api/run-fold.ts'
import { mergeEntries } from './merge-entries.ts'

const entries = (...seqs: readonly number[]): RunEntry[] =>
  seqs.map((seq) => ({ seq, type: 'x', at: '', by: '', data: {} }))
const merged = (before: number[], fresh: number[]) =>
  mergeEntries(entries(...before), entries(...fresh)).map(({ seq }) => seq)

test('entries stand in order, each once, in whatever order and however often they arrive', () => {
  expect(merged([], [1, 2])).toEqual([1, 2])
  expect(merged([1, 2], [3, 4])).toEqual([1, 2, 3, 4])
  expect(merged([1, 2], [2, 3])).toEqual([1, 2, 3])
  expect(merged([2, 5], [4, 1, 3, 5])).toEqual([1, 2, 3, 4, 5])
  expect(merged([1], [3, 2])).toEqual([1, 2, 3])
})
